internal import LMDB
internal import LodestoreFormat

/// Where a walk over an index begins and ends.
///
/// A bound may be one of all attributes of the index; order is that of ``IndexableValue``.
public struct IndexBounds<each Value: IndexableValue>: Sendable {
  var lower = IndexWalkBound.none
  var upper = IndexWalkBound.none

  /// Everything.
  public init() {}

  /// From the key on, itself included.
  public func from(_ key: repeat each Value) -> IndexBounds {
    var result = self
    result.lower = .included(Self.values(repeat each key))
    return result
  }

  /// Behind the key.
  public func after(_ key: repeat each Value) -> IndexBounds {
    var result = self
    result.lower = .excluded(Self.values(repeat each key))
    return result
  }

  /// Up to the key, itself included.
  public func through(_ key: repeat each Value) -> IndexBounds {
    var result = self
    result.upper = .included(Self.values(repeat each key))
    return result
  }

  /// Up to the key, without it.
  public func upTo(_ key: repeat each Value) -> IndexBounds {
    var result = self
    result.upper = .excluded(Self.values(repeat each key))
    return result
  }

  private static func values(_ key: repeat each Value) -> [LodestoreFormat.Value] {
    var values: [LodestoreFormat.Value] = []
    repeat values.append((each key).storedValue.value)
    return values
  }
}

extension ReadableTransaction where Self: ~Copyable {
  /// The record that `index` leads to from `key`; the first of them in an index that is not unique.
  ///
  /// `nil` when there is none.
  ///
  /// - Throws: ``StoreError/Code/unknownIndex`` when the entity has no such index.
  /// - Complexity: O(log *n*): one visit of the index, one of the records.
  @inlinable
  public func fetch<E: Entity, each Value: IndexableValue>(
    _ index: EntityIndex<E, repeat each Value>, key: repeat each Value
  ) throws(StoreError) -> E? {
    var found: E?
    // Put together here, where the types of the values are known.
    access.beginKey()
    repeat access.addToKey((each key).storedValue)
    if try access.readHolder(of: E.self, at: index.positions, { found = try E.read(from: &$0) }) {
      return found
    }
    try access.readRecord(index, repeat each key) { found = try E.read(from: &$0) }
    return found
  }

  /// The records that a unique `index` leads to from `keys`, in the order of `keys`; `nil` where
  /// there is none.
  ///
  /// Found in one pass over the sorted keys.
  ///
  /// - Complexity: O(*k* log *n*), with each page visited once.
  @inlinable
  public func fetch<E: Entity, each Value: IndexableValue>(
    _ index: EntityIndex<E, repeat each Value>, keys: [(repeat each Value)]
  ) throws(StoreError) -> [E?] {
    var found = [E?](repeating: nil, count: keys.count)
    try access.readRecords(index, keys) { found[$0] = try E.read(from: &$1) }
    return found
  }

  /// The records in the order of `index`, within `bounds`, backwards when `isReversed`.
  ///
  /// Records with equal keys come in the order of insertion (the opposite, when reversed). Text
  /// that is longer than what a key holds (463 bytes shared) is put in order by looking at it.
  ///
  /// - Parameter limit: the most records to return.
  @inlinable
  public func fetch<E: Entity, each Value: IndexableValue>(
    _ index: EntityIndex<E, repeat each Value>,
    within bounds: IndexBounds<repeat each Value> = .init(),
    isReversed: Bool = false, limit: Int = .max
  ) throws(StoreError) -> [E] {
    var result: [E] = []
    guard limit > 0 else { return result }
    try access.readRecords(index, within: bounds, isReversed: isReversed) { reader in
      result.append(try E.read(from: &reader))
      return result.count < limit
    }
    return result
  }

  /// The ids of the records in the order of `index`, without reading the records.
  public func ids<E: Entity, each Value: IndexableValue>(
    _ index: EntityIndex<E, repeat each Value>,
    within bounds: IndexBounds<repeat each Value> = .init(),
    isReversed: Bool = false, limit: Int = .max
  ) throws(StoreError) -> [E.ID] {
    let core = access.core
    let (entity, stored) = try core.resolve(index)
    var result: [E.ID] = []
    guard limit > 0 else { return result }
    try core.walk(
      stored, of: entity, lower: bounds.lower, upper: bounds.upper,
      isReversed: isReversed
    ) { (id) throws(StoreError) in
      result.append(RecordID(rawValue: id))
      return result.count < limit
    }
    return result
  }

  /// How many records `index` has within `bounds`.
  ///
  /// - Complexity: O(entries within the bounds); no record is read.
  public func count<E: Entity, each Value: IndexableValue>(
    _ index: EntityIndex<E, repeat each Value>, within bounds: IndexBounds<repeat each Value>
  ) throws(StoreError) -> Int {
    let core = access.core
    let (entity, stored) = try core.resolve(index)
    var count = 0
    try core.walk(
      stored, of: entity, lower: bounds.lower, upper: bounds.upper, isReversed: false
    ) { (_) throws(StoreError) in
      count += 1
      return true
    }
    return count
  }
}
