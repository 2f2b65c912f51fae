package import LodestoreFormat

/// The differences between two stores, or between a store and an earlier point of its history.
///
/// The two compared commits stay readable while a copy of this value exists.
package struct DynamicDifferences {
  private let source: any DifferenceSource

  /// - Parameter entities: the names of the entities to compare; `nil` for everything.
  package init(
    from older: DynamicStore, to newer: DynamicStore, matchingBy matching: DifferenceMatching,
    entities: [String]?
  ) throws {
    let sides = DifferenceSides(
      older: try DifferenceSide(older.core), newer: try DifferenceSide(newer.core))
    source = try DifferencePass(sides, matching, entities: entities.map(Set.init))
  }

  package init(of store: DynamicStore, since token: HistoryToken, entities: [String]?) throws {
    source = try HistoryDifferences(
      try DifferenceSide(store.core), since: token, entities: entities.map(Set.init))
  }

  package var schema: [SchemaDifference] { source.schema }
  package var uncompared: [String] { source.uncompared }

  /// Visits the differences except those of the schema, until `body` returns false.
  ///
  /// The argument of `body` is valid until `body` returns.
  package func forEach(_ body: (DynamicDifference) throws -> Bool) throws {
    struct Stop: Error {}
    var source = source
    do {
      var goesOn = true
      while goesOn {
        var budget = DifferenceBudget()
        goesOn = try source.advance(&budget) { found in
          guard try body(DynamicDifference(found)) else { throw Stop() }
        }
      }
    } catch is Stop {}
  }
}

/// One difference, valid while both stores can be read.
package enum DynamicDifference {
  case record(DynamicRecordDifference)
  case link(LinkDifference)
  case bucket(BucketDifference)

  init(_ found: FoundDifference) {
    switch found {
    case .record(let record): self = .record(DynamicRecordDifference(found: record))
    case .link(let link): self = .link(link)
    case .bucket(let bucket): self = .bucket(bucket)
    }
  }
}

/// A record that differs between the stores; its values are decoded on request.
package struct DynamicRecordDifference {
  let found: FoundRecord

  package var kind: HistoryChange.Kind { found.kind }
  package var entity: String { found.entity }
  package var id: UInt64 { found.id }
  /// The id in the older store; for an inserted record, the id in the newer store.
  package var oldID: UInt64 { found.kind == .inserted ? found.newID : found.oldID }

  /// The changed attributes; for an inserted or deleted record, all known attributes.
  package func attributes() throws -> [(name: String, old: Value?, new: Value?)] {
    try found.attributes().map { ($0.name, $0.oldValue, $0.newValue) }
  }
}

extension DifferenceMatching {
  /// Matches records by the unique index on the attributes with these names.
  package static func uniqueKey(named names: [String]) -> DifferenceMatching {
    DifferenceMatching(rule: .uniqueKey(names))
  }
}
