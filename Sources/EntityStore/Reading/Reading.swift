extension ReadableTransaction where Self: ~Copyable {
  /// The number of the commit that this transaction reads.
  ///
  /// In a write, it is the number of the previous commit.
  public var commitNumber: CommitNumber { access.core.commitNumber }

  /// Returns the record with this id, or `nil` if none exists.
  ///
  /// - Complexity: O(log *n*)
  @inlinable
  public func fetch<E: Entity>(_ id: RecordID<E>) throws(StoreError) -> E? {
    var found: E?
    try access.readRecord(E.self, id.rawValue) { found = try E.read(from: &$0) }
    return found
  }

  /// Returns the records with these ids, in the order of `ids`, without missing ones.
  ///
  /// The file is read in ascending order of the ids, which is faster than a call for each.
  ///
  /// - Complexity: O(*k* log *n*) for *k* ids
  @inlinable
  public func fetch<E: Entity>(_ ids: some Sequence<RecordID<E>>) throws(StoreError) -> [E] {
    let wanted = ids.map(\.rawValue)
    var found = [E?](repeating: nil, count: wanted.count)
    try access.readRecords(E.self, wanted) { found[$0] = try E.read(from: &$1) }
    return found.compactMap { $0 }
  }
}
