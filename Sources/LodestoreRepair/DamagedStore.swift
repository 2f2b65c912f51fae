internal import LodestoreBytes
internal import LodestoreFormat
internal import LodestorePages

/// A damaged store, read without LMDB: its trees, its catalogue and the pairs of its small trees.
///
/// Each page of the file is classified by its content (``PageSurvey``). A pair is taken from the
/// newest ``Place`` that has it.
final class DamagedStore {
  let file: DamagedFile
  let survey: PageSurvey
  /// The trees of the newest commit, by name.
  private(set) var trees: [String: TreeRecord] = [:]
  /// The trees of the previous commit, by name.
  private(set) var earlierTrees: [String: TreeRecord] = [:]
  /// The pages of intact trees, each of the right kind.
  private(set) var owned: PageSet
  /// The trees whose numbers of pages and pairs match the tree's record.
  private(set) var wholeTrees: Set<String> = []
  /// Losses and doubts, one sentence each.
  var problems: [String] = []
  /// Findings without a loss of content, one sentence each.
  var notes: [String] = []

  private(set) var entities: [EntityDescription] = []
  private(set) var relationships: [RelationshipDescription] = []
  private(set) var unknownDescriptions: [(key: [UInt8], body: [UInt8])] = []
  private(set) var header: [[UInt8]: [UInt8]] = [:]
  private(set) var counters: [[UInt8]: UInt64] = [:]
  private var digests: [DigestedContent: ContentDigest] = [:]
  private var hasAllDigests = false

  init(path: String) throws {
    file = try DamagedFile(path: path)
    survey = try PageSurvey(file)
    owned = survey.freeListPages
    problems = survey.problems
    try readNames()
    try walkTrees()
    try readCatalogue()
    guard !entities.isEmpty || trees[TreeName.header.text] != nil else {
      throw VerificationError.notAStore(
        "no page has a description of an entity, or a store's header")
    }
    restoreNames()
    try readHeader()
    try readCounters()
    try readDigests()
    checkPages()
  }

  // MARK: Trees

  private func readNames() throws {
    if let earlier = survey.earlier {
      for tree in try PageSurvey.names(file, earlier.main).trees {
        earlierTrees[tree.name] = tree.record
      }
    }
    var walked = PageSet(bound: file.pageCount)
    if let meta = survey.meta {
      let (named, isWhole, pages) = try PageSurvey.names(file, meta.main)
      for tree in named where trees[tree.name] == nil { trees[tree.name] = tree.record }
      walked = pages
      owned.formUnion(pages)
      let isStale = survey.isFreeListWhole && !survey.free.isDisjoint(with: pages)
      if isWhole, !isStale { return }
      problems.append("some names of trees cannot be read")
    }
    // Leaves of the tree of names that no tree refers to, first those whose trees are in use.
    var leaves: [(score: Int, commit: UInt64, trees: [PageSurvey.NamedTree])] = []
    for page in pages(of: .names) where !walked.contains(page) && !survey.free.contains(page) {
      let named = try survey.names(inLeaf: page)
      let score = named.count {
        $0.record.root < UInt64(file.pageCount) && !survey.free.contains(Int($0.record.root))
      }
      leaves.append((score, try file.page(UInt64(page)).map(file.commit) ?? 0, named))
    }
    for leaf in leaves.sorted(by: { ($0.commit, $0.score) > ($1.commit, $1.score) }) {
      for tree in leaf.trees where trees[tree.name] == nil { trees[tree.name] = tree.record }
    }
    if trees[TreeName.catalogue.text] == nil, trees[TreeName.header.text] == nil {
      for (name, record) in earlierTrees where trees[name] == nil { trees[name] = record }
    }
  }

  /// The numbers of the pages of a kind.
  func pages(of kind: PageKind) -> [Int] {
    survey.kinds.indices.filter { survey.kinds[$0] == kind }
  }

  /// Walks each tree once to learn which trees are intact and which pages they have.
  private func walkTrees() throws {
    for (name, record) in trees {
      var pages = PageSet(bound: file.pageCount)
      let kinds = Self.kinds(ofTree: name)
      let counts = try file.walk(record, pages: &pages) { leaf in
        let kind = self.survey.kinds[leaf.page.number]
        return kinds.isEmpty || kinds.contains(kind) || kind == .leaf || kind == .nothing
      }
      guard counts.fit(record) else { continue }
      if survey.isFreeListWhole, !survey.free.isDisjoint(with: pages) {
        problems.append("tree '\(name)' leads to free pages: it is of an earlier commit")
        continue
      }
      wholeTrees.insert(name)
      owned.formUnion(pages)
    }
  }

  /// The kinds of pages that a tree may have; empty for a tree whose
  /// pages are not classified.
  static func kinds(ofTree name: String) -> Set<PageKind> {
    switch TreeName(name) {
    case .header: [.header]
    case .catalogue: [.catalogue]
    case .counters: [.counters]
    case .records: [.records]
    case .buckets, .imports: [.sealed]
    case .index, .elements, .place, .links: [.entries, .order, .counters]
    case .order: [.order, .entries]
    case .history: [.history]
    case .digests: [.digests]
    case .catalogueCopy: [.catalogue]
    case .seal: [.sealed]
    // Search indexes are built again from the records; their pages are not looked for.
    case .search, .vector, nil: []
    }
  }

  /// Restores tree names in which one byte was changed.
  private func restoreNames() {
    for name in expectedNames where trees[name] == nil {
      let similar = trees.keys.filter { other in
        !expectedNames.contains(other) && other.utf8.count == name.utf8.count
          && zip(other.utf8, name.utf8).count { $0 != $1 } == 1
      }
      guard similar.count == 1, let other = similar.first, let record = trees[other] else {
        continue
      }
      notes.append("the name of tree '\(name)' is damaged; its content says whose it is")
      trees[other] = nil
      trees[name] = record
      if wholeTrees.remove(other) != nil { wholeTrees.insert(name) }
    }
  }

  /// The names of the trees that the catalogue requires.
  private(set) lazy var expectedNames: Set<String> = {
    let names: [TreeName] =
      [.header, .catalogue, .catalogueCopy, .counters, .buckets, .imports, .history, .digests]
      + entities.flatMap(\.trees) + relationships.flatMap(\.trees)
    return Set(names.map(\.text))
  }()

  /// The trees of entries and links that have lost pages, or their names.
  var damagedEntryTrees: Set<String> {
    expectedNames.union(trees.keys).filter { name in
      Self.kinds(ofTree: name).contains(.entries) && !wholeTrees.contains(name)
    }
  }

  /// Reports pages that are used twice or not at all.
  private func checkPages() {
    guard survey.isFreeListWhole, let meta = survey.meta else { return }
    let end = min(UInt64(file.pageCount), meta.lastPage &+ 1)
    let isClean = (2..<max(2, Int(end))).allSatisfy { page in
      owned.contains(page) != survey.free.contains(page)
    }
    if !isClean, trees.keys.allSatisfy({ wholeTrees.contains($0) }) {
      problems.append(
        "some pages are in no tree and not free, or in both: an earlier state of a page may be in its place"
      )
    }
  }

  // MARK: The catalogue

  private func readCatalogue() throws {
    func isDescription(_ pair: DamagedFile.Pair) -> Bool {
      pair.key.first ?? 0 >= 3 || PageKind(pair) == .catalogue
    }
    let first = try pairs(
      of: TreeName.catalogue.text, kind: .catalogue, oldest: .old, needsKind: true, isDescription)
    var chosen = first.pairs
    let copyName = TreeName.catalogueCopy.text
    let second = try pairs(
      of: copyName, kind: .catalogue, oldest: .old, needsKind: true, isDescription)
    // A damaged key may look like a key of a later version. A genuine key of a later version is in
    // the copy too.
    let strange = chosen.keys.filter { $0.first ?? 0 >= 3 && second.pairs[$0] == nil }
    let isFirstWhole = first.isWhole && !(second.isWhole && !strange.isEmpty)
    if second.isWhole { for key in strange { chosen[key] = nil } }
    var isWhole = isFirstWhole
    if trees[copyName] != nil {
      for (key, pair) in second.pairs where key.first ?? 0 > 0 {
        guard let known = chosen[key] else {
          // If the catalogue is intact, the copy is of an earlier state.
          if !isFirstWhole { chosen[key] = pair }
          continue
        }
        if isNewer(pair, than: known) { chosen[key] = pair }
      }
      if !isFirstWhole, second.isWhole {
        isWhole = true
        notes.append("the catalogue is damaged; its second copy is whole")
      } else if isFirstWhole, second.isWhole,
        first.pairs.mapValues(\.body)
          != second.pairs.filter({ $0.key.first != 0 }).mapValues(\.body)
      {
        problems.append(
          "the catalogue and its second copy differ: one of them is of an earlier state")
      }
      for (key, pair) in second.pairs where key.first == 0 && key.count > 1 {
        header[Array(key.dropFirst())] = Array(pair.body.dropFirst(4))
      }
    }
    if !isWhole { problems.append("some descriptions of entities cannot be read") }
    if chosen.values.contains(where: { $0.place < .current }) {
      problems.append("some descriptions are of an earlier commit")
    }
    for (key, pair) in chosen.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      if key.first ?? 0 >= 3 {
        unknownDescriptions.append((key, pair.body))
      } else if key.first != 0 {
        addDescription(key, pair.body)
      }
    }
    dropUnfitting()
  }

  /// Returns which of two descriptions of one object is newer.
  ///
  /// The description with the higher ``Place`` is newer. In equal places, the longer description is
  /// newer, because it has more layouts.
  private func isNewer(
    _ first: (body: [UInt8], place: Place), than second: (body: [UInt8], place: Place)
  ) -> Bool {
    if first.place != second.place { return first.place > second.place }
    return first.body.count > second.body.count
  }

  private func addDescription(_ key: [UInt8], _ body: [UInt8]) {
    key._withBytes { key in
      body._withBytes { body in
        do throws(FormatError) {
          let document = try Document(decoding: try Checksum.unsealed(key: key, body: body))
          if let number = CatalogueKey.entityNumber(key) {
            let entity = try EntityDescription(number: number, document: document)
            guard !entities.contains(where: { $0.name == entity.name }) else {
              throw FormatError("another entity has its name", .catalogueKey)
            }
            entities.append(entity)
          } else if let number = CatalogueKey.relationshipNumber(key) {
            relationships.append(try RelationshipDescription(number: number, document: document))
          }
        } catch {
          problems.append("the description \(Finding.hexadecimal(key)) is damaged: \(error.reason)")
        }
      }
    }
  }

  /// Removes descriptions that refer to lost descriptions, or that do not fit the descriptions they
  /// refer to.
  ///
  /// The new store could not be opened with them.
  private func dropUnfitting() {
    let described = Dictionary(entities.map { ($0.number, $0) }) { first, _ in first }
    relationships.removeAll { relationship in
      do throws(FormatError) {
        try relationship.check(described)
        return false
      } catch {
        problems.append("relationship \(relationship.number) is left out: \(error.reason)")
        return true
      }
    }
    for position in entities.indices {
      let entity = entities[position]
      for (index, attribute) in entity.attributes.enumerated() where !attribute.isRemoved {
        do throws(FormatError) {
          try attribute.derivation?.check(attribute, of: entity, entities, relationships)
        } catch {
          problems.append(
            "'\(entity.name).\(attribute.name)' is derived no more, and keeps its values: "
              + error.reason)
          entities[position].attributes[index].derivation = nil
        }
      }
    }
  }

  // MARK: Header, counters, digests

  /// Reads the header fields that identify the store, which are stored twice.
  private func readHeader() throws {
    let kept = header
    let found = try pairs(of: TreeName.header.text, kind: .header, oldest: .earlier) { pair in
      let isField = PageKind(pair) == .header
      return isField || !pair.key.isEmpty
    }
    header = kept.merging(found.pairs.mapValues(\.body)) { copy, field in
      // Only the copy of a field has a checksum.
      if copy != field {
        self.notes.append("a field of the header is damaged; its second copy is whole")
      }
      return copy
    }
    // The fields for the format and the schema's number can be restored from the catalogue. The
    // marks for imports and the fields of later versions cannot be restored.
    let restored = UInt64(kept.count + 2)
    let isRestored = kept.count > 1 && trees[TreeName.header.text]?.entries ?? .max <= restored
    if !found.isWhole, !isRestored { problems.append("some fields of the header cannot be read") }
  }

  /// Reads the counters, and keeps only counters within their range, because a counter has no
  /// checksum.
  private func readCounters() throws {
    let found = try pairs(
      of: TreeName.counters.text, kind: .counters, oldest: .earlier, needsKind: true
    ) { !$0.key.isEmpty }
    if !found.isWhole {
      problems.append("some counters cannot be read: ids go on behind the highest found")
    }
    for (key, pair) in found.pairs {
      // The new store begins the construction of unfinished indexes again, and measures its
      // records.
      if let kind = key.first, [4, CounterKey.sizeKind, 6].contains(kind) { continue }
      let name = key._withBytes { Finding.hexadecimal($0) }
      guard let most = key._withBytes({ Self.most($0) }), pair.body.count == 8 else {
        problems.append("counter \(name) is none that the format lists")
        continue
      }
      let value = pair.body._withBytes { $0.uint64(at: 0) }
      guard (1...most).contains(value) else {
        problems.append(
          "counter \(name) says \(value), must be 1 to \(most): numbers go on behind the highest found"
        )
        continue
      }
      counters[key] = value
    }
  }

  /// The highest allowed value of a counter; `nil` for other keys.
  private static func most(_ key: ByteView) -> UInt64? {
    if CatalogueKey.entityNumber(key) != nil { return 1 << 63 }
    let isOfNumbers =
      key.elementsEqual(CounterKey.nextEntity) || key.elementsEqual(CounterKey.nextRelationship)
    return isOfNumbers ? UInt64(UInt32.max) : nil
  }

  private func readDigests() throws {
    let name = TreeName.digests.text
    let found = try pairs(of: name, kind: .digests, oldest: .current) { PageKind($0) == .digests }
    guard trees[name] != nil || !found.pairs.isEmpty else {
      if earlierTrees[name] != nil { problems.append("the digests cannot be read") }
      return
    }
    // Without the free list, an unreferenced page may have digests of an earlier commit.
    let trusted: Place = survey.isFreeListWhole ? .current : .tree
    hasAllDigests =
      found.isWhole && found.pairs.values.allSatisfy { $0.place >= trusted }
      && found.pairs.keys.allSatisfy { key in
        switch key._withBytes({ DigestedContent(key: $0) }) {
        case .records(let entity): entities.contains { $0.number == entity }
        case .links(let number): relationships.contains { $0.number == number }
        case .buckets: true
        case nil: false
        }
      }
    if !hasAllDigests {
      problems.append("some digests cannot be read: the counts alone tell what is lost")
    }
    var digests: [DigestedContent: ContentDigest] = [:]
    for (key, pair) in found.pairs where pair.place >= trusted {
      guard let content = key._withBytes({ DigestedContent(key: $0) }) else { continue }
      digests[content] = pair.body._withBytes { ContentDigest(bytes: $0) }
    }
    self.digests = digests
  }

  /// The digest of a part of the content; `nil` if it is unknown.
  ///
  /// Empty content has no digest. If the tree has entries and no digest is found, the digest is
  /// lost or its key is damaged.
  func digest(of content: DigestedContent) -> ContentDigest? {
    if let known = digests[content] { return known }
    let tree: TreeName =
      switch content {
      case .records(let entity): .records(entity: entity)
      case .links(let relationship): .links(relationship: relationship, side: .from)
      case .buckets: .buckets
      }
    return hasAllDigests && trees[tree.text]?.entries == 0 ? ContentDigest() : nil
  }

  // MARK: Unknown trees

  /// A tree that Format.md does not list.
  struct UnknownTree {
    var name: String
    var record: TreeRecord
    var hasIntegerKeys: Bool { record.flags & TreeRecordLayout.integerKeys != 0 }
    /// Whether the tree is of a kind that a store may have.
    ///
    /// Otherwise its pairs cannot be interpreted.
    var isLegal: Bool { record.flags & ~TreeRecordLayout.integerKeys == 0 }
  }

  /// The trees of later versions, ordered by name.
  var unknownTrees: [UnknownTree] {
    trees.filter { TreeName($0.key) == nil }
      .sorted { $0.key < $1.key }.map { UnknownTree(name: $0.key, record: $0.value) }
  }

  /// The record trees of entities that the catalogue lacks, with the number of records that each
  /// tree states.
  var undescribed: [(name: String, count: UInt64)] {
    trees.sorted { $0.key < $1.key }.compactMap { name, record in
      guard case .records(let number)? = TreeName(name), record.entries > 0,
        !entities.contains(where: { $0.number == number })
      else { return nil }
      return (name, record.entries)
    }
  }
}
