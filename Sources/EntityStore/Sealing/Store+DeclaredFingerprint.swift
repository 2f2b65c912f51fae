internal import LMDB
internal import LodestoreFormat

extension Store {
  /// The fingerprint of the schema that a new store of these entities has, in hexadecimal digits;
  /// `nil` when they cannot be in one store.
  ///
  /// Equal for equal declarations in the same order. A store of another age may describe the same
  /// entities otherwise, so this is to be compared with itself alone.
  ///
  /// - Complexity: that of making a store in memory
  package static func fingerprint(ofNewStoreWith entities: [any Entity.Type]) -> String? {
    guard let store = try? Store.inMemory(entities: entities) else { return nil }
    defer { store.close() }
    return try? store.core.read { core in
      var fingerprint = SchemaFingerprint()
      let cursor = try Cursor(store.core.trees.catalogue, in: core.transaction)
      var found = try cursor.first()
      while found {
        fingerprint.add(key: cursor.key, body: cursor.value)
        found = try cursor.next()
      }
      return Seal.hexadecimal(fingerprint.value)
    }
  }
}
