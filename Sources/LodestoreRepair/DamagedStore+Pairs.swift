internal import LodestoreFormat
internal import LodestorePages

/// The pairs of small trees, taken from all pages that may have them.
extension DamagedStore {
  /// The kind of page in which a pair was found, the worst first.
  ///
  /// - `old`: a free page
  /// - `earlier`: a page of the previous commit's tree
  /// - `current`: a page that is neither free nor reached from the tree
  /// - `tree`: a page of the tree
  enum Place: Int, Comparable {
    case old, earlier, current, tree
    static func < (a: Place, b: Place) -> Bool { a.rawValue < b.rawValue }
  }

  struct Keyed {
    var pairs: [[UInt8]: (body: [UInt8], place: Place)] = [:]
    /// Whether the tree has the number of pairs that it states, and all pairs are usable.
    var isWhole = false
    /// The number of unusable pairs of the tree.
    ///
    /// `missing` is the number of pairs that the tree states but that were not found.
    var damaged = 0
    var missing = 0

    var older: Int { pairs.values.count { $0.place < .current } }
  }

  /// Finds the pairs of a tree in all pages that may have them.
  ///
  /// - Parameters:
  ///   - kind: The kind of the tree's pages.
  ///   - oldest: The worst place to read.
  ///   - needsKind: Whether a leaf must have a pair of the kind to belong to the tree.
  ///   - isPair: Returns whether a pair belongs to this tree and is intact.
  func pairs(
    of name: String, kind: PageKind, oldest: Place, needsKind: Bool = false,
    _ isPair: (DamagedFile.Pair) -> Bool
  ) throws -> Keyed {
    var result = Keyed()
    var own = PageSet(bound: file.pageCount)
    func take(_ leaf: WalkedLeaf, _ place: Place) {
      let isFree = survey.isFreeListWhole && survey.free.contains(leaf.page.number)
      let place = isFree ? min(place, .earlier) : place
      for case let pair? in leaf.pairs where isPair(pair) {
        let key = Array(pair.key)
        if let known = result.pairs[key], known.place >= place { continue }
        result.pairs[key] = (Array(pair.body), place)
      }
    }
    let record = trees[name]
    if let record {
      let counts = try file.walk(record, pages: &own) { leaf in
        guard
          leaf.pairs.contains(where: {
            $0.map { isPair($0) && (!needsKind || PageKind($0) == kind) } ?? false
          })
        else { return false }
        take(leaf, .tree)
        result.damaged += leaf.pairs.count { !($0.map(isPair) ?? false) }
        return true
      }
      result.isWhole =
        counts.fit(record) && result.damaged == 0
        && result.pairs.count == counts.entries && result.older == 0
      if result.isWhole { return result }
    } else if earlierTrees[name] == nil, pages(of: kind).allSatisfy(survey.free.contains) {
      return result
    }
    file.beginReading()
    for page in pages(of: kind)
    where !own.contains(page) && !owned.contains(page) && !survey.free.contains(page) {
      if let leaf = try file.leaf(page) { take(leaf, .current) }
    }
    let entries = record.map { Int(clamping: $0.entries) }
    func isComplete() -> Bool { entries.map { result.pairs.count >= $0 } ?? false }
    if !isComplete(), oldest <= .earlier, let record = earlierTrees[name] {
      try file.walk(record) { leaf in
        take(leaf, .earlier)
        return true
      }
    }
    if !isComplete(), oldest <= .old {
      for page in pages(of: kind) where survey.free.contains(page) && !owned.contains(page) {
        if let leaf = try file.leaf(page) { take(leaf, .old) }
      }
    }
    let current = result.pairs.values.count { $0.place >= .current }
    result.missing = max(0, (entries ?? current) - current)
    // The tree's number of pairs was found, but some of the pairs may be from pages outside the
    // tree.
    result.isWhole = entries == current && result.older == 0
    return result
  }

  /// The digest of a part of the content at the previous commit; `nil` if it cannot be read.
  func earlierDigest(of content: DigestedContent) throws -> ContentDigest? {
    guard let record = earlierTrees[TreeName.digests.text] else { return nil }
    var result: ContentDigest?
    try file.forEachPair(of: record) { pair in
      guard PageKind(pair) == .digests, DigestedContent(key: pair.key) == content else { return }
      result = ContentDigest(bytes: pair.body)
    }
    return result
  }
}
