internal import LodestoreBytes
internal import LodestoreFormat
internal import LodestorePages

/// Assigns pages of records to entities if their records fit several.
extension SalvagedRecords {
  /// The number of records of a leaf that fit an entity.
  func fit(_ leaf: WalkedLeaf, _ entity: EntityDescription) -> Int {
    leaf.pairs.count { $0.map { view($0, of: entity) != nil } ?? false }
  }

  /// Assigns each page whose records fit several damaged entities to one entity.
  func assignOwners(_ damaged: [EntityDescription]) throws {
    guard damaged.count > 1 else { return }
    var undecided: [Int: [EntityNumber]] = [:]
    var trees: [EntityNumber: PageSet] = [:]
    var held: [EntityNumber: IDRuns] = [:]
    for entity in damaged {
      guard let record = tree(of: entity, store.trees) else { continue }
      var pages = PageSet(bound: file.pageCount)
      var ids = IDRuns()
      _ = try file.walk(record, pages: &pages) { leaf in
        guard !self.store.survey.free.contains(leaf.page.number) else { return true }
        for case let pair? in leaf.pairs { PageKind.recordID(pair.key).map { ids.append($0) } }
        return true
      }
      trees[entity.number] = pages
      held[entity.number] = ids.normalized
    }
    file.beginReading()
    for page in store.pages(of: .records) where !owned.contains(page) {
      guard let leaf = try file.leaf(page) else { continue }
      let fitting = damaged.filter { fit(leaf, $0) > 0 }
      guard fitting.count > 1 else { continue }
      var scores: [(entity: EntityNumber, score: Int)] = []
      for entity in fitting {
        var score = 0
        if let evidence = evidence[entity.number] {
          for case let pair? in leaf.pairs {
            guard let view = view(pair, of: entity) else { continue }
            score += evidence.confirms(pair.key.uint64(at: 0), view) ? 4 : -4
          }
        }
        if earlier[entity.number]?.contains(page) ?? false { score += 2 }
        if trees[entity.number]?.contains(page) ?? false {
          score += 2
        } else {
          // Ids that the entity's tree has elsewhere are not missing.
          score -= leaf.pairs.count { pair in
            pair.flatMap { PageKind.recordID($0.key) }
              .map { held[entity.number]?.contains($0) ?? false } ?? false
          }
        }
        scores.append((entity.number, score))
      }
      scores.sort { $0.score > $1.score }
      if scores[0].score > scores[1].score {
        owners[page] = scores[0].entity
      } else if !store.survey.free.contains(page) {
        undecided[page] = fitting.map(\.number)
      }
    }
    try decideByDigests(undecided, damaged)
    try decideByBranches(undecided)
  }

  /// Tries which assignment of a few pages makes the digests right.
  private func decideByDigests(
    _ undecided: [Int: [EntityNumber]], _ damaged: [EntityDescription]
  ) throws {
    guard (1...16).contains(undecided.count) else { return }
    let pages = undecided.keys.sorted()
    for entity in damaged {
      let open = pages.filter {
        owners[$0] == nil && undecided[$0]?.contains(entity.number) ?? false
      }
      guard !open.isEmpty, var rest = store.digest(of: .records(entity: entity.number)) else {
        continue
      }
      file.beginReading()
      func sum(_ page: Int) throws -> ContentDigest {
        var sum = ContentDigest()
        guard let leaf = try file.leaf(page) else { return sum }
        for case let pair? in leaf.pairs where view(pair, of: entity) != nil {
          sum += number(of: pair)
        }
        return sum
      }
      for page in store.pages(of: .records)
      where !owned.contains(page) && !store.survey.free.contains(page) && !open.contains(page) {
        if let owner = owners[page], owner != entity.number { continue }
        rest -= try sum(page)
      }
      let sums = try open.map(sum)
      for subset in 0..<(1 << open.count) {
        var left = rest
        for index in open.indices where subset >> index & 1 == 1 { left -= sums[index] }
        guard left == ContentDigest() else { continue }
        for (index, page) in open.enumerated() where subset >> index & 1 == 1 {
          owners[page] = entity.number
        }
        break
      }
    }
  }

  /// Assigns a page to the entity that has the other pages of the same branch.
  private func decideByBranches(_ undecided: [Int: [EntityNumber]]) throws {
    guard undecided.keys.contains(where: { owners[$0] == nil }) else { return }
    for number in store.pages(of: .branch) {
      guard let page = try file.page(UInt64(number)) else { continue }
      let children = file.nodes(of: page, isLeaf: false).nodes.map { Int(clamping: $0.child) }
      let known = Set(children.compactMap { owners[$0] })
      guard known.count == 1, let owner = known.first else { continue }
      for child in children
      where owners[child] == nil && undecided[child]?.contains(owner) ?? false {
        owners[child] = owner
      }
    }
  }

  /// Hashes of pages that belong to undamaged entities, but whose records would also fit a damaged
  /// entity.
  func foreignPages(_ damaged: [EntityDescription]) throws -> Set<Int> {
    var hashes: Set<Int> = []
    for entity in store.entities where found[entity.number]?.isWhole ?? false {
      let isSimilar = damaged.contains { other in
        let shapes = Set(entity.layouts.map { $0.attributes.map(\.type) })
        return other.layouts.contains { shapes.contains($0.attributes.map(\.type)) }
      }
      guard isSimilar, let record = tree(of: entity, store.trees) else { continue }
      try file.walk(record) { leaf in
        hashes.insert(Self.hash(leaf.page))
        return true
      }
    }
    return hashes
  }

  static func hash(_ page: DamagedFile.Page) -> Int {
    var hasher = Hasher()
    hasher._combine(bytes: page.bytes[8...])
    return hasher.finalize()
  }
}
