internal import LodestoreFormat
internal import LodestorePages

/// Links in pages that no tree refers to.
extension SalvagedLinks {
  /// Selects leaves of one side by the digest, and returns their links; `nil` if a leaf with links
  /// of the side is lost.
  static func arranged(
    _ name: String, _ side: RelationshipSide, in store: DamagedStore, _ target: ContentDigest
  ) throws -> Set<LinkPair>? {
    var pages: [LeafArrangement.Leaf: Set<LinkPair>] = [:]
    func add(_ leaf: WalkedLeaf) -> Bool {
      let links = leaf.pairs.compactMap { $0.flatMap { link($0, side) } }
      guard !links.isEmpty, links.count == leaf.pairs.count else { return false }
      let keys = links.map { link in
        let (id, other) = side == .from ? (link.from, link.to) : (link.to, link.from)
        return UInt128(id) << 64 | UInt128(other)
      }
      let leaf = LeafArrangement.Leaf(
        keys: (keys.min() ?? 0)..<(keys.max() ?? 0) + 1, sum: sum(Set(links)))
      pages[leaf] = Set(links)
      return true
    }
    if let record = store.trees[name] { try store.file.walk(record, add) }
    store.file.beginReading()
    for page in store.pages(of: .entries)
    where !store.owned.contains(page)
      && !(store.survey.isFreeListWhole && store.survey.free.contains(page))
    {
      if let leaf = try store.file.leaf(page) { _ = add(leaf) }
    }
    let leaves = Array(pages)
    return LeafArrangement(leaves.map(\.key)).leaves(making: target).map { chosen in
      chosen.reduce(into: Set()) { $0.formUnion(leaves[$1].value) }
    }
  }

  /// Tries which of a few pages, together with known links, have the digest `target`.
  ///
  /// - Parameter pages: For each page, the sets of links that it may represent.
  static func union(
    of base: Set<LinkPair>, with pages: [[Set<LinkPair>]], making target: ContentDigest
  ) -> Set<LinkPair>? {
    guard pages.count <= 8 else { return nil }
    func go(_ position: Int, _ links: Set<LinkPair>, _ total: ContentDigest) -> Set<LinkPair>? {
      if total == target { return links }
      guard position < pages.count else { return nil }
      for page in pages[position] {
        let added = page.subtracting(links)
        if added.isEmpty { continue }
        var next = total
        next += sum(added)
        if let found = go(position + 1, links.union(added), next) { return found }
      }
      return go(position + 1, links, total)
    }
    return go(0, base, sum(base))
  }

  /// Adds pages to links.
  ///
  /// No digest shows whether they belong to the relationship.
  ///
  /// - Parameters:
  ///   - earlier: The links of the previous commit. Most links in a page of the relationship are
  ///     already known.
  ///   - isAlone: Whether no other tree can have lost a page of links.
  static func grown(
    _ links: Set<LinkPair>, _ earlier: Set<LinkPair>, _ pages: [[Set<LinkPair>]], isAlone: Bool
  ) -> Set<LinkPair> {
    var found = links
    var rest = pages
    func known(_ set: Set<LinkPair>) -> Int {
      set.count { found.contains($0) || earlier.contains($0) }
    }
    while true {
      // Each added page makes more links known.
      let likely = rest.indices.compactMap { index in
        rest[index].map { (index: index, set: $0, share: Double(known($0)) / Double($0.count)) }
          .max { $0.share < $1.share }
      }.max { $0.share < $1.share }
      guard let likely, likely.share >= 0.5 || isAlone else { return found }
      found.formUnion(likely.set)
      rest.remove(at: likely.index)
    }
  }
}
