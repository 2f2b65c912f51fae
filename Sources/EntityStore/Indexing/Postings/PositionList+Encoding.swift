internal import LodestoreBytes
internal import LodestoreFormat

extension PositionList {
  /// Appends the numbers of the occurrences, which are in order, and returns their weighted
  /// frequency.
  static func append(
    _ occurrences: ArraySlice<PostingBatch.Occurrence>, weights: [UInt32],
    to numbers: inout [UInt32]
  ) -> UInt32 {
    var frequency: UInt64 = 0
    var index = occurrences.startIndex
    while index < occurrences.endIndex {
      let source = occurrences[index].source
      var end = index
      var count = 0
      var before: UInt32?
      while end < occurrences.endIndex, occurrences[end].source == source {
        if occurrences[end].position != before { count += 1 }
        before = occurrences[end].position
        end += 1
      }
      if weights.count > 1 {
        numbers.append(UInt32(clamping: count * weights.count + Int(source)))
      }
      before = nil
      for place in index..<end {
        let position = occurrences[place].position
        if position == before { continue }
        numbers.append(before.map { position - $0 - 1 } ?? position)
        before = position
      }
      frequency &+= UInt64(count) &* UInt64(weights[Int(source)])
      index = end
    }
    return UInt32(clamping: frequency)
  }
}
