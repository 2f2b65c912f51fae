internal import LodestoreBytes
internal import LodestoreFormat

extension Reference {
  /// Creates a reference to the record that has the values of `key`, which need not exist.
  ///
  ///     Reference(Pod.key(name: "AFNetworking", version: "2.0.0"))
  ///
  /// - Throws: ``StoreError/Code/unknownIndex`` if `key` is not of the first unique index of the
  ///   target; otherwise the errors of ``init(_:)-(Target)``.
  public init(_ key: EntityKey<Target>) throws(StoreError) {
    try self.init(try ReferenceKey.of(Target.self).values(of: key))
  }
}

extension ReferenceKey {
  /// Returns the values of `key`, which must have the attributes of this reference key.
  func values<E: Entity>(of key: EntityKey<E>) throws(StoreError) -> [Value] {
    try check()
    let tuple = key.tuple
    if let failure = tuple.failure { throw failure }
    guard tuple.partCount == parts.count,
      parts.indices.allSatisfy({ tuple.ordinal(at: $0) == parts[$0].ordinal })
    else {
      throw StoreError(
        .unknownIndex,
        "cannot refer to \(entity) by this key: references lead to it by its first unique key "
          + "'\(parts.map(\.name).joined(separator: "+"))'", entity: entity)
    }
    return try tuple.withBytes { (bytes) throws(StoreError) in
      var decoder = KeyDecoder(bytes)
      var values: [Value] = []
      try wrappingErrors { for _ in parts { values.append(try decoder.next()) } }
      return values
    }
  }

  /// Returns the key for looking up a record with these values.
  func entityKey<E: Entity>(_: E.Type, _ values: [Value]) -> EntityKey<E> {
    var key = EntityKey<E>()
    for (part, value) in zip(parts, values) {
      key.tuple.append(StoredValue(value), of: part.ordinal)
    }
    return key
  }
}
