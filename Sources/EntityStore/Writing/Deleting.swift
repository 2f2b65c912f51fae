internal import LodestoreFormat

extension WriteTransaction {
  /// Deletes the records that match `query`; returns their number.
  ///
  ///     try store.write { tx in try tx.delete(Pod.where { $0.isDeprecated }) }
  ///
  /// The records are found with the best plan for the condition, and removed with their index
  /// entries in page order. Their ids are never reused.
  ///
  /// `tx.delete(Pod.all)` deletes every record. A condition is refused when an `if` has left out
  /// all its lines.
  ///
  /// - Parameter onProgress: called at most a hundred times a second, on the thread of the write.
  /// - Throws: ``StoreError/Code/invalidQuery`` before anything is removed.
  ///   ``StoreError/Code/deleteDenied`` and ``StoreError/Code/invalidValue`` when a delete rule or
  ///   a rule of another record forbids the delete. The transaction is then as it was before the
  ///   call. ``StoreError/Code/cancelled`` in an asynchronous write whose task was cancelled; the
  ///   transaction can then not be committed.
  /// - Complexity: the time of the plan, and O(*k* log *n*) for *k* records. Deleting all records
  ///   takes O(*pages*), without reading a record.
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

  /// Deletes the records that match `query`, and returns them in its order.
  ///
  /// The errors are those of ``delete(_:onProgress:)``.
  public mutating func deleteReturning<E: Entity>(_ query: Query<E>) throws(StoreError) -> [E] {
    try query.checkSelectsRecords()
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
  /// Whether every record of the entity is a result of the plan.
  var isEverything: Bool { isWholeScan && residual == nil }

  /// Whether the plan visits all records, and every match is a result.
  var isWholeScan: Bool {
    guard case .scan = access else { return false }
    return request.limit == nil && request.offset == 0 && request.after == nil
  }
}
