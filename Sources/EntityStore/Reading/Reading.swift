extension ReadableTransaction where Self: ~Copyable {
  /// The number of the commit that this transaction sees; in a write, of the one before.
  public var generation: CommitNumber { access.core.commitNumber }

  /// The record with this id; `nil` when there is none.
  ///
  /// - Complexity: O(log n)
  @inlinable
  public func fetch<E: Entity>(_ id: RecordID<E>) throws(StoreError) -> E? {
    var found: E?
    try access.readRecord(E.self, id.rawValue) { found = try E.read(from: &$0) }
    return found
  }

  /// The records with these ids, in the order of `ids`, without those that are not there.
  ///
  /// The file is read in the order of the ids: faster than one call for each.
  ///
  /// - Complexity: O(k log n) for k ids
  @inlinable
  public func fetch<E: Entity>(_ ids: some Sequence<RecordID<E>>) throws(StoreError) -> [E] {
    let wanted = ids.map(\.rawValue)
    var found = [E?](repeating: nil, count: wanted.count)
    try access.readRecords(E.self, wanted) { found[$0] = try E.read(from: &$1) }
    return found.compactMap { $0 }
  }
}
