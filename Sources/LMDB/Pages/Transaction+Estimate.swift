extension Transaction {
  /// An estimate of the number of entries of `tree` within `range`.
  ///
  /// The estimate is exact if the entries are in one page.
  ///
  /// The estimation visits a few pages, whatever the size of the tree. All pages of a level are
  /// assumed to be equally full, except for the last page, which appended keys leave less full. The
  /// entries of that page are estimated separately. Unevenly filled pages make the estimate wrong.
  ///
  /// In a write, the entries of the last commit are estimated. The plain
  /// engine counts some hundred entries instead.
  package func estimatedCount(of tree: Tree, within range: KeyRange) throws -> Int {
    if environment.isActiveWrite(handle) {
      return try environment.read { try $0.committedEstimate(of: tree, within: range) }
    }
    return try committedEstimate(of: tree, within: range)
  }

  private func committedEstimate(of tree: Tree, within range: KeyRange) throws -> Int {
    let count = try count(of: tree)
    guard count > 0 else { return 0 }
    guard environment.readsPages else {
      return try countedEstimate(of: tree, within: range, count: count)
    }
    guard let pages = try TreePages(of: tree, in: self) else { return count }
    return pages.estimatedCount(within: range, of: count)
  }
}

// MARK: Counting with the plain engine

extension Transaction {
  private static let countedEntries = 256

  /// Counts the entries within the range, below it and above it, each up to a limit.
  ///
  /// Parts that reach the limit share the remaining entries equally.
  private func countedEstimate(of tree: Tree, within range: KeyRange, count: Int) throws -> Int {
    let within = try countedEntries(of: tree, within: range)
    guard within == Self.countedEntries else { return within }
    let outside = try range.complement.map { try countedEntries(of: tree, within: $0) }
    let openCount = 1 + outside.count { $0 == Self.countedEntries }
    let rest = count - within - outside.reduce(0, +)
    return within + max(0, rest) / openCount
  }

  private func countedEntries(of tree: Tree, within range: KeyRange) throws -> Int {
    var count = 0
    try Cursor(tree, in: self).walk(range) { _, _ in
      count += 1
      return count < Self.countedEntries
    }
    return count
  }
}

extension KeyRange {
  /// The ranges of the keys below and above this range.
  fileprivate var complement: [KeyRange] {
    let below: Bound? =
      switch lower {
      case .unbounded: nil
      case .included(let key): .excluded(key)
      case .excluded(let key): .included(key)
      }
    let above: Bound? =
      switch upper {
      case .unbounded: nil
      case .included(let key): .excluded(key)
      case .excluded(let key): .included(key)
      }
    return [below.map { KeyRange(upper: $0) }, above.map { KeyRange(lower: $0) }].compactMap { $0 }
  }
}
