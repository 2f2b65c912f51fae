internal import LodestoreFormat

/// A record in a step of a migration; its attributes are accessed by name.
public struct MigratedRecord {
  /// The names and the positions of an entity's attributes, shared by all its records.
  final class Names {
    let entity: EntityDescription
    let attributes: [EntityDescription.Attribute]
    let positions: [String: Int]
    /// The first error of a closure, which ends the migration.
    private(set) var failure: StoreError?

    init(_ entity: EntityDescription) {
      self.entity = entity
      attributes = entity.declaredAttributes
      positions = Dictionary(
        attributes.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    func fail(_ error: StoreError) { failure = failure ?? error }

    func check() throws(StoreError) { if let failure { throw failure } }

    /// Returns the position of an attribute; notes an error for an unknown name.
    func position(of name: String) -> Int? {
      if let position = positions[name] { return position }
      let hint = NearestName.of(name, among: Array(positions.keys))
      fail(
        .cannotMigrate(
          "'\(name)' is no attribute of \(entity.name)"
            + (hint.map { "; did you mean '\($0)'?" } ?? ""), entity: entity.name))
      return nil
    }

    /// Notes the error for a closure that read an attribute as another type than its stored one.
    func failReading(_ position: Int, as type: String, id: UInt64) {
      let attribute = attributes[position]
      fail(
        .cannotMigrate(
          "'\(entity.name).\(attribute.name)' is \(attribute.type.name), and was read as \(type)",
          entity: entity.name, attribute: attribute.name, recordID: id == 0 ? nil : id))
    }
  }

  /// The record's id.
  public let id: UInt64
  let names: Names
  var values: [Value]

  init(id: UInt64, _ names: Names, _ values: [Value]) {
    self.id = id
    self.names = names
    self.values = values
  }

  /// The value of an attribute; `nil` for null, and for a raw value of no case.
  ///
  /// Assigning nil sets null. The step fails for an unknown name, for reading as another type, and
  /// for assigning a value that does not fit.
  public subscript<V: AttributeValue>(_ name: String, as _: V.Type = V.self) -> V? {
    get {
      guard let position = names.position(of: name), values[position] != .null else { return nil }
      if let value = V._value(from: StoredValue(values[position])) { return value }
      if V._storage.type != names.attributes[position].type {
        names.failReading(position, as: V._storage.type.name, id: id)
      }
      return nil
    }
    set { set(name, newValue?._storedValue.value ?? .null) }
  }

  /// The id in an attribute that leads to another record; `nil` for null.
  public subscript(id name: String) -> UInt64? {
    get {
      guard let position = names.position(of: name), values[position] != .null else { return nil }
      if names.attributes[position].type == .recordID, case .integer(let id) = values[position] {
        return UInt64(id)
      }
      names.failReading(position, as: "the id of a record", id: id)
      return nil
    }
    set { set(name, newValue.map { .integer(unsigned: $0) } ?? .null) }
  }

  /// The `Codable` value of an attribute that is stored as a document.
  ///
  /// The value is `nil` for null, and when the document cannot be decoded as the type. Assigning
  /// nil sets null. The step fails for an unknown name, for an attribute of another type, and for
  /// assigning a value that does not fit.
  public subscript<V: Codable & Sendable>(document name: String, as _: V.Type = V.self) -> V? {
    get {
      guard let position = names.position(of: name), values[position] != .null else { return nil }
      guard case .document = values[position] else {
        names.failReading(position, as: "a document", id: id)
        return nil
      }
      return (try? StoredValue(values[position]).decoded(V.self)) ?? nil
    }
    set {
      do {
        set(name, try newValue.map { try StoredValue(encoding: $0).value } ?? .null)
      } catch {
        names.fail(
          .cannotMigrate(
            "'\(names.entity.name).\(name)' was given a value that does not encode",
            entity: names.entity.name, attribute: name, recordID: id == 0 ? nil : id, cause: error))
      }
    }
  }

  mutating func set(_ name: String, _ value: Value) {
    guard let position = names.position(of: name) else { return }
    let attribute = names.attributes[position]
    guard value == .null ? attribute.isOptional : value.fits(attribute.type) else {
      names.fail(
        .cannotMigrate(
          "'\(names.entity.name).\(name)' is \(attribute.isOptional ? "" : "a required ")"
            + "\(attribute.type.name) and was given \(value.kindName)",
          entity: names.entity.name, attribute: name, recordID: id == 0 ? nil : id))
      return
    }
    values[position] = value
  }

  /// Returns the values, one for each attribute of the layout; throws the first error.
  func checkedValues() throws(StoreError) -> [Value] {
    try names.check()
    return values
  }
}

/// Reads and changes records in a step of a migration, with names of entities and attributes.
public struct MigrationTransaction {
  private let run: MigrationRun
  private let core: WriteCore

  init(_ run: MigrationRun) throws {
    self.run = run
    core = try run.core()
  }

  func end() throws { try run.end(core) }

  /// Returns the number of records of the entity.
  public func count(_ entity: String) throws -> Int {
    return try core.count(of: try core.entity(named: entity))
  }

  /// Calls `body` with each record of the entity, in the order of ids.
  public func forEach(_ entity: String, _ body: (MigratedRecord) throws -> Void) throws {
    let stored = try core.entity(named: entity)
    let names = MigratedRecord.Names(stored.description)
    for id in try core.storedIDs(of: stored) {
      guard let bytes = try core.record(id, of: stored) else { continue }
      let view = try core.changes(of: stored).stored(bytes, id: id).view
      try body(MigratedRecord(id: id, names, try stored.values(of: view)))
      try names.check()
    }
  }

  /// Inserts a new record, whose attributes `fill` sets; returns its id.
  public func insert(
    _ entity: String, _ fill: (inout MigratedRecord) throws -> Void
  ) throws -> UInt64 {
    let stored = try core.entity(named: entity)
    let names = MigratedRecord.Names(stored.description)
    let values = names.attributes.map {
      $0.defaultValue == .null && !$0.isOptional ? .placeholder(of: $0.type) : $0.defaultValue
    }
    var record = MigratedRecord(id: 0, names, values)
    try fill(&record)
    run.touched.insert(stored.number)
    let changes = core.changes(of: stored)
    return try changes.insert(try changes.encode(try record.checkedValues()))
  }

  /// Updates the record `id` with the changes of `change`.
  public func update(
    _ entity: String, _ id: UInt64, _ change: (inout MigratedRecord) throws -> Void
  ) throws {
    let stored = try core.entity(named: entity)
    let changes = core.changes(of: stored)
    guard let values = try changes.values(of: id) else {
      throw StoreError.noSuchRecord(entity: entity, id: id)
    }
    var record = MigratedRecord(id: id, MigratedRecord.Names(stored.description), values)
    try change(&record)
    _ = try changes.update(id, to: try changes.encode(try record.checkedValues()))
  }

  /// Deletes the record `id`, following the delete rules; returns whether it existed.
  @discardableResult
  public func delete(_ entity: String, _ id: UInt64) throws -> Bool {
    return try core.delete(id, of: try core.entity(named: entity))
  }
}
