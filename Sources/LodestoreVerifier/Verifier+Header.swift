import LMDB
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// Checks the fields of Format.md, "Header".
  ///
  /// Unknown fields are ignored.
  ///
  /// - Throws: ``VerificationError/newerFormat(lowestReader:)``, because the rules of a newer
  ///   format are unknown.
  func verifyHeader() throws {
    guard let tree = trees[TreeName.header.text] else { return }
    let sizes: [(HeaderField, Int)] = [
      (.format, 8), (.uuid, 16), (.created, 8), (.schema, 8), (.model, 8),
    ]
    for (field, size) in sizes {
      guard let body = try transaction.get(field.key, in: tree) else {
        if field != .model { addHeader(field, .headerFields, "the field is missing") }
        continue
      }
      guard body.count == size else {
        addHeader(field, .headerFields, "has \(body.count) bytes, must have \(size)")
        continue
      }
      switch field {
      case .format:
        let requirement = try FormatRequirement(bytes: body)
        if requirement.lowestReader > FormatVersion.current.rawValue {
          throw VerificationError.newerFormat(lowestReader: requirement.lowestReader)
        }
        if requirement.lowestReader == 0 || requirement.lowestWriter == 0 {
          addHeader(
            field, .headerVersions,
            "is \(requirement.lowestReader) and \(requirement.lowestWriter), versions begin at 1")
        }
      case .created:
        if !Double(bitPattern: body.uint64(at: 0)).isFinite {
          addHeader(field, .headerCreated, "is not a date")
        }
      case .schema:
        if body.uint64(at: 0) > 1 << 62 {
          addHeader(field, .headerSchema, "is \(body.uint64(at: 0)), at most 2^62")
        }
      case .uuid, .model: break
      }
    }
    try verifyChangeMarks()
  }

  /// Checks the header fields that hold one entity's mark for imports.
  private func verifyChangeMarks() throws {
    let name = TreeName.header.text
    guard let tree = trees[name] else { return }
    try walk(tree) { key, body in
      guard let entity = HeaderField.changedEntity(key), body.count != 8 else { return }
      add(
        .header, .headerMark, tree: name, subject: "changes.\(entity)",
        "has \(body.count) bytes, must have 8")
    }
  }

  /// Checks that the header requires the versions of all features that the store uses.
  ///
  /// Call it after the catalogue, which lists the features. The header may require more, because
  /// its numbers are never lowered.
  func verifyRequirement() throws {
    guard let tree = trees[TreeName.header.text],
      let body = try transaction.get(HeaderField.format.key, in: tree),
      let stored = try? FormatRequirement(bytes: body)
    else { return }
    var features = entities.reduce(into: Set<FormatFeature>()) { $0.formUnion($1.features) }
    if !relationships.isEmpty { features.insert(.relationship) }
    if try entities.contains(where: hasVectorLists) { features.insert(.vectorLists) }
    let names = trees.keys.compactMap { TreeName($0) }
    let needed = FormatRequirement(of: names.reduce(into: features) { $0.formUnion($1.features) })
    guard stored.raised(to: needed) != stored else { return }
    addHeader(
      .format, .headerRequirement,
      "is \(stored.lowestReader) and \(stored.lowestWriter), what the store uses needs at least "
        + "\(needed.lowestReader) and \(needed.lowestWriter)")
  }

  private func hasVectorLists(_ entity: EntityDescription) throws -> Bool {
    try entity.computedIndexes.contains { index in
      guard index.kind == .vector else { return false }
      return try trees[index.tree(of: entity.number).text].map {
        try transaction.get(VectorForm.key(.groups, 0), in: $0) != nil
      } ?? false
    }
  }

  private func addHeader(_ field: HeaderField, _ rule: FormatRule, _ detail: String) {
    add(.header, rule, tree: TreeName.header.text, subject: field.rawValue, detail)
  }

  /// Checks the rules of Format.md, "Counters".
  ///
  /// Call it after the catalogue, whose entities the counters belong to.
  func verifyCounters() throws {
    let name = TreeName.counters.text
    guard let tree = trees[name] else { return }
    func add(_ key: some Collection<UInt8>, _ rule: FormatRule, _ detail: @autoclosure () -> String)
    {
      self.add(.counter, rule, tree: name, key: key, detail())
    }
    let numbers = Set(entities.map(\.number)).union(unreadableEntities)
    let building = Set(
      entities.flatMap { entity in
        entity.building.map { CounterKey.building(entity: entity.number, index: $0.number) }
          + entity.buildingComputed.map {
            CounterKey.buildingComputed(entity: entity.number, index: $0.number)
          }
      })
    let sizes = Set(
      (entities.filter(\.keepsSize).map(\.number) + unreadableEntities).map(CounterKey.size))
    var nextEntity: UInt64?
    var nextRelationship: UInt64?
    var counted: [EntityNumber] = []
    var hasNextEntity = false
    try walk(tree) { key, body in
      let isNextEntity = key.elementsEqual(CounterKey.nextEntity)
      let isNextRelationship = key.elementsEqual(CounterKey.nextRelationship)
      let entity = CatalogueKey.entityNumber(key)
      let isOfBuilding = building.contains(Array(key))
      let isSize = sizes.contains(Array(key))
      guard isNextEntity || isNextRelationship || isOfBuilding || isSize || entity != nil else {
        return add(key, .counterKey, "the key is none of a counter")
      }
      if isNextEntity { hasNextEntity = true }
      guard body.count == 8 else {
        return add(key, .counterLength, "has \(body.count) bytes, must have 8")
      }
      let value = body.uint64(at: 0)
      if isNextEntity { nextEntity = value }
      if isNextRelationship { nextRelationship = value }
      if isOfBuilding, !CounterKey.builtRange.contains(value) {
        add(key, .counterBuilding, "the index is built up to \(value), must be from 1 to 2^63")
      }
      if let entity {
        guard entity >= 1 else {
          return add(key, .counterKey, "counts records of entity 0, entity numbers begin at 1")
        }
        counted.append(entity)
        if value == 0 { add(key, .counterRecord, "is 0, record ids begin at 1") }
        if value > 1 << 63 { add(key, .counterRecord, "is \(value), record ids are below 2^63") }
      }
    }
    if let highest = numbers.max(), nextEntity ?? 1 <= UInt64(highest.rawValue) {
      add(
        CounterKey.nextEntity, .counterNumbers,
        "the next entity is \(nextEntity ?? 1), must be above entity \(highest)")
    }
    for (key, number) in [
      (CounterKey.nextEntity, nextEntity), (CounterKey.nextRelationship, nextRelationship),
    ] {
      guard let number else { continue }
      if number == 0 { add(key, .counterNumbers, "is 0, numbers begin at 1") }
      if number > UInt64(UInt32.max) {
        add(key, .counterNumbers, "is \(number), numbers have 32 bits")
      }
    }
    if let highest = relationships.map(\.number).max(), nextRelationship ?? 1 <= UInt64(highest) {
      add(
        CounterKey.nextRelationship, .counterNumbers,
        "the next relationship is \(nextRelationship ?? 1), must be above relationship \(highest)"
      )
    }
    for entity in counted
    where UInt64(entity.rawValue) >= nextEntity ?? (hasNextEntity ? UInt64(UInt32.max) + 1 : 1) {
      add(
        CounterKey.nextRecord(entity: entity), .counterEntity,
        "counts records of entity \(entity), the next entity is \(nextEntity ?? 1)")
    }
  }
}
