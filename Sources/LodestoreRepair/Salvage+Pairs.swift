internal import EntityStore
internal import LodestoreBytes
internal import LodestoreFormat
internal import LodestorePages

// Buckets, imports, the history, the header, and content of later versions.

extension Salvage {
  /// The maximum number of trees of later versions to copy.
  ///
  /// Each open tree makes LMDB slower, and a damaged file may name any number of trees.
  private static let mostTrees = 256

  /// Visits the pairs of a tree, and reports how many could not be read.
  ///
  /// An intact tree is read page by page. The pairs of a damaged one are in memory.
  private func forEachPair(
    of name: TreeName, kind: PageKind, content: DigestedContent?, oldest: DamagedStore.Place,
    countedIn part: inout RepairReport.Part, where isPair: (DamagedFile.Pair) -> Bool,
    visit: ([UInt8], [UInt8]) throws -> Void
  ) throws {
    let target = content.flatMap { store.digest(of: $0) }
    func number(_ pair: DamagedFile.Pair) -> ContentDigest {
      content.flatMap { ContentDigest(of: $0, key: pair.key, body: pair.body) } ?? ContentDigest()
    }
    if let record = store.trees[name.text] {
      var sum = ContentDigest()
      var isGood = true
      let counts = try store.file.walk(record) { leaf in
        for pair in leaf.pairs {
          guard let pair, isPair(pair) else {
            isGood = false
            continue
          }
          sum += number(pair)
        }
        return true
      }
      let isWhole = counts.fit(record) && store.wholeTrees.contains(name.text)
      if isGood, target.map({ $0 == sum }) ?? isWhole {
        try store.file.forEachPair(of: record) { pair in
          part.saved += 1
          try visit(Array(pair.key), Array(pair.body))
        }
        return
      }
    }
    let found = try store.pairs(of: name.text, kind: kind, oldest: oldest, isPair)
    var sum = ContentDigest()
    for (key, pair) in found.pairs.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      part.saved += 1
      if pair.place < .tree { part.orphans += 1 }
      if pair.place < .current { part.older += 1 }
      key._withBytes { key in
        pair.body._withBytes { body in
          if let content, let one = ContentDigest(of: content, key: key, body: body) { sum += one }
        }
      }
      try visit(key, pair.body)
    }
    let isAbsent = store.trees[name.text] == nil && name.isOptional && part.saved == 0
    part.isWhole = target.map { $0 == sum } ?? (found.isWhole || isAbsent)
    if part.isWhole {
      part.older = 0
    } else {
      part.missing = found.missing
      part.damaged = min(found.damaged, found.missing)
      part.missing -= part.damaged
    }
  }

  private static func isSealed(_ pair: DamagedFile.Pair) -> Bool {
    (try? Checksum.unsealed(key: pair.key, body: pair.body)) != nil
  }

  /// Whether a pair with a valid checksum is a state that an importer stores.
  private static func isImport(_ pair: DamagedFile.Pair) -> Bool {
    guard isSealed(pair), ImportKey.split(pair.key) != nil else { return false }
    return (try? Document(decoding: pair.body[4...])) != nil
  }

  func carryPairs(into rebuild: StoreRebuild, _ report: inout RepairReport) throws {
    for (tree, kind) in [(TreeName.buckets, RepairReport.Kind.buckets), (.imports, .imports)] {
      var part = RepairReport.Part(kind)
      var batch = PairBatch<[UInt8]>()
      let isWhole = store.wholeTrees.contains(tree.text)
      try forEachPair(
        of: tree, kind: .sealed, content: DigestedContent(of: tree), oldest: .earlier,
        countedIn: &part,
        where: { pair in
          if tree == .imports { return Self.isImport(pair) }
          // In an unreferenced page, a pair of the tree of imports cannot be distinguished from a
          // pair of a bucket.
          return Self.isSealed(pair) && BucketKey.split(pair.key) != nil
            && (isWhole || !Self.isImport(pair))
        },
        visit: { key, body in
          batch.add(key, body)
          if batch.isFull { try rebuild.put(batch.take(), in: tree) }
        })
      try rebuild.put(batch.take(), in: tree)
      if part.saved > 0 || !part.isWhole { report.parts.append(part) }
    }
  }

  /// Copies the history if it is intact.
  ///
  /// Returns false if the store had a history that was not copied.
  func carryHistory(into rebuild: StoreRebuild, _ report: inout RepairReport) throws -> Bool {
    var part = RepairReport.Part(.history)
    var batch = PairBatch<[UInt8]>()
    var counts: [String: Int] = [:]
    let keeps = try isHistoryWhole()
    try forEachPair(
      of: .history, kind: .history, content: nil, oldest: .current, countedIn: &part,
      where: { PageKind($0) == .history },
      visit: { key, body in
        switch key._withBytes({ HistoryKey($0) }) {
        case .part(_, let part): if part == 0 { counts["writes", default: 0] += 1 }
        case .image: counts["images", default: 0] += 1
        case .tombstone: counts["preserved values", default: 0] += 1
        case .consumer: counts["marks of consumers", default: 0] += 1
        case .purged, nil: break
        }
        guard keeps else { return }
        batch.add(key, body)
        if batch.isFull { try rebuild.putHistory(batch.take()) }
      })
    if keeps {
      try rebuild.putHistory(batch.take())
    } else {
      part.isWhole = false
      part.missing += part.saved
      part.saved = 0
      addProblem(
        "history: begins anew, as it is not whole; not carried are "
          + ["writes", "images", "preserved values", "marks of consumers"]
          .map { "\(counts[$0] ?? 0) \($0)" }.joined(separator: ", "))
    }
    if part.saved > 0 || !part.isWhole { report.parts.append(part) }
    return keeps
  }

  /// Whether the tree of the history has all of its pairs, and its writes are consecutive.
  private func isHistoryWhole() throws -> Bool {
    guard carriesHistory else { return false }
    let found = try store.pairs(
      of: TreeName.history.text, kind: .history, oldest: .current
    ) { PageKind($0) == .history }
    if store.trees[TreeName.history.text] == nil {
      // If the tree's name is lost, the catalogue still shows that a history existed.
      return found.pairs.isEmpty && store.entities.allSatisfy { $0.history == nil }
    }
    return found.isWhole
  }

  /// A number in the header.
  func number(of field: HeaderField) -> UInt64? {
    guard let bytes = store.header[field.key] else { return nil }
    guard bytes.count == 8 else {
      addProblem("the header's field '\(field.rawValue)' has \(bytes.count) bytes, must have 8")
      return nil
    }
    return bytes._withBytes { $0.uint64(at: 0) }
  }

  /// The header fields for the new store.
  ///
  /// An entity's mark states that the records of the entity did not change since an import last
  /// relied on them. The mark is removed if records are lost.
  func header(isSame: Bool, _ report: RepairReport) -> [(key: [UInt8], body: [UInt8])] {
    store.header.filter { key, body in
      if key == HeaderField.uuid.key { return isSame && body.count == 16 }
      if key == HeaderField.created.key {
        return body.count == 8 && body._withBytes { Double(bitPattern: $0.uint64(at: 0)).isFinite }
      }
      guard let entity = key._withBytes({ HeaderField.changedEntity($0) }), body.count == 8
      else { return false }
      let name = store.entities.first { $0.number == entity }?.name
      return report.parts.allSatisfy { part in
        part.isWhole || part.kind == .records && part.name != name
      } && hasNoProblems
    }.map { (key: $0.key, body: $0.value) }
  }

  // MARK: Unknown content

  /// Copies content that the format does not list, unchanged.
  ///
  /// A later version may derive such content from the records, which may differ now. If the file
  /// requires a later version, this content is therefore left out and reported as lost.
  func carryUnknown(into rebuild: StoreRebuild) throws {
    let known = FormatVersion.current.rawValue
    let requirement =
      store.header[HeaderField.format.key].flatMap { bytes in
        bytes._withBytes { try? FormatRequirement(bytes: $0) }
      } ?? FormatRequirement(lowestReader: 1, lowestWriter: 1)
    let isLater = max(requirement.lowestReader, requirement.lowestWriter) > known
    let fields = store.header.filter { key, _ in
      key._withBytes { HeaderField.changedEntity($0) } == nil
        && HeaderField(rawValue: String(decoding: key, as: UTF8.self)) == nil
    }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    if isLater {
      addProblem(
        "the header asks for readers of version \(requirement.lowestReader) and writers of "
          + "version \(requirement.lowestWriter), this tool knows \(known): what they keep is not "
          + "carried")
      for field in fields {
        addProblem("the header's field \(Self.name(field.key)) is not carried")
      }
      for description in store.unknownDescriptions {
        addProblem("the description \(Finding.hexadecimal(description.key)) is not carried")
      }
    } else {
      try rebuild.putUnknown(
        fields: fields.map { (key: $0.key, body: $0.value) },
        descriptions: store.unknownDescriptions)
    }
    for (place, tree) in store.unknownTrees.enumerated() {
      guard !isLater, tree.isLegal, place < Self.mostTrees else {
        addProblem("tree \(Self.name(Array(tree.name.utf8))) is not carried")
        continue
      }
      try carry(tree, into: rebuild)
    }
    for tree in store.undescribed {
      addProblem("\(tree.count) records of '\(tree.name)' have no description that can be read")
    }
  }

  private func carry(_ tree: DamagedStore.UnknownTree, into rebuild: StoreRebuild) throws {
    var batch = PairBatch<[UInt8]>()
    func put() throws {
      try rebuild.putUnknown(batch.take(), in: tree.name, hasIntegerKeys: tree.hasIntegerKeys)
    }
    var isWhole = true
    let counts = try store.file.walk(tree.record) { leaf in
      for pair in leaf.pairs {
        guard let pair,
          tree.hasIntegerKeys
            ? pair.key.count == PageLayout.idSize
            : (1...PageLayout.longestKey).contains(pair.key.count)
        else {
          isWhole = false
          continue
        }
        batch.add(Array(pair.key), Array(pair.body))
        if batch.isFull { try put() }
      }
      return true
    }
    // Create the tree even without pairs, because its existence may have a meaning.
    try put()
    if !isWhole || !counts.fit(tree.record) {
      addProblem("some pairs of tree \(Self.name(Array(tree.name.utf8))) cannot be read")
    }
  }

  /// A name in one printable line, whatever it contains.
  private static func name(_ bytes: [UInt8]) -> String {
    let text = String(decoding: bytes, as: UTF8.self).unicodeScalars.map { scalar in
      scalar.properties.generalCategory == .control
        ? "\\u{\(String(scalar.value, radix: 16))}" : "\(scalar)"
    }
    return "'" + text.joined() + "'"
  }
}
