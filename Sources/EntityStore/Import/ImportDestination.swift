internal import LodestoreFormat

/// The entity into which one transaction of an import writes its pages.
struct ImportDestination {
  let entity: StoredEntity
  /// The index of the import's key; `nil` when the import has no key.
  let index: StoredIndex?
  let core: WriteCore

  /// Matches records by the import's key; without a key, all records are inserted.
  var matching: Matching { Matching(indexes: index.map { [$0] } ?? [], isNamed: false) }
}

extension ImportEngine {
  func destination(in core: WriteCore) throws(StoreError) -> ImportDestination {
    let entity = try self.entity(core)
    return ImportDestination(entity: entity, index: try index(of: entity), core: core)
  }
}
