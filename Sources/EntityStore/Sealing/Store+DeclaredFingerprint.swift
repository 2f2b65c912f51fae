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
      try core.transaction.forEachPair(of: store.core.trees.catalogue) { key, body in
        fingerprint.add(key: key, body: body)
      }
      return Seal.hexadecimal(fingerprint.value)
    }
  }
}
