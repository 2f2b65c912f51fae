internal import LMDB
internal import LodestoreFormat

extension MigrationRun {
  /// So many records are read before they are written again.
  private static let round = 1 << 16

  /// Writes all records of `old` in the current layout of `new`, with the values that `body` makes of those
  /// of each.
  ///
  /// Indexes that both descriptions have must not be over attributes whose values change.
  func rewrite(
    _ old: EntityDescription, as new: EntityDescription,
    _ body: (UInt64, [Value]) throws -> [Value]
  ) throws {
    let before = try stored(old)
    let after = try stored(new)
    let core = TransactionCore(
      transaction: transaction, schema: StoredSchema(number: .unread, entities: [after]),
      store: store, isWrite: true)
    let changes = core.changes(of: after)
    let source = EntityChanges(of: before, core: core)
    touched.insert(new.number)
    var next: UInt64 = 0
    while true {
      let ids = try ids(from: next, of: after)
      guard let last = ids.last else { break }
      try core.forEachStored(ids, of: after) { id, cursor in
        let view = try source.stored(cursor.value, id: id, isCarriedOver: true)
        let values: [Value]
        do {
          values = try body(id, try before.values(of: view))
        } catch let error as FormatError {
          throw StoreError.damagedRecord(entity: old.name, recordID: id, error)
        }
        var record = try changes.content(of: values)
        try record.withUnsafeMutableBytes { bytes in
          _ = changes.seal(bytes.recordContent, id: id)
          try changes.replace(at: cursor, with: UnsafeRawBufferPointer(bytes))
        }
        try work?.step()
      }
      // There is none behind it; no sound file has it.
      guard last < .max else { break }
      next = last + 1
    }
    try core.noteChange(of: after)
  }

  /// The ids of the next records, from `first` on; none at the end.
  private func ids(from first: UInt64, of entity: StoredEntity) throws -> [UInt64] {
    let cursor = try Cursor(entity.records, in: transaction)
    var ids: [UInt64] = []
    var found = try cursor.seek(atOrAfter: first)
    while found, ids.count < Self.round {
      ids.append(cursor.integerKey)
      found = try cursor.next()
    }
    return ids
  }

  /// Fills the indexes of `new` with these numbers.
  func build(_ numbers: Set<UInt32>, of new: EntityDescription) throws {
    let after = try stored(new)
    let core = TransactionCore(
      transaction: transaction, schema: StoredSchema(number: .unread, entities: [after]),
      store: store, isWrite: true)
    for index in after.indexes where numbers.contains(index.description.number) {
      try core.build(index, of: after, work)
    }
  }

  // MARK: Steps

  /// Gives an attribute another type, under its name and with a new number.
  ///
  /// - Parameters:
  ///   - asksForNull: whether null is given to `conversion`; otherwise it stays null, and an optional attribute
  ///     optional.
  ///   - conversion: `nil` for a value that does not convert.
  func convert(
    _ name: String, of entity: String, to storage: AttributeStorage, asksForNull: Bool = false,
    _ conversion: (Value) throws -> Value?
  ) throws {
    let old = try self.entity(entity)
    let position = try self.index(of: name, in: old)
    let attribute = old.attributes[position]
    var storage = storage
    if attribute.isOptional, !asksForNull { storage.isOptional = true }
    guard attribute.derivation == nil else {
      throw StoreError.cannotMigrate("'\(entity).\(name)' is derived", entity: entity)
    }
    guard
      try !relationships().contains(where: {
        $0.from.entity == old.number && $0.attribute == attribute.number
      })
    else {
      throw StoreError.cannotMigrate("'\(entity).\(name)' is a relationship", entity: entity)
    }
    var failures = ConversionFailures(entity: entity, attribute: name, to: storage)
    func converted(_ value: Value, _ id: UInt64?) throws -> Value {
      if value == .null, !asksForNull, storage.isOptional { return .null }
      do {
        if let new = try conversion(value),
          new == .null ? storage.isOptional : new.fits(storage.type)
        {
          return new
        }
        try failures.add(id, value)
      } catch let error as StoreError {
        throw error
      } catch {
        try failures.add(id, value, error)
      }
      return storage.isOptional ? .null : .placeholder(of: storage.type)
    }
    var new = old
    new.attributes[position].isRemoved = true
    let number = (old.attributes.map(\.number).max() ?? 0) + 1
    let initial: Value =
      attribute.initial == .null ? .null : (try? conversion(attribute.initial)) ?? .null
    new.attributes.append(
      .init(
        number: number, name: name, type: storage.type, isOptional: storage.isOptional,
        shape: storage.shape, initial: initial.fits(storage.type) ? initial : .null))
    // In its place among the others.
    let order = old.layout.attributes.map { $0.number == attribute.number ? number : $0.number }
    new.settleLayout(order)
    try dropElementIndexes(over: [attribute.number], of: &new)
    let rebuilt = try replaceIndexes(of: &new, over: attribute.number, by: number)
    let index = old.layout.slotIndex(ofAttribute: attribute.number) ?? 0
    try rewrite(old, as: new) { id, values in
      var values = values
      values[index] = try converted(values[index], id)
      return values
    }
    try failures.check()
    let relationships = try relationships()
    _ = redirect(attribute.number, to: number, of: new.number, in: &new, relationships)
    try put(new)
    for var other in try entities() where other.number != new.number {
      // What does not fit any more is told with the declared types.
      if redirect(attribute.number, to: number, of: new.number, in: &other, relationships) {
        try put(other)
      }
    }
    try build(rebuilt, of: new)
  }

  /// Gives the indexes over an attribute new numbers, over another attribute in its place; returns those.
  private func replaceIndexes(
    of new: inout EntityDescription, over attribute: UInt32, by number: UInt32
  ) throws -> Set<UInt32> {
    // A number that is used up becomes 0, which the catalogue refuses.
    var next = (new.indexes.map(\.number).max() ?? 0) &+ 1
    var rebuilt: Set<UInt32> = []
    for position in new.indexes.indices where new.indexes[position].attributes.contains(attribute) {
      try empty(new.indexes[position], of: new)
      new.unknownMembers[.index(next)] = new.unknownMembers[.index(new.indexes[position].number)]
      new.indexes[position].number = next
      new.indexes[position].attributes = new.indexes[position].attributes.map {
        $0 == attribute ? number : $0
      }
      rebuilt.insert(next)
      next &+= 1
    }
    // What cannot be indexed any more has no index.
    guard new.attribute(number: number)?.type.isIndexable == false else { return rebuilt }
    new.indexes.removeAll { rebuilt.contains($0.number) }
    return []
  }

  /// Has derived attributes of `description` that are made of one attribute of `entity` made of
  /// another one; returns whether there are any.
  private func redirect(
    _ attribute: UInt32, to number: UInt32, of entity: EntityNumber,
    in description: inout EntityDescription, _ relationships: [RelationshipDescription]
  ) -> Bool {
    var isChanged = false
    for position in description.attributes.indices {
      guard let derivation = description.attributes[position].derivation,
        derivation.source == attribute
      else { continue }
      let owner = relationships.first { $0.number == derivation.relationship }
        .flatMap { relationship in derivation.side.map { relationship[$0.opposite].entity } }
      guard (owner ?? description.number) == entity else { continue }
      description.attributes[position].derivation?.source = number
      isChanged = true
    }
    return isChanged
  }

  func require(_ name: String, of entity: String, default value: Value) throws {
    let old = try self.entity(entity)
    let position = try self.index(of: name, in: old)
    let attribute = old.attributes[position]
    guard value != .null else {
      throw StoreError.cannotMigrate(
        "the default of '\(entity).\(name)' is null, and it is to be required", entity: entity)
    }
    guard attribute.isOptional else { return }
    var new = old
    new.attributes[position].isOptional = false
    if attribute.initial == .null { new.attributes[position].initial = value }
    new.settleLayout()
    let concerned = new.indexes.filter { $0.attributes.contains(attribute.number) }
    for index in concerned { try empty(index, of: old) }
    let index = old.layout.slotIndex(ofAttribute: attribute.number) ?? 0
    try rewrite(old, as: new) { _, values in
      guard values[index] == .null else { return values }
      var values = values
      values[index] = value
      return values
    }
    try put(new)
    try build(Set(concerned.map(\.number)), of: new)
  }

  func map(_ name: String, _ change: (inout MigratedRecord) throws -> Void) throws {
    let entity = try self.entity(name)
    for index in entity.indexes { try empty(index, of: entity) }
    let names = MigratedRecord.Names(entity)
    try rewrite(entity, as: entity) { id, values in
      var record = MigratedRecord(id: id, names, values)
      do {
        try change(&record)
      } catch {
        throw StoreError.cannotMigrate(
          "the step on \(name) \(id) failed: \(error)", entity: name, recordID: id, cause: error)
      }
      return try record.checkedValues()
    }
    try build(Set(entity.indexes.map(\.number)), of: entity)
  }

  func deduplicate(
    _ name: String, by attributes: [String],
    _ survivor: (MigratedRecord, MigratedRecord) throws -> MigrationStep.Survivor
  ) throws {
    let description = try entity(name)
    let numbers = try attributes.map {
      description.attributes[try self.index(of: $0, in: description)].number
    }
    let core = try core()
    let entity = try core.entity(named: name)
    let index = StoredIndex(
      description: .init(number: 0, attributes: numbers, isUnique: true), tree: entity.records,
      name: name, entityName: name)
    let entries = IndexEntries(
      of: index, of: entity, expectedCount: try core.count(of: entity),
      memoryLimit: store.options.batchMemoryInBytes, core: core)
    let keys = BatchKeys(of: entity, in: [index])
    let changes = core.changes(of: entity)
    try core.forEachStored(of: entity) { (id, bytes) throws(StoreError) in
      try entries.append(try changes.stored(bytes, id: id), id: id, keys, at: 0, core: core)
      try work?.step()
    }
    try entries.sort()
    let names = MigratedRecord.Names(description)
    func record(_ id: UInt64) throws -> MigratedRecord {
      guard let bytes = try core.record(id, of: entity) else {
        throw StoreError.noSuchRecord(entity: name, id: id)
      }
      return MigratedRecord(id: id, names, try entity.values(of: try entity.view(bytes, id: id)))
    }
    var gone: [UInt64] = []
    var last: (key: [UInt8], id: UInt64)?
    try entries.sorted.forEach { key, id in
      guard let held = last, held.key.elementsEqual(key) else {
        last = (Array(key), id)
        return true
      }
      let (first, second) = (min(held.id, id), max(held.id, id))
      let stays = try survivor(try record(first), try record(second)) == .first ? first : second
      gone.append(stays == first ? second : first)
      last = (held.key, stays)
      return true
    }
    IDSort.sort(&gone)
    _ = try core.delete(gone, of: entity)
    try end(core)
  }

  func toMany(_ name: String, of entity: String, as relationship: String) throws {
    let description = try self.entity(entity)
    let number = description.attributes[try self.index(of: name, in: description)].number
    guard
      let held = try relationships().first(where: {
        $0.from.entity == description.number && $0.attribute == number
      })
    else {
      throw StoreError.cannotMigrate("'\(entity).\(name)' is no relationship", entity: entity)
    }
    let core = try core()
    let source = try core.entity(named: entity)
    var pairs: [(UInt64, UInt64)] = []
    try core.forEachRecord(of: source) { (id, view) throws(StoreError) in
      if let target = try source.recordID(ofAttribute: number, in: view) {
        pairs.append((id, target))
      }
      try work?.step()
    }
    links.append(
      MigratedLinks(
        source: description.number, target: held.to.entity, relationship: relationship,
        pairs: pairs, orders: try orders(of: held, core)))
    try store.empty(held.trees, in: transaction)
    try Catalogue.remove(held, store.trees, in: transaction)
    try remove(name, of: entity)
  }
}

extension EntityDescription {
  /// Has new records written in a layout of the attributes with these numbers.
  mutating func settleLayout(_ order: [UInt32]) {
    let wanted = order.compactMap { number in
      attribute(number: number).map {
        RecordLayout.Attribute(number: number, type: $0.type, isOptional: $0.isOptional)
      }
    }
    let number = (layouts.map(\.number).max() ?? 0) + 1
    layouts.append(RecordLayout(number: number, attributes: wanted))
    currentLayout = number
  }
}

/// The values that did not convert: the first ten are told.
private struct ConversionFailures {
  let entity: String
  let attribute: String
  let to: AttributeStorage
  private var found: [(id: UInt64?, detail: String)] = []
  private var cause: (any Error)?
  private static let most = 10

  init(entity: String, attribute: String, to: AttributeStorage) {
    self.entity = entity
    self.attribute = attribute
    self.to = to
  }

  mutating func add(_ id: UInt64?, _ value: Value, _ error: (any Error)? = nil) throws {
    found.append((id, KeyText.detail(of: value)))
    cause = cause ?? error
    if found.count >= Self.most { try check() }
  }

  func check() throws {
    guard let first = found.first else { return }
    let records = found.map { $0.id.map(String.init) ?? "the initial value" }
    let more = found.count >= Self.most ? " and perhaps more" : ""
    var error = StoreError.cannotMigrate(
      "'\(entity).\(attribute)' does not convert to \(to.isOptional ? "" : "a required ")"
        + "\(to.type.name) in record\(found.count == 1 ? "" : "s") "
        + records.joined(separator: ", ") + more
        + (cause.map { " (\($0))" } ?? "") + "; say by a closure what becomes of such values",
      entity: entity, attribute: attribute, recordID: first.id, cause: cause)
    error.privateDetail = found.map(\.detail).joined(separator: ", ")
    throw error
  }
}
