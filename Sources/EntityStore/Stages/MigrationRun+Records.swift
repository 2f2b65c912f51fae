internal import LMDB
internal import LodestoreFormat

extension MigrationRun {
  /// The maximum number of ids that are read into memory at once.
  ///
  /// The records themselves are read and rewritten one at a time.
  private static let round = 1 << 16

  /// Rewrites all records of `old` in the current layout of `new`; `body` converts the values of
  /// each.
  ///
  /// Indexes in both descriptions must not contain attributes whose values change.
  func rewrite(
    _ old: EntityDescription, as new: EntityDescription, _ body: (UInt64, [Value]) throws -> [Value]
  ) throws {
    let before = try stored(old)
    let after = try stored(new)
    let core = store.writing(transaction, only: after, checksRules: false)
    let changes = core.changes(of: after)
    let source = EntityChanges(of: before, core: core)
    touched.insert(new.number)
    try changes.withUpdateBatch(setting: SetAttributes(ofStage: core)) { batch in
      var next: UInt64 = 0
      while true {
        let ids = try ids(from: next, of: after)
        guard let last = ids.last else { return }
        try core.forEachChangeable(ids, of: after) { id, cursor in
          let replaced = try source.stored(cursor.reads.value, id: id)
          let values: [Value]
          do {
            let stored = try source.values(of: replaced)
            values = try body(id, stored)
            if !zip(values, stored).allSatisfy({ $0.hasSameBytes(as: $1) }) {
              rules?.note(id, of: new.number)
            }
          } catch let error as FormatError {
            throw StoreError.damagedRecord(entity: old.name, recordID: id, error)
          }
          let record = try changes.prepare(try changes.ofStage(values), id: id)
          try batch.replace(replaced, with: record, at: cursor)
          try work?.step()
        }
        // No record can follow the highest number, which is an id only in a damaged file.
        guard last < .max else { return }
        next = last + 1
      }
    }
  }

  /// Returns the ids of the next records, starting with `first`; empty at the end.
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

  /// Fills the indexes of `new` whose numbers are in `numbers`.
  ///
  /// A unique index with repeated keys is postponed to the end of the stage, because a later step
  /// may merge the records.
  func build(_ numbers: Set<UInt32>, of new: EntityDescription) throws {
    let after = try stored(new)
    let core = store.writing(transaction, only: after)
    let held = try linkAttributes(of: new)
    var left: [EntityDescription.Index] = []
    for index in after.indexes where numbers.contains(index.description.number) {
      do throws(StoreError) {
        try core.build(index, of: after, work)
      } catch {
        // A relationship needs the index of its attribute, so this index cannot be postponed.
        guard error.code == .incompatibleSchema, index.isUnique,
          Set(index.description.attributes).isDisjoint(with: held)
        else { throw error }
        left.append(index.description)
      }
    }
    guard !left.isEmpty else { return }
    var description = new
    description.indexes.removeAll { left.contains($0) }
    try put(description)
    deferredIndexes.append(contentsOf: left.map { (entity: new.number, index: $0) })
  }

  /// Returns the numbers of an entity's attributes that hold relationships.
  private func linkAttributes(of entity: EntityDescription) throws -> Set<UInt32> {
    Set(try relationships().filter { $0.from.entity == entity.number }.compactMap(\.attribute))
  }

  /// Builds the postponed unique indexes, at the end of a stage.
  ///
  /// - Throws: ``StoreError/Code/incompatibleSchema`` when keys are still repeated.
  func buildDeferredIndexes() throws {
    let left = deferredIndexes
    deferredIndexes = []
    for (number, index) in left {
      guard var entity = try entities().first(where: { $0.number == number }),
        index.attributes.allSatisfy({ entity.attribute(number: $0)?.isRemoved == false })
      else { continue }
      entity.indexes = (entity.indexes + [index]).sorted { $0.number < $1.number }
      try put(entity)
      let after = try stored(entity)
      let core = store.writing(transaction, only: after)
      for built in after.indexes where built.description.number == index.number {
        try core.build(built, of: after, work)
      }
    }
  }

  // MARK: Steps that change records

  /// Changes the type of an attribute, which keeps its name and gets a new number.
  ///
  /// - Parameters:
  ///   - asksForNull: whether null is passed to `conversion`. Otherwise null stays null, and an
  ///     optional attribute optional.
  ///   - conversion: returns `nil` for a value that cannot be converted.
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
    guard try !linkAttributes(of: old).contains(attribute.number) else {
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
    // All stored records are rewritten with converted values, so this value applies only to records
    // inserted later.
    let initial: Value =
      attribute.defaultValue == .null ? .null : (try? conversion(attribute.defaultValue)) ?? .null
    var successor = attribute
    successor.number = number
    successor.type = storage.type
    successor.isOptional = storage.isOptional
    successor.shape = storage.shape
    successor.members = storage.members
    successor.initial = initial.fits(storage.type) ? initial : .null
    successor.changedDefault = nil
    successor.constraints =
      attribute.type.widens(to: storage.type)
      ? attribute.constraints.converted(conversion, to: storage.type) : AttributeConstraints()
    new.attributes.append(successor)
    // The new attribute takes the position of the old one.
    let order = old.layout.attributes.map { $0.number == attribute.number ? number : $0.number }
    new.setCurrentLayout(order)
    try dropComputedIndexes(over: [attribute.number], of: &new)
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
      // A derivation that does not fit the new type is not refused here, but when the declared
      // types are applied at the end.
      if redirect(attribute.number, to: number, of: new.number, in: &other, relationships) {
        try put(other)
      }
    }
    try build(rebuilt, of: new)
  }

  /// Replaces the indexes on an attribute by indexes on another one; returns their new numbers.
  private func replaceIndexes(
    of new: inout EntityDescription, over attribute: UInt32, by number: UInt32
  ) throws -> Set<UInt32> {
    // After the highest number, the next number is 0, which the catalogue refuses.
    let left = deferredIndexes.filter { $0.entity == new.number }.map(\.index.number)
    var next = ((new.indexes.map(\.number) + left).max() ?? 0) &+ 1
    for position in deferredIndexes.indices where deferredIndexes[position].entity == new.number {
      deferredIndexes[position].index.attributes = deferredIndexes[position].index.attributes.map {
        $0 == attribute ? number : $0
      }
    }
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
    // If the new type cannot be indexed, the attribute loses its indexes.
    guard new.attribute(number: number)?.type.isIndexable == false else { return rebuilt }
    new.indexes.removeAll { rebuilt.contains($0.number) }
    return []
  }

  /// Redirects derived attributes of `description` from one attribute of `entity` to another;
  /// returns whether any was redirected.
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
    new.setCurrentLayout()
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

  func toMany(_ name: String, of entity: String, as relationship: String) throws {
    let description = try self.entity(entity)
    let number = description.attributes[try self.index(of: name, in: description)].number
    let held = try relationships().first {
      $0.from.entity == description.number && $0.attribute == number
    }
    guard let held else {
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
    try store.trees.remove(held, in: transaction)
    try remove(name, of: entity)
  }
}

/// The values that could not be converted; the error lists the first ten.
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
        + (cause.map { " (\($0))" } ?? "") + "; convert such values with a closure",
      entity: entity, attribute: attribute, recordID: first.id, cause: cause)
    error.privateDetail = found.map(\.detail).joined(separator: ", ")
    throw error
  }
}

extension AttributeConstraints {
  /// The bounds as values of a wider type; removed when one of them cannot be converted.
  fileprivate func converted(
    _ conversion: (Value) throws -> Value?, to type: AttributeType
  ) -> AttributeConstraints {
    var result = self
    for bound in [\AttributeConstraints.minimum, \AttributeConstraints.maximum]
    where self[keyPath: bound] != .null {
      guard let value = try? conversion(self[keyPath: bound]), value.fits(type) else {
        return AttributeConstraints()
      }
      result[keyPath: bound] = value
    }
    return result
  }
}
