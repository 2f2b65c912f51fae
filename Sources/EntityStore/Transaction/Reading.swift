internal import LMDB
internal import LodestoreFormat

extension ReadableTransaction where Self: ~Copyable {
  /// The number of the commit that is seen; higher for later commits.
  ///
  /// A write sees the number that it will have.
  public var generation: UInt64 { access.core.transaction.id }

  /// How many records `type` has.
  ///
  /// - Complexity: O(1).
  public func count<E: Entity>(of type: E.Type) throws(StoreError) -> Int {
    try access.core.count(of: try access.core.entity(type))
  }

  /// The record with `id`; `nil` when there is none.
  ///
  /// - Complexity: O(log *n*).
  public func fetch<E: Entity>(_ type: E.Type = E.self, id: E.ID) throws(StoreError) -> E? {
    let core = access.core
    let entity = try core.entity(type)
    guard let bytes = try core.record(id.rawValue, of: entity) else { return nil }
    return try core.decode(type, bytes, id: id.rawValue, of: entity)
  }

  /// The records with `ids`, in the order of `ids`; an id that no record has is left out.
  ///
  /// Cheaper than one by one: they are read in id order.
  public func fetch<E: Entity>(
    _ type: E.Type = E.self, ids: some Sequence<E.ID>
  ) throws(StoreError) -> [E] {
    let core = access.core
    let entity = try core.entity(type)
    let wanted = Array(ids)
    var found = [E?](repeating: nil, count: wanted.count)
    do {
      let cursor = try Cursor(entity.records, in: core.transaction)
      for place in wanted.indices.sorted(by: { wanted[$0] < wanted[$1] }) {
        let id = wanted[place].rawValue
        if try cursor.seek(id) {
          found[place] = try core.decode(type, cursor.value, id: id, of: entity)
        }
      }
    } catch {
      throw StoreError(wrapping: error)
    }
    return found.compactMap { $0 }
  }

  /// All records, in the order of insertion.
  public func fetchAll<E: Entity>(_ type: E.Type = E.self) throws(StoreError) -> [E] {
    var all: [E] = []
    all.reserveCapacity(try count(of: type))
    do {
      try forEach(type) { value in
        all.append(value)
        return true
      }
    } catch {
      throw StoreError(wrapping: error)
    }
    return all
  }

  /// Visits the records in the order of insertion, from `start` on, until `body` returns false.
  ///
  /// In a write, `body` must not change `type`.
  public func forEach<E: Entity>(
    _ type: E.Type = E.self, from start: E.ID? = nil, _ body: (E) throws -> Bool
  ) throws {
    let core = access.core
    let entity = try core.entity(type)
    let cursor = try mapping { () throws(LMDBError) in
      try Cursor(entity.records, in: core.transaction)
    }
    var found = try mapping { () throws(LMDBError) in
      if let start { return try cursor.seek(atOrAfter: start.rawValue) }
      return try cursor.first()
    }
    while found {
      let id = cursor.integerKey
      guard try body(try core.decode(type, cursor.value, id: id, of: entity)) else { return }
      found = try mapping { () throws(LMDBError) in try cursor.next() }
    }
  }

  private func mapping<R>(_ body: () throws(LMDBError) -> R) throws(StoreError) -> R {
    do {
      return try body()
    } catch {
      throw StoreError(error)
    }
  }
}
