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
/// The program chooses the versions, ascending from 1. The file stores the highest version whose
/// stage has run. A new file begins with the newest version. Changes without a cost need no stage,
/// because the declared types express them: new, renamed and removed attributes, indexes,
/// relationships. A stage converts values. Its steps use the names that entities and attributes
/// have in the file at that point, not Swift types. So they stay correct when the types change
/// again.
///
/// All stages that a file lacks run in one transaction, together with the changes for the declared
/// types. Other processes read the old state until the commit. If the process is killed or an error
/// occurs, the file stays unchanged, and the next opening starts again. Memory stays bounded; the
/// file may temporarily grow to three times its size.
/// ``Store/open(at:entities:migrating:options:onProgress:)`` reports progress. Closures of steps
/// run again when the file must grow during a step.
public struct MigrationStage: Sendable {
  /// The version of the model after the stage.
  public let version: Int
  let steps: [MigrationStep]

  /// Creates the stage to `version`, 1 or more; its steps run in this order.
  public init(to version: Int, _ steps: MigrationStep...) {
    self.version = version
    self.steps = steps
  }
}

/// One step of a ``MigrationStage``.
///
/// A step that cannot run throws ``StoreError/Code/incompatibleSchema`` with the fact, the place
/// and the record. An error of a closure becomes its cause. In both cases the file stays unchanged.
public struct MigrationStep: Sendable {
  /// The step in words, for reports and errors.
  let text: String
  /// The entity whose records the step processes; `nil` for a step without records.
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
  /// Renames an entity, in a time that does not depend on the number of records.
  public static func rename(entity old: String, to new: String) -> MigrationStep {
    MigrationStep("rename entity \(old) to \(new)") { run in try run.rename(entity: old, to: new) }
  }

  /// Renames an attribute, in a time that does not depend on the number of records.
  ///
  /// Rules and conditions in the file use the new name.
  public static func rename(
    _ attribute: String, of entity: String, to new: String
  ) -> MigrationStep {
    MigrationStep("rename \(entity).\(attribute) to \(new)") { run in
      try run.rename(attribute, of: entity, to: new)
    }
  }

  /// Creates an entity without attributes, for steps that split another entity.
  ///
  /// - Complexity: does not depend on the number of records.
  public static func create(entity: String) -> MigrationStep {
    MigrationStep("create entity \(entity)") { run in try run.create(entity) }
  }

  /// Adds an attribute, for steps that set its values.
  ///
  /// - Parameter initial: its value in existing records; required when `V` is not optional.
  /// - Complexity: does not depend on the number of records.
  public static func add<V: AttributeValue>(
    _ attribute: String, to entity: String, _: V.Type = V.self, initial: V? = nil
  ) -> MigrationStep {
    let (storage, value) = (V._storage, initial?._storedValue.value ?? .null)
    return MigrationStep("add \(entity).\(attribute)") { run in
      try run.add(attribute, to: entity, storage, initial: value)
    }
  }

  /// Removes an entity with its records.
  ///
  /// The time does not depend on the number of records, unless the history contains the entity.
  /// Links to its records are removed too, and so are attributes of other entities that hold their
  /// ids. If the history contains the entity, the complete history is purged, and tokens expire. A
  /// declared type of this name is then a new entity.
  ///
  /// - Throws: when an attribute of another entity is derived from its records; remove that
  ///   attribute first.
  public static func remove(entity: String) -> MigrationStep {
    MigrationStep("remove entity \(entity)") { run in try run.remove(entity: entity) }
  }

  /// Removes an attribute with its values, in a time that does not depend on the number of records.
  public static func remove(_ attribute: String, of entity: String) -> MigrationStep {
    MigrationStep("remove \(entity).\(attribute)") { run in try run.remove(attribute, of: entity) }
  }
}

// MARK: Values

extension MigrationStep {
  /// Changes the type of an attribute, converting every value exactly.
  ///
  /// Exact conversions exist for:
  /// - integers of any width, and numbers that the other type represents exactly;
  /// - texts that are numbers, dates or UUIDs, and each of these as text.
  ///
  /// Null stays null, and an optional attribute stays optional.
  ///
  /// - Parameters:
  ///   - dates: the form of dates in texts, such as `dd.MM.yyyy` or `unix`; by default ISO 8601.
  /// - Throws: when values cannot be converted, listing the first ten with their records.
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

  /// Converts the values of an attribute with a closure, which also determines the new type.
  ///
  /// `Old` is the stored type. If it is optional, null is converted too. Otherwise null stays null,
  /// and an optional attribute stays optional.
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

  /// Makes an attribute required; records without a value get `value`.
  public static func require<V: AttributeValue>(
    _ attribute: String, of entity: String, default value: V
  ) -> MigrationStep {
    let (storage, stored) = (V._storage, value._storedValue.value)
    return MigrationStep("require \(entity).\(attribute)", pass: entity) { run in
      try run.check(attribute, of: entity, is: storage)
      try run.require(attribute, of: entity, default: stored)
    }
  }

  /// Changes each record with a closure.
  ///
  /// To split or join attributes, use `add` before this step and ``remove(_:of:)`` after it.
  public static func map(
    _ entity: String, _ change: @escaping @Sendable (inout MigratedRecord) throws -> Void
  ) -> MigrationStep {
    MigrationStep("map \(entity)", pass: entity) { run in try run.map(entity, change) }
  }

  /// Merges records with equal values in all of `attributes`: one survives, and the others are
  /// removed.
  ///
  ///     .deduplicate("Film", by: "episode", merging: .fillingMissing)
  ///
  /// Afterwards a unique index can be built on the attributes. Null equals no other value. The step
  /// may follow steps that create duplicates, because unique indexes are built at the end of the
  /// stage.
  ///
  /// - Parameters:
  ///   - merging: the use of the removed records' values; by default the surviving record keeps
  ///     only its own.
  ///   - links: the treatment of links to removed records.
  ///   - survivor: chooses between two records, the one with the lower id first; by default that
  ///     one survives.
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
        entity, by: attributes, DuplicateRules(survivor: survivor, merge: merging, links: links))
    }
  }

  /// The record of several duplicates that stays.
  public enum Survivor: Sendable {
    /// The record with the lower id.
    case first
    /// The record with the higher id.
    case second
  }

  /// Converts an attribute that holds a record's id to a to-many relationship with the same links.
  ///
  /// - Parameter relationship: the name of the entity's ``ToMany`` in the declared types.
  public static func toMany(
    _ attribute: String, of entity: String, as relationship: String
  ) -> MigrationStep {
    MigrationStep("make \(entity).\(attribute) the relationship \(relationship)", pass: entity) {
      try $0.toMany(attribute, of: entity, as: relationship)
    }
  }

  /// Runs a closure that reads and changes records by name, for changes that other steps cannot
  /// express.
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
