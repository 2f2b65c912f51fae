import LodestoreSystem

/// Requests pages of the map from the system before they are read.
///
/// The map is opened without the system's own read-ahead (MDB_NORDAHEAD), because that reads
/// megabytes around each missing page while a look-up needs one page. Code that knows its next
/// pages requests them here, as scans do for windows of pages. The disk can then serve many
/// requests at once.
///
/// If the pages are already in memory, a window costs one system call.
package struct ReadAhead {
  /// The maximum number of pages that a scan requests at once.
  ///
  /// A scan begins with as many pages as it has read.
  static let longestWindow = 128
  /// The maximum number of unwanted pages between two wanted ones that are read along.
  ///
  /// Two requests would take longer.
  private static let longestGap: UInt64 = 4
  /// The size of one request in bytes.
  ///
  /// Linux serves only the beginning of a longer request.
  private static let longestRequest = 128 << 10

  private let map: UnsafeRawPointer
  private let pageSize: Int

  init(_ pages: TreePages) {
    map = pages.map
    pageSize = pages.pageSize
  }

  /// Whether a page is in memory, so that reading it does not wait for the disk.
  func isInMemory(_ number: UInt64) -> Bool {
    let (start, size) = systemPages(number, through: number)
    #if canImport(Darwin)
      var state: CChar = 0
    #else
      var state: UInt8 = 0
    #endif
    guard size == PageLayout.systemPageSize, mincore(start, size, &state) == 0 else { return true }
    return state & 1 != 0
  }

  /// Requests pages, in any order, unless the middle one and the last one are in memory.
  func prefetch(for numbers: [UInt64]) {
    guard let last = numbers.last else { return }
    if isInMemory(last), isInMemory(numbers[numbers.count / 2]) { return }
    var first: UInt64?
    var end: UInt64 = 0
    for number in numbers.sorted() {
      if let start = first {
        if number - end <= Self.longestGap {
          end = number
          continue
        }
        prefetch(from: start, through: end)
      }
      first = number
      end = number
    }
    if let first { prefetch(from: first, through: end) }
  }

  private func prefetch(from first: UInt64, through last: UInt64) {
    var (start, size) = systemPages(first, through: last)
    while size > 0 {
      let part = min(size, Self.longestRequest)
      // The call is only advice. The pages can be read whatever it returns.
      _ = madvise(start, part, MADV_WILLNEED)
      start += part
      size -= part
    }
  }

  /// The system's pages that contain a range of pages, as their first address and their size.
  private func systemPages(
    _ first: UInt64, through last: UInt64
  ) -> (UnsafeMutableRawPointer, Int) {
    let mask = PageLayout.systemPageSize - 1
    let start = Int(first) * pageSize & ~mask
    let end = (Int(last + 1) * pageSize + mask) & ~mask
    return (UnsafeMutableRawPointer(mutating: map + start), end - start)
  }
}

// MARK: Scans

/// Requests the pages that a scan will read, in windows of children of one branch page.
package struct ScanWindows {
  /// The number of pages that the scan has passed.
  private var passed = 0
  /// The number of pages ahead that are already requested.
  private var prefetchedCount = 0
  /// The next window is requested when at most this many requested pages are left.
  private var rest = 0
  private var branch: UnsafeRawPointer?
  private var numbers: [UInt64] = []

  package init() {}

  /// Notes that the scan moves to the next page, and returns whether the next window is due.
  package mutating func passPage() -> Bool {
    passed &+= 1
    prefetchedCount &-= 1
    return prefetchedCount <= rest
  }

  /// Requests children of `branch` after the one at `index`, or before it if `backwards`.
  ///
  /// The number of requested children is at most the number of pages that the scan has passed.
  package mutating func prefetch(
    for pages: TreePages, children branch: TreePages.Page, from index: Int, backwards: Bool
  ) {
    if branch.base != self.branch { prefetchedCount = 0 }
    self.branch = branch.base
    prefetchedCount = max(0, prefetchedCount)
    let left = (backwards ? index : branch.count - index - 1) - prefetchedCount
    let count = min(passed, ReadAhead.longestWindow, left)
    rest = max(0, count) / 2
    guard count > 0 else { return }
    numbers.removeAll(keepingCapacity: true)
    for step in prefetchedCount + 1...prefetchedCount + count {
      let number = branch.child(at: backwards ? index - step : index + step)
      if number < pages.pageCount { numbers.append(number) }
    }
    prefetchedCount += count
    ReadAhead(pages).prefetch(for: numbers)
  }
}
