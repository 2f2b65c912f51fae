import LodestoreBytes

/// A position in a tree of one commit, which moves in key order.
///
/// Moves and positions work as with LMDB's cursor. A move without a result leaves the position
/// unchanged. A search for a missing key stops before the next key. No move allocates memory. Use a
/// cursor on one thread at a time. Returned pairs are valid as long as the map.
package final class PageCursor {
  /// A branch page above the leaf, and the index of the child on the path.
  private struct Level {
    var place: TreePages.Place
    var index: Int
  }

  /// The tree; `nil` if it is empty.
  private let tree: TreePages?
  private let map: PageMap?
  private let levels: UnsafeMutablePointer<Level>
  // One thread uses it, and it is never passed inout. Checks of exclusive access would cost more
  // than a move.
  @exclusivity(unchecked) private var leaf: TreePages.Place
  /// The index in the leaf.
  ///
  /// The leaf's count is a valid index: the position after its last pair.
  @exclusivity(unchecked) private var index = 0
  @exclusivity(unchecked) private var isPlaced = false

  /// - Parameter map: The map of the tree, which the cursor retains. If `nil`, the caller must
  ///   retain it.
  package init(_ tree: TreePages?, keeping map: PageMap? = nil) {
    self.tree = tree
    self.map = map
    let base = tree?.map ?? UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped
    leaf = TreePages.Place(base: base, count: 0)
    levels = .allocate(capacity: max(1, (tree?.depth ?? 1) - 1))
  }

  deinit { levels.deallocate() }

  // MARK: Moving the cursor

  package func first() throws(PageError) -> PagePair? { try end(toLast: false) }
  package func last() throws(PageError) -> PagePair? { try end(toLast: true) }

  private func end(toLast: Bool) throws(PageError) -> PagePair? {
    guard let tree else { return nil }
    isPlaced = false
    try descend(tree, to: tree.root, level: 0, toLast: toLast)
    isPlaced = true
    return try tree.pair(leaf.base, index)
  }

  /// Moves to the next pair; from a cursor that has not moved yet, to the first pair.
  package func next() throws(PageError) -> PagePair? {
    guard isPlaced, let tree else { return try first() }
    let following = index &+ 1
    if following < leaf.count {
      index = following
    } else if try !cross(tree, forward: true) {
      return nil
    }
    return try tree.pair(leaf.base, index)
  }

  /// Moves to the previous pair; from a cursor that has not moved yet, to the last pair.
  package func previous() throws(PageError) -> PagePair? {
    guard isPlaced, let tree else { return try last() }
    if index > 0 {
      index &-= 1
    } else if try !cross(tree, forward: false) {
      return nil
    }
    return try tree.pair(leaf.base, index)
  }

  /// Moves to `key`; returns `nil` if the tree lacks it.
  package func seek(_ key: ByteView) throws(PageError) -> PagePair? {
    guard let tree else { return nil }
    let wanted = TreePages.Wanted(key, isInteger: tree.hasIntegerKeys)
    try search(tree, wanted)
    guard index < leaf.count else { return nil }
    let pair = try tree.pair(leaf.base, index)
    return tree.isEqual(pair.key, wanted) ? pair : nil
  }

  /// Moves to the first pair at or after `key`.
  package func seek(atOrAfter key: ByteView) throws(PageError) -> PagePair? {
    guard let tree else { return nil }
    try search(tree, TreePages.Wanted(key, isInteger: tree.hasIntegerKeys))
    if index >= leaf.count, try !cross(tree, forward: true) { return nil }
    return try tree.pair(leaf.base, index)
  }

  // MARK: Pages

  /// Moves to the position of a key, existing or not.
  ///
  /// The position may be after the last pair of a leaf.
  private func search(_ tree: TreePages, _ wanted: TreePages.Wanted) throws(PageError) {
    if isPlaced, isInLeaf(tree, wanted) {
      index = try tree.index(in: leaf, of: wanted, isBranch: false)
      return
    }
    isPlaced = false
    var number = tree.root
    for level in 0..<tree.depth &- 1 {
      let place = try tree.place(number, isLeaf: false)
      let index = try tree.index(in: place, of: wanted, isBranch: true)
      levels[level] = Level(place: place, index: index)
      number = try tree.child(place.base, index)
    }
    leaf = try tree.place(number, isLeaf: true)
    index = try tree.index(in: leaf, of: wanted, isBranch: false)
    isPlaced = true
  }

  /// Whether the leaf has keys on both sides of the wanted one.
  ///
  /// Searches for ascending keys then need no descent.
  private func isInLeaf(_ tree: TreePages, _ wanted: TreePages.Wanted) -> Bool {
    guard let low = tree.key(leaf.base, 0), let high = tree.key(leaf.base, leaf.count &- 1) else {
      return false
    }
    return !tree.precedes(wanted.bytes, low) && !tree.precedes(high, wanted.bytes)
  }

  /// Moves to the first or last pair below the page `number`, which is at `level`.
  private func descend(
    _ tree: TreePages, to number: UInt64, level: Int, toLast: Bool
  ) throws(PageError) {
    var number = number
    for level in level..<tree.depth &- 1 {
      let place = try tree.place(number, isLeaf: false)
      let index = toLast ? place.count &- 1 : 0
      levels[level] = Level(place: place, index: index)
      number = try tree.child(place.base, index)
    }
    leaf = try tree.place(number, isLeaf: true)
    index = toLast ? leaf.count &- 1 : 0
  }

  /// Moves to the next or previous leaf; at the end of the tree returns false and does not move.
  @inline(never)
  private func cross(_ tree: TreePages, forward: Bool) throws(PageError) -> Bool {
    var level = tree.depth &- 2
    while level >= 0 {
      let next = levels[level].index &+ (forward ? 1 : -1)
      if next >= 0, next < levels[level].place.count {
        let old = leaf
        isPlaced = false
        levels[level].index = next
        let child = try tree.child(levels[level].place.base, next)
        try descend(tree, to: child, level: level &+ 1, toLast: !forward)
        try checkOrder(tree, from: old, forward: forward)
        isPlaced = true
        return true
      }
      level &-= 1
    }
    return false
  }

  /// Throws unless the keys of the new leaf continue the order of the old one.
  ///
  /// First keys that strictly ascend prevent a second visit of a leaf, so a walk of a damaged tree
  /// ends.
  private func checkOrder(
    _ tree: TreePages, from old: TreePages.Place, forward: Bool
  ) throws(PageError) {
    let (low, high) = forward ? (old, leaf) : (leaf, old)
    guard let lowFirst = tree.key(low.base, 0), let highFirst = tree.key(high.base, 0),
      let lowLast = tree.key(low.base, low.count &- 1),
      tree.precedes(lowFirst, highFirst), tree.precedes(lowLast, highFirst)
    else {
      throw tree.fault(
        tree.number(of: leaf.base), "its keys are not beyond those of the leaf page before it")
    }
  }
}
