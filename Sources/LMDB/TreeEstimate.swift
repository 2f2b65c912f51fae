/// Where a key would be in a tree, found by descending it once: no entry is read.
package struct TreePosition: Sendable {
  /// The share of the tree's entries that are below the key, from 0 to 1.
  package var share: Double
  fileprivate var leaf: UInt64
  fileprivate var placeInLeaf: Int

  fileprivate static let start = TreePosition(share: 0, leaf: .max, placeInLeaf: 0)
  fileprivate static let end = TreePosition(share: 1, leaf: .max, placeInLeaf: 0)
}

extension Transaction {
  /// About how many entries of `tree` lie within `range`; exact when they share a page.
  ///
  /// A few page visits, whatever the size of the tree. Pages are taken to be evenly filled; where
  /// that is far from true, so is the answer. In a write it is that of the last commit.
  package func estimatedCount(of tree: Tree, within range: KeyRange) throws -> Int {
    if environment.isActiveWrite(handle) {
      return try environment.read { try $0.committedEstimate(of: tree, within: range) }
    }
    return try committedEstimate(of: tree, within: range)
  }

  private func committedEstimate(of tree: Tree, within range: KeyRange) throws -> Int {
    let count = try count(of: tree)
    guard count > 0, let pages = try TreePages(of: tree, in: self) else { return count }
    let lower = pages.position(of: range.lower, isLower: true)
    let upper = pages.position(of: range.upper, isLower: false)
    if lower.leaf == upper.leaf, lower.leaf != .max {
      return max(0, upper.placeInLeaf - lower.placeInLeaf)
    }
    let estimate = (upper.share - lower.share) * Double(count)
    return max(0, min(count, Int(estimate.rounded())))
  }
}

extension TreePages {
  /// The position of the first entry at or after a lower bound, or after an upper one.
  func position(of bound: KeyRange.Bound, isLower: Bool) -> TreePosition {
    switch bound {
    case .unbounded: isLower ? .start : .end
    case .included(let key): position(of: isLower ? key : key + [0])
    case .excluded(let key): position(of: isLower ? key + [0] : key)
    }
  }

  private func position(of key: [UInt8]) -> TreePosition {
    key.withUnsafeBytes { key in
      var number = root
      var share = 0.0
      var width = 1.0
      // Deeper than any tree that fits 64 bits.
      for _ in 0..<32 {
        guard let page = Page(map, number: number, of: pageCount, size: pageSize) else { break }
        let place = page.place(of: key)
        guard page.isBranch else {
          return TreePosition(
            share: share + width * Double(place) / Double(max(1, page.count)), leaf: number,
            placeInLeaf: place)
        }
        width /= Double(page.count)
        share += width * Double(place)
        number = page.child(at: place)
      }
      return TreePosition(share: share, leaf: .max, placeInLeaf: 0)
    }
  }
}
