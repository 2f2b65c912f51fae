internal import LodestoreFormat

/// The unique index by which an incoming value finds the stored record to merge with.
///
///     try tx.upsert(film, matching: .unique(\.episode))
///     let importer = Importer(into: store, Pod.self, matching: .unique(\.name, \.version))
public struct RecordMatching<E: Entity>: Sendable {
  let paths: [any PartialKeyPath<E> & Sendable]

  /// Matches by the unique index on exactly these attributes.
  ///
  /// Other unique indexes do not find the stored record. If another record has one of their keys,
  /// the call fails with ``StoreError/Code/uniqueViolation``. A value with null in one of the
  /// attributes has no key. An import rejects such a record, and an insert throws
  /// ``StoreError/Code/unstorableValue``. Nulls do not collide, so each call would insert another
  /// record.
  public static func unique(_ paths: any PartialKeyPath<E> & Sendable...) -> RecordMatching {
    RecordMatching(paths: paths)
  }
}

extension RecordMatching {
  /// Returns the unique index on exactly these attributes, in any order.
  ///
  /// - Throws: ``StoreError/Code/unknownIndex``.
  func index(of entity: StoredEntity) throws(StoreError) -> StoredIndex {
    let names = paths.map { path in
      E.schema.index(of: path).map { E.schema.attributes[$0].name } ?? "?"
    }
    let numbers = Set(names.compactMap { entity.description.attribute(named: $0)?.number })
    let index = entity.indexes.first {
      $0.isUnique && Set($0.description.attributes) == numbers && numbers.count == names.count
    }
    guard let index else {
      throw .unknownIndex(
        entity: entity.name, attributes: names.joined(separator: "+"),
        known: entity.indexes.filter(\.isUnique).map(\.name))
    }
    return index
  }
}

extension StoredEntity {
  /// Returns the unique indexes by which values of `E` find stored records.
  func matching<E: Entity>(_ matching: RecordMatching<E>?) throws(StoreError) -> Matching {
    if let matching { return Matching(indexes: [try matching.index(of: self)], isNamed: true) }
    return Matching(indexes: matchingIndexes, isNamed: false)
  }
}

/// The unique indexes that determine the stored record to merge with.
struct Matching {
  /// The indexes; without an index, all records are inserted.
  var indexes: [StoredIndex]
  /// Whether the program has named the index; a record without its key is then refused.
  var isNamed: Bool
}

extension StoreError {
  /// The error for a value whose keys do not all belong to one record.
  ///
  /// - Parameter ways: the indexes in which the value has a key, with the record of each key.
  static func ambiguousKeys(
    entity: String, _ ways: [(index: String, holder: UInt64?)], held record: UInt64
  ) -> StoreError {
    let facts = ways.map { way in
      "'\(way.index)' leads to \(way.holder.map { "\(entity) \($0)" } ?? "no record")"
    }
    let holders = Set(ways.compactMap { $0.holder })
    let reason = holders.count > 1 ? "" : ", and \(entity) \(record) has another value there"
    return StoreError(
      .uniqueViolation,
      "cannot store \(entity): its keys do not agree on one record: \(facts.joined(separator: ", "))"
        + "\(reason); name the key that is meant, as in matching: .unique(\\.\(example(ways))), or "
        + "change the other record first", entity: entity,
      index: ways.first { $0.holder != record }?.index, recordID: record)
  }

  /// The attributes of the first index that finds a record, for the suggestion in the message.
  private static func example(_ ways: [(index: String, holder: UInt64?)]) -> String {
    let name = ways.first { $0.holder != nil }?.index ?? ""
    let attributes = name.split(separator: ".", maxSplits: 1).last.map(String.init) ?? name
    return attributes.split(separator: "+").joined(separator: ", \\.")
  }

  /// The error for a value without a key in the matching index.
  static func withoutKey(entity: String, index: String) -> StoreError {
    StoreError(
      .unstorableValue,
      "cannot store \(entity): it has no '\(index)', the key for matching; give it one, or "
        + "insert it without matching", entity: entity, index: index)
  }
}
