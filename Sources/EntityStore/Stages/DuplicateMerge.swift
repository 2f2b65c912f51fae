/// The rule by which ``MigrationStep/deduplicate(_:by:merging:links:survivor:)`` merges the values
/// of records that are alike.
public struct DuplicateMerge: Sendable {
  let body: @Sendable (inout MigratedRecord, MigratedRecord) throws -> Void

  /// The record that stays keeps its own values.
  public static let keepingSurvivor = DuplicateMerge { _, _ in }

  /// The record that stays gets a value of the others wherever it has null, from the lowest id on.
  public static let fillingMissing = DuplicateMerge { $0.fillMissing(from: $1) }

  /// Calls `body` with the record that stays and each of the others, from the lowest id on, and
  /// stores the first.
  ///
  /// An error of `body` ends the migration.
  public static func custom(
    _ body:
      @escaping @Sendable (_ kept: inout MigratedRecord, _ other: MigratedRecord) throws -> Void
  ) -> DuplicateMerge {
    DuplicateMerge(body: body)
  }
}

/// The rule by which ``MigrationStep/deduplicate(_:by:merging:links:survivor:)`` treats links to
/// records that go.
public enum DuplicateLinks: Sendable {
  /// Links, ids in attributes and places in orders lead to the record that stays.
  ///
  /// An id becomes null where its record would lead to itself, or where one record alone may lead
  /// to the one that stays and another record does. Where null cannot be stored, the migration is
  /// refused.
  case move
  /// The records are deleted by the rules of their relationships, in one delete.
  ///
  /// Where the rules would delete a record that is to stay, the migration is refused.
  case delete
}

extension MigratedRecord {
  /// Takes the values of `other` wherever this record has null and the store derives nothing.
  mutating func fillMissing(from other: MigratedRecord) {
    for (position, attribute) in names.attributes.enumerated()
    where attribute.derivation == nil && values[position] == .null {
      values[position] = other.values[position]
    }
  }
}
