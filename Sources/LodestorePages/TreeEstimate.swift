import LodestoreBytes

/// The position of a key in a tree, estimated by one descent without reading an entry.
struct TreePosition {
  /// The share of the tree's entries below the key, from 0 to 1.
  var share: Double
  fileprivate var leaf: UInt64
  fileprivate var indexInLeaf: Int

  fileprivate static let start = TreePosition(share: 0, leaf: .max, indexInLeaf: 0)
  fileprivate static let end = TreePosition(share: 1, leaf: .max, indexInLeaf: 0)
}

/// The rightmost page of each level of a tree, with estimates of the entries below.
///
/// Appended keys leave full pages, except for the last page of each level, which may have few
/// entries. Just after a root has split, its second child may have a few entries of a million.
private struct RightEdge {
  private struct Level {
    var page: UInt64
    /// The estimated number of entries below each child except the last.
    var inside = 0.0
    /// The estimated number of entries below the last child.
    var last = 0.0
  }

  private var levels: [Level] = []

  init(of pages: TreePages) {
    var number = pages.root
    var entries = 0.0
    for _ in 0..<PageLayout.deepestTree {
      guard let page = pages.page(number) else { break }
      guard page.isBranch else {
        entries = Double(page.count)
        break
      }
      var level = Level(page: number)
      if page.count > 1 {
        level.inside = pages.approximateCount(below: page.child(at: page.count - 2))
      }
      levels.append(level)
      number = page.child(at: page.count - 1)
    }
    for index in levels.indices.reversed() {
      levels[index].last = entries
      let count = pages.page(levels[index].page)?.count ?? 1
      entries += levels[index].inside * Double(count - 1)
    }
  }

  /// The share of the entries below `page` that come before its child at `index`, and the share of
  /// that child.
  func share(
    _ page: TreePages.Page, _ number: UInt64, depth: Int, index: Int
  ) -> (before: Double, child: Double) {
    let count = Double(page.count)
    guard depth < levels.count, levels[depth].page == number, page.count > 1 else {
      return (Double(index) / count, 1 / count)
    }
    let level = levels[depth]
    let total = max(1, level.inside * (count - 1) + level.last)
    let child = index == page.count - 1 ? level.last : level.inside
    return (Double(index) * level.inside / total, child / total)
  }
}

extension TreePages {
  /// An estimate of how many of the tree's `count` entries are within `range`.
  ///
  /// The estimate is exact if the entries are in one page.
  package func estimatedCount(within range: KeyRange, of count: Int) -> Int {
    let edge = RightEdge(of: self)
    let lower = position(of: range.lower, isLower: true, edge)
    let upper = position(of: range.upper, isLower: false, edge)
    if lower.leaf == upper.leaf, lower.leaf != .max {
      return max(0, upper.indexInLeaf - lower.indexInLeaf)
    }
    let estimate = (upper.share - lower.share) * Double(count)
    return max(0, min(count, Int(estimate.rounded())))
  }

  /// The number of entries below a page if all pages of a level are as full as the first.
  fileprivate func approximateCount(below number: UInt64) -> Double {
    var number = number
    var count = 1.0
    for _ in 0..<PageLayout.deepestTree {
      guard let page = page(number) else { break }
      count *= Double(page.count)
      guard page.isBranch else { break }
      number = page.child(at: 0)
    }
    return count
  }

  /// The position of the first entry that is not below a lower bound, or that is beyond an upper
  /// one.
  fileprivate func position(
    of bound: KeyRange.Bound, isLower: Bool, _ edge: RightEdge
  ) -> TreePosition {
    switch bound {
    case .unbounded: isLower ? .start : .end
    case .included(let key): position(of: isLower ? key : key + [0], edge)
    case .excluded(let key): position(of: isLower ? key + [0] : key, edge)
    }
  }

  private func position(of key: [UInt8], _ edge: RightEdge) -> TreePosition {
    key._withBytes { key in
      var number = root
      var share = 0.0
      var width = 1.0
      for depth in 0..<PageLayout.deepestTree {
        guard let page = page(number) else { break }
        let index = page.index(of: key)
        guard page.isBranch else {
          return TreePosition(
            share: share + width * Double(index) / Double(max(1, page.count)), leaf: number,
            indexInLeaf: index)
        }
        let part = edge.share(page, number, depth: depth, index: index)
        share += width * part.before
        width *= part.child
        number = page.child(at: index)
      }
      return TreePosition(share: share, leaf: .max, indexInLeaf: 0)
    }
  }
}
