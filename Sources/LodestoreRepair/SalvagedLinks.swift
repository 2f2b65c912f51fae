internal import LodestoreFormat
internal import LodestorePages

/// The links of a relationship, from the trees of both sides, from orders and from lost pages.
struct SalvagedLinks {
  private(set) var links: Set<LinkPair> = []
  /// The number of links that the trees state but that were not found.
  private(set) var missing = 0
  /// Whether some links may be from an earlier commit or from a damaged key.
  private(set) var isUncertain = false

  var isWhole: Bool { missing == 0 && !isUncertain }

  /// - Parameter ids: The saved records.
  init(
    of relationship: RelationshipDescription, in store: DamagedStore, _ ids: [EntityNumber: IDRuns]
  ) throws {
    let number = relationship.number
    let names = RelationshipSide.allCases.map {
      TreeName.links(relationship: number, side: $0).text
    }
    let first = try Self.read(names[0], store.trees, .from, store)
    let second = try Self.read(names[1], store.trees, .to, store)
    let target = store.digest(of: .links(relationship: number))
    if target == nil, first.isWhole || second.isWhole {
      links = first.isWhole ? first.links : second.links
      isUncertain = first.isWhole && second.isWhole && first.links != second.links
      if isUncertain { links.formUnion(second.links) }
      return
    }
    func isPossible(_ link: LinkPair) -> Bool {
      ids[relationship.from.entity]?.contains(link.from) == true
        && ids[relationship.to.entity]?.contains(link.to) == true
    }
    func fitting(_ sets: Set<LinkPair>...) -> Set<LinkPair>? {
      sets.first { Self.sum($0) == target }
    }
    if let known = fitting(first.links, second.links) {
      links = known
      return
    }
    // The trees of both sides have each link, so a link with a damaged key is in only one of the
    // two.
    let common = first.links.intersection(second.links)
    let single = Array(first.links.symmetricDifference(second.links))
    if let target,
      let some = Self.subset(
        of: single.map { Self.sum([$0]) }, making: target, from: Self.sum(common))
    {
      links = common.union(some.map { single[$0] })
      return
    }
    var ordered: Set<LinkPair> = []
    for side in RelationshipSide.allCases where relationship[side].isOrdered {
      let order = try SalvagedOrder.pairs(of: number, side, in: store)
      ordered.formUnion(order.map { side == .from ? $0 : LinkPair(from: $0.to, to: $0.from) })
    }
    let both = first.links.union(second.links)
    if let known = fitting(ordered, both.union(ordered)) {
      links = known
      return
    }
    if let target {
      for (name, side) in zip(names, RelationshipSide.allCases) {
        if let arranged = try Self.arranged(name, side, in: store, target) {
          links = arranged
          return
        }
      }
    }
    let pages = try Self.strayPages(in: store)
    let all = pages.reduce(into: Set<LinkPair>()) { $0.formUnion($1) }
    let mutual = all.filter { all.contains(LinkPair(from: $0.to, to: $0.from)) && isPossible($0) }
    if let known = fitting(both.union(ordered).union(mutual), both.union(mutual)) {
      links = known
      return
    }
    // A page is read as one of either side. A reading in which hardly any link is possible is
    // ignored.
    let stray = pages.map { page in
      [page, Set(page.map { LinkPair(from: $0.to, to: $0.from) })].filter {
        2 * $0.count(where: isPossible) >= $0.count
      }
    }.filter { !$0.isEmpty }
    if let target {
      for base in [both, both.union(ordered)] {
        if let union = Self.union(of: base, with: stray, making: target) {
          links = union
          return
        }
      }
    }
    var earlier: Set<LinkPair> = []
    for (name, side) in zip(names, RelationshipSide.allCases) {
      earlier.formUnion(try Self.read(name, store.earlierTrees, side, store).links)
    }
    let found = Self.grown(
      both.union(ordered), earlier, stray, isAlone: store.damagedEntryTrees.isSubset(of: names))
    if let known = fitting(found) {
      links = known
      return
    }
    links = found.filter(isPossible)
    let expected =
      names.compactMap { store.trees[$0]?.entries }.max().map { Int(clamping: $0) } ?? 0
    if links.count < expected || expected == 0 { links.formUnion(earlier.filter(isPossible)) }
    missing = max(0, expected - links.count)
    isUncertain = true
  }

  static func sum(_ links: Set<LinkPair>) -> ContentDigest {
    links.reduce(into: ContentDigest()) { $0 += ContentDigest(linkFrom: $1.from, to: $1.to) }
  }

  /// Finds which of a few numbers, added to `base`, make `target`.
  static func subset(
    of numbers: [ContentDigest], making target: ContentDigest, from base: ContentDigest
  ) -> [Int]? {
    guard numbers.count <= 16 else { return nil }
    for subset in 0..<(1 << numbers.count) {
      var sum = base
      for index in numbers.indices where subset >> index & 1 == 1 { sum += numbers[index] }
      if sum == target { return numbers.indices.filter { subset >> $0 & 1 == 1 } }
    }
    return nil
  }

  private static func read(
    _ name: String, _ trees: [String: TreeRecord], _ side: RelationshipSide, _ store: DamagedStore
  ) throws -> (links: Set<LinkPair>, isWhole: Bool) {
    guard let record = trees[name] else { return ([], false) }
    var links: Set<LinkPair> = []
    var damaged = 0
    let counts = try store.file.walk(record) { leaf in
      let mine = leaf.pairs.map { $0.flatMap { link($0, side) } }
      guard mine.contains(where: { $0 != nil }) else { return false }
      for link in mine {
        if let link { links.insert(link) } else { damaged += 1 }
      }
      return true
    }
    return (links, damaged == 0 && links.count == counts.entries && store.wholeTrees.contains(name))
  }

  /// The link of a pair in the tree of a side.
  static func link(_ pair: DamagedFile.Pair, _ side: RelationshipSide) -> LinkPair? {
    guard pair.body.isEmpty, let id = KeyDecoder.leadingID(pair.key), id > 0, id < 1 << 63,
      pair.key.count == KeyDecoder.lengthOfLeadingID(pair.key) + 8,
      let other = KeyDecoder.recordIDSuffix(pair.key), other > 0, other < 1 << 63
    else { return nil }
    return side == .from ? LinkPair(from: id, to: other) : LinkPair(from: other, to: id)
  }

  /// The links in leaves of the newest commit that belong to no intact tree.
  ///
  /// The links are read as if the leaves belonged to side `from`.
  private static func strayPages(in store: DamagedStore) throws -> [Set<LinkPair>] {
    var result: [Set<LinkPair>] = []
    for page in store.pages(of: .entries)
    where !store.owned.contains(page) && !store.survey.free.contains(page) {
      guard let leaf = try store.file.leaf(page) else { continue }
      let links = leaf.pairs.compactMap { $0.flatMap { link($0, .from) } }
      if !links.isEmpty, links.count == leaf.pairs.count { result.append(Set(links)) }
    }
    return result
  }
}
