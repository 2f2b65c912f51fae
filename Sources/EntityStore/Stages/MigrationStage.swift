/// The steps from one version of a program's model to the next one.
///
///     let store = try Store(
///       at: path, entities: [Film.self, Studio.self],
///       migrating: [
///         MigrationStage(
///           to: 1, .rename(entity: "Movie", to: "Film"),
///           .convert("episode", of: "Film", to: String.self)),
///         MigrationStage(
///           to: 2, .convert("released", of: "Film") { (year: Int) in "\(year)-01-01" },
///           .require("title", of: "Film", default: "untitled")),
///       ])
///
/// Versions are the program's own, from 1 and ascending; the file remembers the highest one that it
/// has been brought to, and a new file begins with the newest. Changes without a cost need no
/// stage: the declared types say them (new, renamed and removed attributes, indexes,
/// relationships). A stage converts values. Its steps name entities and attributes as they are in
/// the file at that point, not by Swift types, so they stay right when the types change again.
///
/// All stages that a file lacks are one transaction, together with the changes for the declared
/// types. Other processes read the file as it was until the commit. A process that is killed, or an
/// error, leaves the file as it was, and the next opening starts again. Memory stays bounded; the
/// file may grow to three times its size meanwhile.
/// ``Store/open(at:entities:migrating:options:onProgress:)`` reports progress. Closures of steps
/// run again when the file has to grow in their midst.
public struct MigrationStage: Sendable {
  /// The version of the model that the stage leads to.
  public let version: Int
  let steps: [MigrationStep]

  /// A stage to `version`, 1 or more, whose steps are taken in their order.
  public init(to version: Int, _ steps: MigrationStep...) {
    self.version = version
    self.steps = steps
  }
}

/// One step of a ``MigrationStage``.
///
/// A step that cannot be taken throws ``StoreError/Code/incompatibleSchema`` with the fact, the
/// place and the record. An error of a closure comes through as its cause. In either case the file
/// stays as it was.
public struct MigrationStep: Sendable {
  /// The step in words, for reports and errors.
  let text: String
  /// The entity whose records it goes through; `nil` where it goes through none.
  let pass: String?
  let run: @Sendable (MigrationRun) throws -> Void

  init(
    _ text: String, pass: String? = nil, _ run: @escaping @Sendable (MigrationRun) throws -> Void
  ) {
    self.text = text
    self.pass = pass
    self.run = run
  }
}

// MARK: Names

extension MigrationStep {
  /// The entity has another name; free.
  public static func rename(entity old: String, to new: String) -> MigrationStep {
    MigrationStep("rename entity \(old) to \(new)") { run in try run.rename(entity: old, to: new) }
  }

  /// The attribute has another name; free.
  ///
  /// Rules and conditions of the file take the new name.
  public static func rename(
    _ attribute: String, of entity: String, to new: String
  ) -> MigrationStep {
    MigrationStep("rename \(entity).\(attribute) to \(new)") { run in
      try run.rename(attribute, of: entity, to: new)
    }
  }

  /// A new entity without attributes, for steps that split another one; free.
  public static func create(entity: String) -> MigrationStep {
    MigrationStep("create entity \(entity)") { run in try run.create(entity) }
  }

  /// A new attribute, for steps that give it values; free.
  ///
  /// - Parameter initial: its value in the records that are there; needed where `V` is not optional.
  public static func add<V: AttributeValue>(
    _ attribute: String, to entity: String, _: V.Type = V.self, initial: V? = nil
  ) -> MigrationStep {
    let (storage, value) = (V._storage, initial?._storedValue.value ?? .null)
    return MigrationStep("add \(entity).\(attribute)") { run in
      try run.add(attribute, to: entity, storage, initial: value)
    }
  }

  /// The entity goes, with its records; free, but for a history that tells of it.
  ///
  /// Links to its records go, too, and attributes of other entities that hold their ids. Where the history
  /// tells of the entity, all of it is purged, and tokens expire. A declared type of this name is a new
  /// entity then.
  ///
  /// - Throws: where an attribute of another entity is derived from its records; remove that one first.
  public static func remove(entity: String) -> MigrationStep {
    MigrationStep("remove entity \(entity)") { run in try run.remove(entity: entity) }
  }

  /// The attribute goes, with its values; free.
  public static func remove(_ attribute: String, of entity: String) -> MigrationStep {
    MigrationStep("remove \(entity).\(attribute)") { run in
      try run.remove(attribute, of: entity)
    }
  }
}

// MARK: Values

extension MigrationStep {
  /// The attribute has another type, into which every value converts exactly.
  ///
  /// Such values are integers of any width, numbers that are the same in the other type, texts that
  /// are numbers, dates or UUIDs, and each of these as text. Null stays null, and an optional
  /// attribute optional.
  ///
  /// - Parameters:
  ///   - dates: the form of dates in texts, as `dd.MM.yyyy` or `unix`; ISO 8601 where it is left out.
  /// - Throws: where a value does not convert, the first ten of them with their records.
  public static func convert<V: AttributeValue>(
    _ attribute: String, of entity: String, to _: V.Type, dates: String? = nil
  ) -> MigrationStep {
    let storage = V._storage
    return MigrationStep(
      "convert \(entity).\(attribute) to \(storage.type.name)", pass: entity
    ) { run in
      let conversion = try ExactConversion(to: storage.type, dates: dates)
      try run.convert(attribute, of: entity, to: storage) { value in conversion.value(value) }
    }
  }

  /// The attribute has the values that `conversion` makes of the old ones, and their type.
  ///
  /// `Old` is the type that is stored. Where it is optional, null is converted too; otherwise null stays null, and
  /// an optional attribute optional.
  public static func convert<Old: AttributeValue, New: AttributeValue>(
    _ attribute: String, of entity: String, _ conversion: @escaping @Sendable (Old) throws -> New
  ) -> MigrationStep {
    let storage = New._storage
    return MigrationStep(
      "convert \(entity).\(attribute) to \(storage.type.name)", pass: entity
    ) { run in
      try run.check(attribute, of: entity, is: Old._storage)
      let asksForNull = Old._storage.isOptional
      try run.convert(attribute, of: entity, to: storage, asksForNull: asksForNull) { value in
        guard let old = Old._value(from: StoredValue(value)) else { return nil }
        return try conversion(old)._storedValue.value
      }
    }
  }

  /// The attribute is required; records without a value have `value`.
  public static func require<V: AttributeValue>(
    _ attribute: String, of entity: String, default value: V
  ) -> MigrationStep {
    let (storage, stored) = (V._storage, value._storedValue.value)
    return MigrationStep("require \(entity).\(attribute)", pass: entity) { run in
      try run.check(attribute, of: entity, is: storage)
      try run.require(attribute, of: entity, default: stored)
    }
  }

  /// Each record has the values that `change` leaves in it: to split an attribute or join two, with
  /// `add` before and ``remove(_:of:)`` after.
  public static func map(
    _ entity: String, _ change: @escaping @Sendable (inout MigratedRecord) throws -> Void
  ) -> MigrationStep {
    MigrationStep("map \(entity)", pass: entity) { run in try run.map(entity, change) }
  }

  /// Of records with the same values in all of `attributes` one stays, and the others go.
  ///
  ///     .deduplicate("Film", by: "episode", merging: .fillingMissing)
  ///
  /// A unique index can be made over the attributes then. Null is like no other value. The step may
  /// follow those that make records alike: unique indexes are made at the end of the stage.
  ///
  /// - Parameters:
  ///   - merging: the use of the values of the records that go; by default the one that stays keeps its own alone.
  ///   - links: the fate of links to the records that go.
  ///   - survivor: says which of two records stays, the one with the lower id first; always that one where it is
  ///     left out.
  public static func deduplicate(
    _ entity: String, by attributes: String..., merging: DuplicateMerge = .keepingSurvivor,
    links: DuplicateLinks = .move,
    survivor: @escaping @Sendable (MigratedRecord, MigratedRecord) throws -> Survivor = { _, _ in
      .first
    }
  ) -> MigrationStep {
    MigrationStep(
      "deduplicate \(entity) by \(attributes.joined(separator: ", "))", pass: entity
    ) { run in
      try run.deduplicate(
        entity, by: attributes,
        DuplicateRules(survivor: survivor, merge: merging, links: links))
    }
  }

  /// Which of two records stays.
  public enum Survivor: Sendable {
    /// That with the lower id.
    case first
    /// That with the higher id.
    case second
  }

  /// An attribute that holds the id of one record becomes a relationship to many, with the records that it
  /// led to.
  ///
  /// - Parameter relationship: the ``ToMany`` of the entity, by its name in the declared types.
  public static func toMany(
    _ attribute: String, of entity: String, as relationship: String
  ) -> MigrationStep {
    MigrationStep("make \(entity).\(attribute) the relationship \(relationship)", pass: entity) {
      try $0.toMany(attribute, of: entity, as: relationship)
    }
  }

  /// Whatever the other steps cannot say: reads and changes records by names.
  ///
  /// As with all steps, constraints and rules are checked at the end of the migration: the declared
  /// ones, on the final values.
  public static func custom(
    _ text: String, _ body: @escaping @Sendable (MigrationTransaction) throws -> Void
  ) -> MigrationStep {
    MigrationStep(text) { run in
      let transaction = try MigrationTransaction(run)
      try body(transaction)
      try transaction.end()
    }
  }
}
