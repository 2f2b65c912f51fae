extension RandomAccessCollection where Index == Int {
  /// The first index whose element is beyond, or the end; every element behind one that is beyond is so, too.
  ///
  /// O(log n).
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
