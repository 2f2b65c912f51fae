import LodestoreBytes
import LodestoreFormat

extension FuzzTarget {
  /// Blocks of postings in each form, and keys of search indexes.
  ///
  /// A block that is read completely is written again, and the new block has the same postings.
  static let postings = FuzzTarget("postings", longestInput: 2_048) {
    [
      [0, 7, 0, 0], [2, 7, 9, 1, 0x44, 2, 1, 1, 2, 0x16, 0, 2, 2, 1],
      [2, 7, 9, 1, 0x44, 2, 1, 1, 2, 0x48, 2], [1, 7, 0, 0, 0, 4, 0x20],
      [32, 1, 1, 1, 5, 0, 0, 0] + Array(repeating: 0, count: 33), [0x61, 0, 0xFF],
      [0x61, 0, 2, 1, 0], [0, 2, 0, 0, 0, 0, 0, 0, 0, 1],
    ]
  } run: { bytes in
    if let (term, id) = SearchKey.block(bytes) {
      var key: [UInt8] = []
      SearchKey.setBlock(of: term, endingWith: id, in: &key)
      require(key._withBytes { $0.elementsEqual(bytes) }, "the key is made as \(key)")
    }
    var refusal: FormatError?
    for weights in [[3], [3, 1, 2]] as [[UInt32]] {
      for isPacked in [false, true] {
        do throws(FormatError) {
          try tryBlock(bytes, PostingForm(isPacked: isPacked, weights: weights))
        } catch {
          refusal = error
        }
      }
    }
    if let refusal { throw refusal }
  }

  private static func tryBlock(_ bytes: ByteView, _ form: PostingForm) throws(FormatError) {
    let block = try PostingBlock(bytes, form)
    let ids = memory()
    let ends = memory()
    try block.readIDs(into: ids.view)
    let positions = try block.readPositionEnds(into: ends.view)
    for index in 0..<block.count {
      let places = try PostingBlock.positions(at: index, ends.view, positions)
      try PositionList.forEach(places, sourceCount: form.sourceCount) { source, _ in
        require(source < form.sourceCount, "a position in source \(source)")
      }
    }
    try compare(block, form, ids.view)
  }

  private static func memory() -> OwnedBytes {
    OwnedBytes(byteCount: PostingBlock.capacity * 8, alignment: 8)
  }

  /// The numbers of the positions of each posting.
  private static func numbers(_ block: PostingBlock) throws(FormatError) -> [[UInt64]] {
    let ends = memory()
    let all = try block.readPositionEnds(into: ends.view)
    var result: [[UInt64]] = []
    for index in 0..<block.count {
      var numbers: [UInt64] = []
      var part = try PostingBlock.positions(at: index, ends.view, all)
      while !part.isAtEnd { numbers.append(try part.next()) }
      result.append(numbers)
    }
    return result
  }

  private static func compare(
    _ block: PostingBlock, _ form: PostingForm, _ ids: MutableByteView
  ) throws(FormatError) {
    let places = try numbers(block)
    let frequencies = memory()
    let ends = memory()
    block.readFrequencies(into: frequencies.view)
    var bounds: [PostingBlock.Bound] = []
    var positions: [UInt32] = []
    for index in 0..<block.count {
      let frequency = block.frequency(at: index)
      // The encoder stores frequencies less 1, so that 0 has no place, and positions as u32.
      if frequency == 0 || places[index].contains(where: { $0 > UInt32.max }) { return }
      PostingBlock.add(.init(frequency: frequency, lengthClass: UInt8(index)), to: &bounds)
      positions += places[index].map { UInt32($0) }
      ends.view.storeBytes(
        of: UInt32(positions.count), toByteOffset: index * 4, as: UInt32.self)
    }
    var written: [UInt8] = []
    PostingBlock.append(
      ids: ByteView(ids), frequencies: ByteView(frequencies.view), ends: ByteView(ends.view),
      count: block.count, positions: positions, from: 0, bounds: bounds, total: block.total,
      form: form, to: &written)
    try written._withBytes { (written) throws(FormatError) in
      let again = try PostingBlock(written, form)
      let otherIDs = memory()
      try again.readIDs(into: otherIDs.view)
      require(again.count == block.count && again.total == block.total, "another count")
      require(try numbers(again) == places, "other positions")
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
