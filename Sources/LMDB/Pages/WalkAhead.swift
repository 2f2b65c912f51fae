import LodestoreBytes

/// Requests the pages ahead of a walk in key order in which LMDB moves from page to page.
///
/// The pages of a running write are not in the map, so a long walk in a write enables the system's
/// read-ahead until the write ends. With the plain engine this type does nothing, because the map
/// is opened with the system's read-ahead.
package struct WalkAhead {
  private static let shortestBulk = 16

  private let cursor: Cursor
  /// The mask for the page of an address; 0 if nothing is to be done.
  private let mask: UInt
  private var current: UInt = 0
  private var passed = 0
  private var windows = ScanWindows()
  private var pages: TreePages?

  package init(_ cursor: Cursor) {
    self.cursor = cursor
    mask = cursor.transaction.environment.readAheadMask
  }

  /// Notes that the walk is at `key`, a pointer from LMDB.
  @inline(__always)
  package mutating func visit(_ key: ByteView, backwards: Bool) {
    let page = UInt(bitPattern: key.baseAddress) & mask
    if page != current { turn(to: page, key, backwards) }
  }

  @inline(never)
  private mutating func turn(to page: UInt, _ key: ByteView, _ backwards: Bool) {
    current = page
    passed &+= 1
    let isDue = windows.passPage()
    // Most walks cover one or two pages.
    guard isDue, passed > 2 else { return }
    let environment = cursor.transaction.environment
    if environment.isActiveWrite(cursor.transaction.handle) {
      if passed >= Self.shortestBulk { environment.beginBulkWrite() }
      return
    }
    if pages == nil { pages = try? TreePages(of: cursor.tree, in: cursor.transaction) }
    guard let pages, let (branch, index) = pages.branch(above: key) else { return }
    windows.prefetch(for: pages, children: branch, from: index, backwards: backwards)
  }
}
