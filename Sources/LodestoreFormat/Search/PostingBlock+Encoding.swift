import LodestoreBytes

extension PostingBlock {
  /// A bound of a block: no posting has both a higher frequency and a lower length class.
  package struct Bound: Equatable {
    package var frequency: UInt32
    package var lengthClass: UInt8

    package init(frequency: UInt32, lengthClass: UInt8) {
      self.frequency = frequency
      self.lengthClass = lengthClass
    }
  }

  /// The maximum number of bounds that this library writes for a block.
  private static let mostBounds = 4

  /// Adds a posting to the bounds of a block, which are descending by frequency and length class.
  ///
  /// A posting is left out if another one has at least its frequency and at most its length.
  package static func add(_ new: Bound, to bounds: inout [Bound]) {
    if bounds.contains(where: {
      $0.frequency >= new.frequency && $0.lengthClass <= new.lengthClass
    }) {
      return
    }
    bounds.removeAll { $0.frequency <= new.frequency && $0.lengthClass >= new.lengthClass }
    let place = bounds.firstIndex { $0.frequency < new.frequency } ?? bounds.count
    bounds.insert(new, at: place)
    guard bounds.count > mostBounds else { return }
    // The two with the most similar lengths become one, which is above both.
    let distances = zip(bounds, bounds.dropFirst()).map { $0.lengthClass - $1.lengthClass }
    guard let least = distances.min(), let index = distances.firstIndex(of: least) else { return }
    bounds[index].lengthClass = bounds[index + 1].lengthClass
    bounds.remove(at: index + 1)
  }

  /// Appends the block to `bytes` with another number of postings of the term.
  package func append(total: UInt64?, to bytes: inout [UInt8]) {
    bytes.append(UInt8(count - 1) | (total == nil ? 0 : 0x80))
    if let total { VariableNumber.append(total, to: &bytes) }
    bytes.append(contentsOf: self.bytes[firstIDOffset...])
  }

  /// Appends a block to `bytes`.
  ///
  /// - Parameters:
  ///   - ids: `count` ascending ids, as u64.
  ///   - frequencies: `count` weighted frequencies above 0, as u32.
  ///   - ends: the indices in `positions` at which the positions of each posting end, as u32.
  ///   - positions: the numbers of ``PositionNumbers``.
  ///   - start: the index in `positions` at which the positions of the first posting begin.
  ///   - bounds: the bounds if there are 33 postings or more; at least one.
  ///   - total: the number of postings of the term, if the block is the last of several.
  package static func append(
    ids: ByteView, frequencies: ByteView, ends: ByteView, count: Int, positions: [UInt32],
    from start: Int, bounds: [Bound], total: UInt64?, form: PostingForm, to bytes: inout [UInt8]
  ) {
    assert(count > 0 && count <= capacity, "a block of \(count) postings")
    bytes.append(UInt8(count - 1) | (total == nil ? 0 : 0x80))
    if let total { VariableNumber.append(total, to: &bytes) }
    func id(_ index: Int) -> UInt64 {
      ids.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self)
    }
    VariableNumber.append(id(0), to: &bytes)
    if count >= leastBounded {
      bytes.append(UInt8(bounds.count))
      for bound in bounds {
        VariableNumber.append(UInt64(bound.frequency), to: &bytes)
        bytes.append(bound.lengthClass)
      }
    }
    if count > 1 {
      BitPacking.append(count - 1, to: &bytes) { id($0 + 1) - id($0) - 1 }
    }
    if form.storesFrequencies {
      BitPacking.append(count, to: &bytes) { UInt64(frequencies.uint32(at: $0 * 4) - 1) }
    }
    func end(_ index: Int) -> Int { index < 0 ? start : Int(ends.uint32(at: index * 4)) }
    let last = end(count - 1)
    if form.isPacked, count > 1 {
      BitPacking.append(count, to: &bytes) { UInt64(end($0) - end($0 - 1) - 1) }
      BitPacking.append(last - start, leastWidth: 1, to: &bytes) { UInt64(positions[start + $0]) }
      return
    }
    if count > 1 {
      BitPacking.append(count, to: &bytes) { index in
        positions[end(index - 1)..<end(index)].reduce(0) {
          $0 + UInt64(VariableNumber.byteCount(of: UInt64($1)))
        }
      }
    }
    for index in start..<last { VariableNumber.append(UInt64(positions[index]), to: &bytes) }
  }
}
