internal import LMDB
internal import LodestoreFormat

extension Store {
  /// The schema fingerprint of a new store with these entities, in hexadecimal digits.
  ///
  /// Returns `nil` when the entities cannot be in one store. Equal declarations in an equal order
  /// have equal fingerprints. An older store may describe these entities differently, so compare
  /// the result only with other results of this function.
  ///
  /// - Complexity: the time of creating a store in memory.
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
