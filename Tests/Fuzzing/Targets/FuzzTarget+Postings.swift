import LodestoreBytes
import LodestoreFormat

extension FuzzTarget {
  /// Blocks of postings, and keys of search indexes.
  ///
  /// A block that is read completely is written again, and the new block has the same postings.
  static let postings = FuzzTarget("postings", longestInput: 2_048) {
    [
      [0, 7, 0, 0], [2, 7, 9, 1, 0x44, 2, 1, 1, 2, 0x16, 0, 2, 2, 1],
      [32, 1, 1, 1, 5, 0, 0, 0] + Array(repeating: 0, count: 33), [0x61, 0, 0xFF],
      [0x61, 0, 2, 1, 0], [0, 2, 0, 0, 0, 0, 0, 0, 0, 1],
    ]
  } run: { bytes in
    if let (term, id) = SearchKey.block(bytes) {
      var key: [UInt8] = []
      SearchKey.setBlock(of: term, endingWith: id, in: &key)
      require(key._withBytes { $0.elementsEqual(bytes) }, "the key is made as \(key)")
    }
    let block = try PostingBlock(bytes)
    let ids = memory()
    let ends = memory()
    try block.readIDs(into: ids.view)
    let positions = try block.readPositionEnds(into: ends.view)
    for index in 0..<block.count {
      let places = try PostingBlock.positions(at: index, ends.view, positions)
      try PositionList.forEach(places, sourceCount: 3) { source, _ in
        require(source < 3, "a position in source \(source)")
      }
    }
    try compare(block, ids.view, ends.view, positions)
  }

  private static func memory() -> OwnedBytes {
    OwnedBytes(byteCount: PostingBlock.capacity * 8, alignment: 8)
  }

  private static func compare(
    _ block: PostingBlock, _ ids: MutableByteView, _ ends: MutableByteView, _ positions: ByteView
  ) throws {
    let frequencies = memory()
    let scratch = memory()
    block.readFrequencies(into: frequencies.view)
    var bounds: [PostingBlock.Bound] = []
    for index in 0..<block.count {
      let frequency = block.frequency(at: index)
      // The encoder stores the frequency less 1, so that 0 has no place.
      if frequency == 0 { return }
      PostingBlock.add(.init(frequency: frequency, lengthClass: UInt8(index)), to: &bounds)
    }
    var written: [UInt8] = []
    PostingBlock.append(
      ids: ByteView(ids), frequencies: ByteView(frequencies.view), ends: ByteView(ends),
      count: block.count, positions: positions, from: 0, bounds: bounds, total: block.total,
      scratch: scratch.view, to: &written)
    try written._withBytes { written in
      let again = try PostingBlock(written)
      let otherIDs = memory()
      let otherEnds = memory()
      try again.readIDs(into: otherIDs.view)
      let others = try again.readPositionEnds(into: otherEnds.view)
      require(again.count == block.count && again.total == block.total, "another count")
      require(others.elementsEqual(positions), "other positions")
      for index in 0..<block.count {
        let id = ids.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
        let other = otherIDs.view.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
        require(
          id == other && again.frequency(at: index) == block.frequency(at: index),
          "posting \(index) of \(id) came back as that of \(other)")
      }
    }
  }
}
