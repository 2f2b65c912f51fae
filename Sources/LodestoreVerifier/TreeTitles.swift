import LMDB
import LodestoreBytes
import LodestoreFormat

/// Names of trees by the schema: `records.1` is `Film`.
package enum TreeTitles {
  /// The names that the catalogue determines.
  ///
  /// Unreadable entities are omitted.
  package static func read(from environment: Environment) throws -> [String: String] {
    try StoreFileAccess.withTrees(of: environment, limit: 1) { trees, transaction, _ in
      var titles: [String: String] = [:]
      guard let catalogue = trees[TreeName.catalogue.text] else { return titles }
      try Cursor(catalogue, in: transaction).walk(KeyRange()) { key, body in
        guard let entity = entity(key: key, body: body) else { return true }
        titles[TreeName.records(entity: entity.number).text] = entity.name
        for index in entity.indexes {
          let name = TreeName.index(entity: entity.number, index: index.number)
          titles[name.text] = EntityVerification.subject(index, entity)
        }
        return true
      }
      return titles
    }
  }

  private static func entity(key: ByteView, body: ByteView) -> EntityDescription? {
    guard let number = CatalogueKey.entityNumber(key),
      let content = try? Checksum.unsealed(key: key, body: body),
      let document = try? Document(decoding: content),
      !CatalogueRules.problems(of: document).contains(where: \.isFatal)
    else { return nil }
    return try? EntityDescription(number: number, document: document)
  }
}
