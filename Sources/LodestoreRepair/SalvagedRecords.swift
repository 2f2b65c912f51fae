internal import LodestoreBytes
internal import LodestoreFormat
internal import LodestorePages

/// Decides which records of each entity are saved, and from which pages.
///
/// If the digest of an entity matches the records in its tree, the records are read from the tree.
/// Otherwise all pages that may hold its records are candidates, and the newest record of each id
/// wins.
final class SalvagedRecords {
  /// The numbers of records of an entity.
  struct Found {
    /// The number of records that the tree or an intact index states.
    var expected: UInt64 = 0
    var records = 0
    /// The number of ``records`` in pages that no tree refers to.
    var orphans = 0
    /// The number of ``records`` that may be from an earlier commit.
    var older = 0
    /// The number of records of the tree whose bytes were changed by damage.
    var damaged = 0
    /// Whether all records were found, by the digest or, without a digest, by the counts.
    var isWhole = false
  }

  struct Candidate {
    var page: Int
    var place: DamagedStore.Place
    /// The range of ids that the branches above the page allow.
    var bounds: Range<UInt64>
    var first: UInt64
    var commit: UInt64
    /// Whether the page may belong to another entity.
    var isShared: Bool
  }

  /// The records that are taken from one page.
  private struct Choice {
    var page: Int
    var place: DamagedStore.Place
    var isOlder: Bool
    var ids: IDRuns
  }

  let store: DamagedStore
  var file: DamagedFile { store.file }
  private(set) var found: [EntityNumber: Found] = [:]
  private(set) var ids: [EntityNumber: IDRuns] = [:]
  /// The choices of records from each page, for damaged entities.
  private var plans: [EntityNumber: [Choice]] = [:]
  private var layouts: [EntityNumber: [UInt16: RecordLayout]] = [:]
  /// The pages of undamaged entities.
  var owned: PageSet
  var evidence: [EntityNumber: IndexEvidence] = [:]
  var earlier: [EntityNumber: PageSet] = [:]
  var owners: [Int: EntityNumber] = [:]

  init(_ store: DamagedStore) throws {
    self.store = store
    owned = store.owned
    for entity in store.entities {
      layouts[entity.number] = entity.layoutsByNumber
    }
    var damaged: [EntityDescription] = []
    var wholePages = PageSet(bound: file.pageCount)
    for entity in store.entities where try !readTree(of: entity, &wholePages) {
      damaged.append(entity)
    }
    guard !damaged.isEmpty else { return }
    // The tree of a damaged entity owns no page, whatever its counts say.
    var disowned = PageSet(bound: file.pageCount)
    for entity in damaged {
      guard let record = tree(of: entity, store.trees) else { continue }
      disowned.formUnion(try file.pages(of: record))
    }
    owned.subtract(disowned)
    owned.formUnion(wholePages)
    for entity in damaged {
      evidence[entity.number] = try IndexEvidence(entity, store)
      if let record = tree(of: entity, store.earlierTrees) {
        earlier[entity.number] = try file.pages(of: record)
      }
    }
    try assignOwners(damaged)
    let foreign = try foreignPages(damaged)
    for entity in damaged { try choose(entity, damaged, foreign) }
  }

  /// Whether a record is saved.
  func has(_ id: UInt64, of entity: EntityNumber) -> Bool { ids[entity]?.contains(id) ?? false }

  func tree(of entity: EntityDescription, _ trees: [String: TreeRecord]) -> TreeRecord? {
    trees[TreeName.records(entity: entity.number).text]
  }

  /// The record of a pair; `nil` if it does not belong to `entity` or is damaged.
  func view(_ pair: DamagedFile.Pair, of entity: EntityDescription) -> RecordView? {
    guard PageKind.isRecord(pair), let view = layouts[entity.number]?.view(of: pair.body),
      (try? view.validate(id: pair.key.uint64(at: 0))) != nil
    else { return nil }
    return view
  }

  func number(of pair: DamagedFile.Pair) -> ContentDigest {
    var digest = ContentDigest()
    digest.add(record: pair.key.uint64(at: 0), checksum: pair.body.recordChecksum)
    return digest
  }

  /// Reads the records of a tree; returns false if they are incomplete.
  private func readTree(of entity: EntityDescription, _ wholePages: inout PageSet) throws -> Bool {
    var found = Found()
    var ids = IDRuns()
    var sum = ContentDigest()
    var pages = PageSet(bound: file.pageCount)
    let record = tree(of: entity, store.trees)
    var isGood = record != nil
    if let record {
      found.expected = record.entries
      let counts = try file.walk(record, pages: &pages) { leaf in
        for pair in leaf.pairs {
          guard let pair, self.view(pair, of: entity) != nil else {
            if let pair, PageKind.isRecord(pair) { continue }
            found.damaged += 1
            continue
          }
          found.records += 1
          ids.append(pair.key.uint64(at: 0))
          sum += self.number(of: pair)
        }
        return true
      }
      isGood =
        counts.fit(record) && found.damaged == 0
        && store.wholeTrees.contains(TreeName.records(entity: entity.number).text)
    }
    ids.normalize()
    if let digest = store.digest(of: .records(entity: entity.number)) {
      isGood = sum == digest && ids.count == found.records
    }
    found.isWhole = isGood
    self.found[entity.number] = found
    self.ids[entity.number] = ids
    guard isGood else { return false }
    owned.formUnion(pages)
    wholePages.formUnion(pages)
    return true
  }

  // MARK: The newest of each record

  /// The records taken of an entity, and their pages.
  private struct Selection {
    var plan: [Choice] = []
    /// The ids that are taken or known to have no record.
    var closed = IDRuns()
    var sum = ContentDigest()
    var records = 0
    var orphans = 0
    var older = 0
  }

  private func choose(
    _ entity: EntityDescription, _ damaged: [EntityDescription], _ foreign: Set<Int>
  ) throws {
    var found = self.found[entity.number] ?? Found()
    let (candidates, gaps) = try candidates(entity, damaged, foreign)
    let target = store.digest(of: .records(entity: entity.number))
    if let evidence = evidence[entity.number] { found.expected = UInt64(evidence.ids.count) }
    var selection = try select(entity, from: candidates, gaps: gaps, found: found)
    if let target, selection.sum != target,
      let known = try arrangement(of: candidates, entity, target)
    {
      selection = try select(entity, from: candidates, gaps: gaps, found: found, known: known)
    }
    found.records = selection.records
    found.orphans = selection.orphans
    found.older = selection.older
    found.isWhole =
      target.map { $0 == selection.sum }
      ?? (found.older == 0 && UInt64(found.records) == found.expected
        && tree(of: entity, store.trees) != nil)
    if found.isWhole {
      found.older = 0
      found.damaged = 0
      found.expected = UInt64(found.records)
    }
    self.found[entity.number] = found
    ids[entity.number] = IDRuns(selection.plan.flatMap(\.ids.ranges))
    plans[entity.number] = selection.plan
  }

  /// Takes the records of an entity, each once.
  ///
  /// Pages known to be of the newest commit come first, then the pages with the highest
  /// ``DamagedStore/Place``.
  private func select(
    _ entity: EntityDescription, from candidates: [Candidate], gaps: [Range<UInt64>],
    found: Found, known: Arrangement = Arrangement()
  ) throws -> Selection {
    let evidence = evidence[entity.number]
    let target = store.digest(of: .records(entity: entity.number))
    var result = Selection()
    /// Selects the records that meet a condition, from the pages at each of `places` in turn.
    func pass(
      _ places: [DamagedStore.Place], isOlder: Bool,
      _ takes: (UInt64, borrowing RecordView, Candidate) -> Bool
    ) throws {
      for place in places {
        file.beginReading()
        var added = IDRuns()
        for candidate in candidates
        where candidate.place == place || candidate.place == .tree && place == .current {
          guard let leaf = try file.leaf(candidate.page) else { continue }
          var mine = IDRuns()
          for case let pair? in leaf.pairs {
            guard let view = view(pair, of: entity) else { continue }
            let id = pair.key.uint64(at: 0)
            var real = candidate.place
            if real == .tree, !candidate.bounds.contains(id) { real = .current }
            guard real == place, !result.closed.contains(id), takes(id, view, candidate) else {
              continue
            }
            if let last = added.ranges.last, id < last.upperBound {
              added.normalize()
              if added.contains(id) { continue }
            }
            added.append(id)
            mine.append(id)
            result.sum += number(of: pair)
            result.records += 1
            if place != .tree { result.orphans += 1 }
            if isOlder { result.older += 1 }
          }
          mine.normalize()
          if !mine.isEmpty {
            result.plan.append(
              Choice(page: candidate.page, place: place, isOlder: isOlder, ids: mine))
          }
        }
        added.normalize()
        result.closed = IDRuns(result.closed.ranges + added.ranges)
      }
    }
    func confirms(_ id: UInt64, _ view: borrowing RecordView) -> Bool {
      evidence?.confirms(id, view) ?? true
    }
    if !known.pages.isEmpty {
      try pass([.tree, .current, .earlier, .old], isOlder: false) { known.pages.contains($2.page) }
      result.closed = IDRuns(result.closed.ranges + known.closed)
    }
    try pass([.tree, .current], isOlder: false) { id, view, _ in confirms(id, view) }
    if result.sum == target, target != nil { return result }
    if evidence != nil {
      try pass([.earlier, .old], isOlder: true) { id, view, _ in confirms(id, view) }
    }
    // No index has these values. If the record still exists, they are from an earlier commit.
    if let evidence {
      try pass([.tree, .current, .earlier, .old], isOlder: true) { id, _, candidate in
        evidence.ids.contains(id) && (!candidate.isShared || candidate.place > .current)
      }
      try pass([.tree], isOlder: true) { _, _, _ in true }
    } else if target != nil || UInt64(result.records) < found.expected || found.damaged > 0 {
      let gaps = IDRuns(gaps)
      try pass([.earlier], isOlder: true) { _, _, _ in true }
      // Ids are never reused, so an id above all others belongs to the record that was inserted
      // last.
      let next = result.closed.ranges.last?.upperBound ?? 0
      try pass([.old], isOlder: true) { id, _, candidate in
        (gaps.contains(id) || id >= next) && !candidate.isShared
      }
    }
    return result
  }

  /// The pages that may hold records of an entity, and the ids missing in its tree.
  private func candidates(
    _ entity: EntityDescription, _ damaged: [EntityDescription], _ foreign: Set<Int>
  ) throws -> ([Candidate], gaps: [Range<UInt64>]) {
    var bounds: [Int: Range<UInt64>] = [:]
    var gaps: [Range<UInt64>] = []
    if let record = tree(of: entity, store.trees) {
      let counts = try file.walk(record) { leaf in
        guard !self.owned.contains(leaf.page.number), self.fit(leaf, entity) > 0 else {
          return false
        }
        bounds[leaf.page.number] = leaf.bounds.ids
        for (index, pair) in leaf.pairs.enumerated() {
          if let pair, self.view(pair, of: entity) != nil { continue }
          let id = { (index: Int) in
            leaf.pairs.indices.contains(index)
              ? leaf.pairs[index].flatMap { PageKind.recordID($0.key) } : nil
          }
          let low = id(index - 1).map { $0 + 1 } ?? leaf.bounds.ids.lowerBound
          gaps.append(low..<max(low, id(index + 1) ?? leaf.bounds.ids.upperBound))
        }
        return true
      }
      gaps += counts.gaps.map(\.ids)
    } else {
      gaps = [0..<(1 << 63)]
    }
    let others = store.entities.filter { $0.number != entity.number }
    var result: [Candidate] = []
    file.beginReading()
    for page in Set(store.pages(of: .records) + Array(bounds.keys)).sorted() {
      guard !owned.contains(page), owners[page] ?? entity.number == entity.number,
        let leaf = try file.leaf(page), fit(leaf, entity) > 0,
        foreign.isEmpty || !foreign.contains(Self.hash(leaf.page))
      else { continue }
      let isFree = store.survey.free.contains(page)
      let isWalked = bounds[page] != nil && !(isFree && store.survey.isFreeListWhole)
      let isEarlier = earlier[entity.number]?.contains(page) ?? false
      let first = leaf.pairs.lazy.compactMap { $0.flatMap { PageKind.recordID($0.key) } }.first ?? 0
      let isShared =
        owners[page] == nil && !isEarlier && bounds[page] == nil
        && others.contains { fit(leaf, $0) > 0 }
      result.append(
        Candidate(
          page: page, place: isWalked ? .tree : !isFree ? .current : isEarlier ? .earlier : .old,
          bounds: bounds[page] ?? 0..<(1 << 63), first: first, commit: file.commit(leaf.page),
          isShared: isShared))
    }
    return (
      result.sorted { ($0.place, $0.commit, $1.first) > ($1.place, $1.commit, $0.first) }, gaps
    )
  }

  // MARK: Records

  /// Leaves out the records `gone`, whose unique keys belong to other saved records.
  func remove(_ gone: IDRuns, of entity: EntityNumber) {
    ids[entity] = ids[entity]?.subtracting(gone)
  }

  /// Visits the saved records of an entity, each once.
  func forEach(of entity: EntityDescription, _ visit: (UInt64, ByteView) throws -> Void) throws {
    let ids = ids[entity.number] ?? IDRuns()
    func take(_ leaf: WalkedLeaf, _ some: IDRuns?) throws {
      for case let pair? in leaf.pairs {
        guard view(pair, of: entity) != nil, case let id = pair.key.uint64(at: 0),
          ids.contains(id), some?.contains(id) ?? true
        else { continue }
        try visit(id, pair.body)
      }
    }
    if let plan = plans[entity.number] {
      file.beginReading()
      for choice in plan {
        if let leaf = try file.leaf(choice.page) { try take(leaf, choice.ids) }
      }
    } else if let record = tree(of: entity, store.trees) {
      try file.walk(record) { leaf in
        try take(leaf, nil)
        return true
      }
    }
  }

  /// The rank of the page from which a record is taken.
  ///
  /// A higher number is better.
  func rank(of id: UInt64, _ entity: EntityNumber) -> Int {
    guard let plan = plans[entity], let choice = plan.first(where: { $0.ids.contains(id) }) else {
      return DamagedStore.Place.tree.rawValue
    }
    return choice.place.rawValue - (choice.isOlder ? 4 : 0)
  }
}
