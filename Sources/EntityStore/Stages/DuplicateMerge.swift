/// The rule by which ``MigrationStep/deduplicate(_:by:merging:links:survivor:)`` merges the values
/// of duplicate records.
public struct DuplicateMerge: Sendable {
  let body: @Sendable (inout MigratedRecord, MigratedRecord) throws -> Void

  /// The surviving record keeps its own values.
  public static let keepingSurvivor = DuplicateMerge { _, _ in }

  /// Where the surviving record has null, it takes a value of the others, from the lowest id on.
  public static let fillingMissing = DuplicateMerge { $0.fillMissing(from: $1) }

  /// Calls `body` with the surviving record and each of the others, from the lowest id on, and
  /// stores the surviving record.
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
/// removed records.
public enum DuplicateLinks: Sendable {
  /// Links, ids in attributes and positions in orders are redirected to the surviving record.
  ///
  /// An id becomes null if its record would lead to itself. An id also becomes null if only one
  /// record may lead to the surviving record, and another record already leads to it. When null
  /// cannot be stored, the migration is refused.
  case move
  /// The duplicates are deleted following the delete rules of their relationships, in one delete.
  ///
  /// The migration is refused if the rules would delete a surviving record.
  case delete
}

extension MigratedRecord {
  /// Takes the values of `other` where this record has null and the attribute is not derived.
  mutating func fillMissing(from other: MigratedRecord) {
    for (position, attribute) in names.attributes.enumerated()
    where attribute.derivation == nil && values[position] == .null {
      values[position] = other.values[position]
    }
  }
}
