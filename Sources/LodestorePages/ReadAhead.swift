import LodestoreSystem

/// Asks the system for pages of the map before they are read.
///
/// The map is opened without the system's own read-ahead (MDB_NORDAHEAD), which reads megabytes
/// around each page that is not in memory: look-ups read a page each. What knows the pages that it
/// is going to read asks for them here, as scans do for windows of pages, so that the disk has many
/// of them to do at once.
///
/// Where the pages are in memory, that costs one question to the system for each window.
package struct ReadAhead {
  /// How many pages a scan asks for at once; it begins with as many as it has read.
  static let longestWindow = 128
  /// Pages between two that are wanted are read with them: two requests would take longer.
  private static let longestGap: UInt64 = 4
  /// In bytes; Linux takes the beginning of a longer request only.
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

  /// Asks for pages, in any order, unless those in the middle and at the end are in memory.
  func ask(for numbers: [UInt64]) {
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
        ask(from: start, through: end)
      }
      first = number
      end = number
    }
    if let first { ask(from: first, through: end) }
  }

  private func ask(from first: UInt64, through last: UInt64) {
    var (start, size) = systemPages(first, through: last)
    while size > 0 {
      let part = min(size, Self.longestRequest)
      // Advice: whatever becomes of it, the pages can be read.
      _ = madvise(start, part, MADV_WILLNEED)
      start += part
      size -= part
    }
  }

  /// The system's pages that some pages lie in, as their first address and their size.
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

/// The pages that a scan is going to read, window by window: children of one branch page.
package struct ScanWindows {
  /// How many pages the scan has gone through.
  private var passed = 0
  /// How many of the pages ahead have been asked for.
  private var asked = 0
  /// The next window is asked for when no more than so many are left.
  private var rest = 0
  private var branch: UnsafeRawPointer?
  private var numbers: [UInt64] = []

  package init() {}

  /// Notes that the scan goes on to the next page; returns whether the next window is due.
  package mutating func passPage() -> Bool {
    passed &+= 1
    asked &-= 1
    return asked <= rest
  }

  /// Asks for children of `branch` behind, or before, the one at `index`, where the scan is: as
  /// many as the scan has gone through.
  package mutating func ask(
    for pages: TreePages, children branch: TreePages.Page, from index: Int, backwards: Bool
  ) {
    if branch.base != self.branch { asked = 0 }
    self.branch = branch.base
    asked = max(0, asked)
    let left = (backwards ? index : branch.count - index - 1) - asked
    let count = min(passed, ReadAhead.longestWindow, left)
    rest = max(0, count) / 2
    guard count > 0 else { return }
    numbers.removeAll(keepingCapacity: true)
    for step in asked + 1...asked + count {
      let number = branch.child(at: backwards ? index - step : index + step)
      if number < pages.pageCount { numbers.append(number) }
    }
    asked += count
    ReadAhead(pages).ask(for: numbers)
  }
}
