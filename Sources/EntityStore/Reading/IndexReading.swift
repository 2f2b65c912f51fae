internal import LMDB
internal import LodestoreFormat

/// The bounds of a walk over an index, such as `.init().from("a").upTo("b")`.
///
/// A bound has a value for each attribute of the index. The order is that of ``IndexableValue``.
public struct IndexBounds<each Value: Sendable>: Sendable {
  // The bounds are plain members. In a generic type of their own with a pack, creating its metadata
  // would crash the process (Swift 6.3).
  var lower: (repeat each Value)?
  var upper: (repeat each Value)?
  var isLowerIncluded = true
  var isUpperIncluded = true

  /// Creates bounds that include the whole index.
  public init() {}

  /// Begins at the key, which is included.
  public func from(_ key: repeat each Value) -> IndexBounds {
    var result = self
    result.lower = (repeat each key)
    result.isLowerIncluded = true
    return result
  }

  /// Begins after the key.
  public func after(_ key: repeat each Value) -> IndexBounds {
    var result = self
    result.lower = (repeat each key)
    result.isLowerIncluded = false
    return result
  }

  /// Ends at the key, which is included.
  public func through(_ key: repeat each Value) -> IndexBounds {
    var result = self
    result.upper = (repeat each key)
    result.isUpperIncluded = true
    return result
  }

  /// Ends before the key.
  public func upTo(_ key: repeat each Value) -> IndexBounds {
    var result = self
    result.upper = (repeat each key)
    result.isUpperIncluded = false
    return result
  }
}

extension EntityIndex {
  /// Returns a bound with the values as the attributes store them.
  func walkBound(_ key: (repeat each Value)?, isIncluded: Bool) throws(StoreError) -> IndexWalkBound
  {
    guard let key else { return .none }
    let values = try storedValues(repeat each key)
    return isIncluded ? .included(values) : .excluded(values)
  }

  func lowerBound(of bounds: IndexBounds<repeat each Value>) throws(StoreError) -> IndexWalkBound {
    try walkBound(bounds.lower, isIncluded: bounds.isLowerIncluded)
  }

  func upperBound(of bounds: IndexBounds<repeat each Value>) throws(StoreError) -> IndexWalkBound {
    try walkBound(bounds.upper, isIncluded: bounds.isUpperIncluded)
  }

  func storedValues(_ key: repeat each Value) throws(StoreError) -> [LodestoreFormat.Value] {
    var values: [LodestoreFormat.Value] = []
    for (attribute, value) in repeat (each attributes, each key) {
      values.append(try attribute.stored(value).value)
    }
    return values
  }
}

extension ReadableTransaction where Self: ~Copyable {
  /// Returns the record that has the values of `key`, or `nil` if none exists.
  ///
  ///     let film = try snapshot.fetch(Film.key(episode: 4))
  ///
  /// In an index that is not unique, the first such record is returned.
  ///
  /// - Throws: ``StoreError/Code/unknownIndex`` if the entity has no such index.
  /// - Complexity: O(log *n*): one lookup in the index and one in the records.
  @inlinable
  public func fetch<E: Entity>(_ key: EntityKey<E>) throws(StoreError) -> E? {
    var found: E?
    try access.readRecord(key) { found = try E.read(from: &$0) }
    return found
  }

  /// Returns whether there is a record with the values of `key`.
  ///
  /// - Complexity: O(log *n*); no record is read.
  public func exists<E: Entity>(_ key: EntityKey<E>) throws(StoreError) -> Bool {
    try access.core.firstRecord(with: key) != nil
  }

  /// Returns the record of each of `keys` in a unique index, in the order of `keys`, with `nil`
  /// where none exists.
  ///
  /// The records are found in one pass over the sorted keys.
  ///
  /// - Complexity: O(*k* log *n*) for *k* keys, with each page visited once.
  @inlinable
  public func fetch<E: Entity, each Value: Sendable>(
    _ index: EntityIndex<E, repeat each Value>, keys: [(repeat each Value)]
  ) throws(StoreError) -> [E?] {
    var found = [E?](repeating: nil, count: keys.count)
    // Keys are put together in inlinable code, where the types of their values are known.
    let lookup = try access.keyLookup(of: E.self, over: index.ordinals, count: keys.count)
    for key in keys {
      lookup.begin()
      for (attribute, value) in repeat (each index.attributes, each key) {
        lookup.add(try attribute.stored(value))
      }
      if !lookup.end() { try lookup.find(index.key(repeat each key)) }
    }
    try access.readRecords(of: E.self, lookup) { found[$0] = try E.read(from: &$1) }
    return found
  }

  /// Returns the records in the order of `index` within `bounds`, backwards if `isReversed`.
  ///
  /// Records with equal keys are in the order of insertion, or in the opposite order if reversed.
  /// Index keys store at most 463 bytes of a record's values. Records that share these bytes are
  /// ordered by reading them.
  ///
  /// - Parameter limit: the maximum number of records to return; not negative.
  @inlinable
  public func fetch<E: Entity, each Value: Sendable>(
    _ index: EntityIndex<E, repeat each Value>,
    within bounds: IndexBounds<repeat each Value> = .init(),
    isReversed: Bool = false, limit: Int = .max
  ) throws(StoreError) -> [E] {
    var result: [E] = []
    guard try access.isPositive(limit: limit) else { return result }
    try access.readRecords(index, within: bounds, isReversed: isReversed) { reader in
      result.append(try E.read(from: &reader))
      return result.count < limit
    }
    return result
  }

  /// Returns the ids of the records in the order of `index`, without reading the records.
  public func ids<E: Entity, each Value: Sendable>(
    _ index: EntityIndex<E, repeat each Value>,
    within bounds: IndexBounds<repeat each Value> = .init(),
    isReversed: Bool = false, limit: Int = .max
  ) throws(StoreError) -> [E.ID] {
    let core = access.core
    let (entity, stored) = try core.resolve(index)
    var result: [E.ID] = []
    guard try access.isPositive(limit: limit) else { return result }
    try core.walk(
      stored, of: entity, lower: try index.lowerBound(of: bounds),
      upper: try index.upperBound(of: bounds), isReversed: isReversed
    ) { (id) throws(StoreError) in
      result.append(RecordID(rawValue: id))
      return result.count < limit
    }
    return result
  }

  /// Returns the number of records that `index` has within `bounds`.
  ///
  /// - Complexity: O(entries within the bounds); no record is read.
  public func count<E: Entity, each Value: Sendable>(
    _ index: EntityIndex<E, repeat each Value>, within bounds: IndexBounds<repeat each Value>
  ) throws(StoreError) -> Int {
    let core = access.core
    let (entity, stored) = try core.resolve(index)
    var count = 0
    try core.walk(
      stored, of: entity, lower: try index.lowerBound(of: bounds),
      upper: try index.upperBound(of: bounds), isReversed: false
    ) { (_) throws(StoreError) in
      count += 1
      return true
    }
    return count
  }
}
