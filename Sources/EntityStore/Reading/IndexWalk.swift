internal import LodestoreBytes
internal import LodestoreFormat

/// A bound of a walk, with values for all attributes of the index or for the first few.
enum IndexWalkBound: Sendable {
  case none
  case included([Value])
  case excluded([Value])
}

extension TransactionCore {
  /// Returns the id of the first record with the values of `key`, or `nil` if none exists.
  func firstRecord<E: Entity>(with key: EntityKey<E>) throws(StoreError) -> UInt64? {
    let (entity, index) = try resolve(E.self, with: key.tuple)
    return try firstRecord(in: index, of: entity, key.tuple)
  }

  /// Returns the lowest id with `tuple` in `index`, or `nil` if none exists.
  func firstRecord(
    in index: StoredIndex, of entity: StoredEntity, _ tuple: KeyTuple
  ) throws(StoreError) -> UInt64? {
    if let failure = tuple.failure { throw failure }
    // A key with a null may have several records, even in a unique index.
    if index.isUnique, !tuple.hasNull {
      let found: UInt64?
      if tuple.byteCount > KeyEncoder.longestTuple {
        key.reset()
        try tuple.withBytes { key.append(raw: $0) }
        key.finishTuple()
        found = try holder(of: key.bytes, in: index)
      } else {
        found = try tuple.withBytes { (bytes) throws(StoreError) in
          try holder(of: bytes, in: index)
        }
      }
      if let found, let expired = try expired(of: entity), expired.contains(found) { return nil }
      return found
    }
    let bytes = try tuple.withBytes { Array($0) }
    let range = IndexRange(lower: bytes, upper: bytes + [255])
    var found: UInt64?
    try wrappingErrors {
      try walk(index, of: entity, range, isReversed: false) { id, _ in
        found = id
        return false
      }
    }
    return found
  }

  /// Visits the record ids of `index` in order within the bounds, until `body` returns false.
  func walk(
    _ index: StoredIndex, of entity: StoredEntity, lower: IndexWalkBound, upper: IndexWalkBound,
    isReversed: Bool, _ body: (UInt64) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let range = IndexRange(
      lower: try bound(lower, of: index, isLower: true) ?? [],
      upper: try bound(upper, of: index, isLower: false))
    try wrappingErrors {
      try walk(index, of: entity, range, isReversed: isReversed) { id, _ in try body(id) }
    }
  }

  private func bound(
    _ bound: IndexWalkBound, of index: StoredIndex, isLower: Bool
  ) throws(StoreError) -> [UInt8]? {
    let values: [Value]
    let isIncluded: Bool
    switch bound {
    case .none: return nil
    case .included(let list): (values, isIncluded) = (list, true)
    case .excluded(let list): (values, isIncluded) = (list, false)
    }
    key.reset()
    do {
      for value in values { try key.append(value) }
    } catch {
      throw StoreError(.unstorableValue, "cannot look up in '\(index.name)': \(error.reason)")
    }
    let tuple = Array(key.bytes)
    if tuple.isEmpty { return isLower ? [] : nil }
    return isIncluded == isLower ? tuple : tuple + [255]
  }
}
