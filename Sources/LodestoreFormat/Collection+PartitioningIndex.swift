extension RandomAccessCollection where Index == Int {
  /// The index of the first element that `isBeyond` accepts, or the end.
  ///
  /// Each element after an accepted element must also be accepted. O(log n).
  @inlinable
  package func partitioningIndex(where isBeyond: (Element) throws -> Bool) rethrows -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = low + (high - low) / 2
      if try isBeyond(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
