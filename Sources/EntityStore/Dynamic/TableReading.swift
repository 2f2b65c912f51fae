package import LodestoreBytes
internal import LodestoreFormat

/// A relationship whose links are in trees of the file, and not in an attribute of a record.
package struct DynamicLinkTable: Sendable {
  package var number: UInt32
  /// The entity and the name of the side that declares the links.
  package var from: String
  package var name: String
  package var to: String
}

extension DynamicStore {
  /// Returns whether the program has opened the store with a type for the entity.
  package func isDeclaredByProgram(_ entity: String) -> Bool {
    core.declared.contains { $0.name == entity }
  }
}

extension DynamicSnapshot {
  /// A record from bytes in the form of the file, as a step of a replay has them.
  package func record(_ id: UInt64, bytes: ByteView, of entity: DynamicEntity) -> DynamicRecord {
    DynamicRecord(id: id, bytes: bytes, entity: entity.stored)
  }

  /// The relationships with links in trees, in the order of their numbers.
  package var linkTables: [DynamicLinkTable] {
    core.schema.relationships.filter { $0.description.attribute == nil }.map { relationship in
      let (from, to) = (relationship.end(.from), relationship.end(.to))
      return DynamicLinkTable(
        number: relationship.description.number, from: from.source.name,
        name: from.name ?? to.name ?? "links", to: to.source.name)
    }.sorted { $0.number < $1.number }
  }

  /// Visits all links of a relationship, in the order of the ids of their owners.
  package func forEachLink(
    of table: DynamicLinkTable, _ body: (_ from: UInt64, _ to: UInt64) throws -> Void
  ) throws {
    guard let end = core.schema.relationship(table.number)?.end(.from) else { return }
    var failure: (any Error)?
    try core.forEachRelated(of: try core.storedIDs(of: end.source), by: end) { from, to in
      do {
        try body(from, to)
        return true
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
  }
}
