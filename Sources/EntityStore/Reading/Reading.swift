extension ReadableTransaction where Self: ~Copyable {
  /// The number of the commit that is seen; higher for later commits.
  ///
  /// A write sees the number that it will have.
  public var generation: CommitNumber { access.core.commitNumber }

  /// How many records `type` has.
  ///
  /// - Complexity: O(1).
  public func count<E: Entity>(of type: E.Type) throws(StoreError) -> Int {
    try access.core.count(of: try access.core.entity(type))
  }

  /// The record with `id`; `nil` when there is none.
  ///
  /// - Complexity: O(log *n*).
  @inlinable
  public func fetch<E: Entity>(_ type: E.Type = E.self, id: E.ID) throws(StoreError) -> E? {
    var found: E?
    try access.readRecord(type, id.rawValue) { found = try E.read(from: &$0) }
    return found
  }

  /// The records with `ids`, in the order of `ids`; an id that no record has is left out.
  ///
  /// Cheaper than one by one: they are read in id order.
  @inlinable
  public func fetch<E: Entity>(
    _ type: E.Type = E.self, ids: some Sequence<E.ID>
  ) throws(StoreError) -> [E] {
    let wanted = ids.map(\.rawValue)
    var found = [E?](repeating: nil, count: wanted.count)
    try access.readRecords(type, wanted) { found[$0] = try E.read(from: &$1) }
    return found.compactMap { $0 }
  }

  /// All records, in the order of insertion.
  @inlinable
  public func fetchAll<E: Entity>(_ type: E.Type = E.self) throws(StoreError) -> [E] {
    try fetch(Query<E>())
  }

  /// Visits the records in the order of insertion, from `start` on, until `body` returns false.
  ///
  /// In a write, `body` must not change `type`.
  @inlinable
  public func forEach<E: Entity>(
    _ type: E.Type = E.self, from start: E.ID? = nil, _ body: (E) throws -> Bool
  ) throws {
    try access.readAll(type, from: start?.rawValue ?? 1) { try body(try E.read(from: &$0)) }
  }
}
