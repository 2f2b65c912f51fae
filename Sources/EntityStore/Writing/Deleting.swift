internal import LodestoreFormat

extension WriteTransaction {
  /// Removes the records that `query` finds; returns how many there were.
  ///
  ///     try store.write { tx in try tx.delete(Pod.where { $0.isDeprecated }) }
  ///
  /// The records are found by the best plan for the condition, and removed with their index entries
  /// in page order. Their ids are not used again.
  ///
  /// `tx.delete(Pod.all)` removes every record. A condition whose lines were all left out by an `if` is
  /// refused.
  ///
  /// - Parameter onProgress: called a hundred times a second at most, on the thread of the write.
  /// - Throws: ``StoreError/Code/invalidQuery`` before anything is removed; ``StoreError/Code/denied`` and
  ///   ``StoreError/Code/invalidValue`` where a delete rule or a rule of another record forbids the delete. The
  ///   transaction is then as it was before the call. After ``StoreError/Code/cancelled``, in an asynchronous
  ///   write whose task was cancelled, the transaction cannot be committed.
  /// - Complexity: that of the plan, and O(*k* log *n*) for *k* records; all records are removed in
  ///   O(pages), without reading one.
  @discardableResult
  public mutating func delete<E: Entity>(
    _ query: Query<E>, onProgress: ((WorkProgress) -> Void)? = nil
  ) throws(StoreError) -> Int {
    let core = core
    let entity = try core.entity(E.self)
    let request = try query.changingRequest()
    return try core.reporting(onProgress, of: entity) { () throws(StoreError) in
      try core.delete(request, of: entity)
    }
  }

  /// Removes the records that `query` finds and returns them, in its order.
  ///
  /// Errors are those of ``delete(_:onProgress:)``.
  public mutating func deleteReturning<E: Entity>(_ query: Query<E>) throws(StoreError) -> [E] {
    try query.checkSaysWhich()
    let core = core
    let run = try core.run(query)
    let ids = try run.ids()
    var positions: [UInt64: Int] = [:]
    for (position, id) in ids.enumerated() { positions[id] = position }
    var found = [E?](repeating: nil, count: ids.count)
    _ = try core.asOneCall("deleteReturning") { () throws(StoreError) in
      try core.delete(ids.sorted(), of: run.entity) { (id, bytes) throws(StoreError) in
        if let position = positions[id] {
          found[position] = try core.decode(E.self, bytes, id: id, of: run.entity)
        }
      }
    }
    return found.compactMap { $0 }
  }
}

extension QueryPlan {
  /// Whether the query finds all records there are.
  var isEverything: Bool { isWholeScan && residual == nil }

  /// Whether all records are visited, and all that match are results.
  var isWholeScan: Bool {
    guard case .scan = access else { return false }
    return request.limit == nil && request.offset == 0 && request.after == nil
  }
}
