internal import LodestoreFormat

extension WriteTransaction {
  /// Updates attributes of the records that match `query`, without decoding them; returns the
  /// number of changed records.
  ///
  ///     try tx.update(Film.where { $0.director == nil }) { $0.director = "unknown" }
  ///
  /// Records are updated in the order of the file, with all their indexes. A call that throws
  /// changes nothing.
  ///
  /// - Parameter onProgress: called at most a hundred times a second, on the thread of the write.
  /// - Throws: ``StoreError/Code/invalidQuery`` for an invalid name or value, before a record is
  ///   read. ``StoreError/Code/uniqueViolation``, ``StoreError/Code/invalidValue`` and
  ///   ``StoreError/Code/unstorableValue`` when a new value is refused; the transaction is then as
  ///   it was before the call. ``StoreError/Code/cancelled`` in an asynchronous write whose task
  ///   was cancelled; the transaction can then not be committed.
  /// - Complexity: O(*k*) for *k* matching records, plus the changes in the affected indexes.
  @discardableResult
  public mutating func update<E: Entity>(
    _ query: Query<E>, onProgress: ((WorkProgress) -> Void)? = nil,
    _ changes: (inout AttributeUpdates<E>) -> Void
  ) throws(StoreError) -> Int {
    let core = core
    let entity = try core.entity(E.self)
    let request = try query.changingRequest()
    let assignments = try Self.assignments(changes)
    let cases = try CaseCheck(E.self, of: entity, assignments, request.positions)
    if !cases.isEmpty {
      try cases.check(
        try PlanRun(try core.plan(request, for: entity), core: core).sortedIDs(), core: core)
    }
    return try core.reporting(onProgress, of: entity) { () throws(StoreError) in
      try core.update(request, of: entity, assignments)
    }
  }

  static func assignments<E: Entity>(
    _ changes: (inout AttributeUpdates<E>) -> Void
  ) throws(StoreError) -> [(name: String, operand: Operand, constant: Value?)] {
    var updates = AttributeUpdates<E>()
    changes(&updates)
    var assignments: [(String, Operand, Value?)] = []
    for assignment in try updates.assigned() {
      guard assignment.isStored else {
        throw .badQuery("'\(assignment.name)' is no attribute that can be set")
      }
      assignments.append((assignment.name, assignment.operand, assignment.constant))
    }
    return assignments
  }
}

extension Query {
  /// The query's request for an update or delete; throws when an `if` has left out all lines of the
  /// condition, which would select all records.
  func changingRequest() throws(StoreError) -> QueryRequest {
    try checkSelectsRecords()
    return try request()
  }

  /// Throws when an `if` has left out all lines of the condition, which would select all records.
  func checkSelectsRecords() throws(StoreError) {
    guard selectsRecords else {
      throw .badQuery(
        "all lines of the condition were left out, so that every \(E.schema.name) would be changed; "
          + "say \(E.self).all if that is meant")
    }
  }
}

extension WriteCore {
  /// Updates the records that match `request`, with assignments by attribute name.
  func update(
    _ request: QueryRequest, of entity: StoredEntity,
    _ assignments: [(name: String, operand: Operand, constant: Value?)]
  ) throws(StoreError) -> Int {
    try asOneCall("update") { () throws(StoreError) in
      let batch = try batchUpdate(of: entity, assignments, request.positions)
      let run = try PlanRun(try plan(request, for: entity), core: self, control: changeControl)
      // A condition that reads other records must be evaluated for all records before the first
      // change, so the ids are collected first.
      if run.plan.isWholeScan, batch.isInPlace, run.plan.residual?.readsOtherRecords != true {
        try batch.updateAll(where: run.plan.residual)
      } else {
        try batch.update(try run.sortedIDs())
      }
      return batch.updatedCount
    }
  }

  /// The control by which a cancelled asynchronous write stops the query that finds its records;
  /// `nil` outside such a write.
  private var changeControl: RunControl? {
    guard isWrite, let isCancelled = store.environment.writeCancellation else { return nil }
    return RunControl(isCancelled: isCancelled)
  }

  /// Returns an update with these assignments, bound to the attributes.
  ///
  /// - Parameter given: returns the new values of a record, in place of those of the assignments.
  func batchUpdate(
    of entity: StoredEntity, _ assignments: [(name: String, operand: Operand, constant: Value?)],
    _ positions: [String: FormatPosition], given: ((UInt64) -> [Value])? = nil
  ) throws(StoreError) -> BatchUpdate {
    var binding = ConditionBinding(entity, positions, schema)
    var bound: [BatchUpdate.Assignment] = []
    for (name, operand, constant) in assignments {
      let attribute = try binding.attribute(named: name)
      guard !attribute.isRecordID else { throw .badQuery("the id of a record cannot be set") }
      guard entity.derivations?.contains(attribute.number) != true else {
        throw .badQuery("'\(name)' is derived: the store keeps it, and it cannot be set")
      }
      guard !bound.contains(where: { $0.attribute.number == attribute.number }) else {
        throw .badQuery("'\(name)' is set twice")
      }
      if let constant {
        if attribute.type == .recordID, constant == .integer(0) {
          throw .unassignedID(entity.name, attribute: name)
        }
        guard constant == .null ? attribute.isOptional : constant.fits(attribute.type) else {
          throw .badQuery(
            "'\(name)' is a \(attribute.isOptional ? "" : "required ")\(attribute.type.name) and "
              + "is set to \(constant.kindName)")
        }
      }
      bound.append(
        BatchUpdate.Assignment(
          attribute: attribute, operand: try binding.operand(operand), constant: constant))
    }
    return try BatchUpdate(of: entity, bound, given: given, core: self)
  }

  /// Deletes the records that match `request`.
  func delete(_ request: QueryRequest, of entity: StoredEntity) throws(StoreError) -> Int {
    try asOneCall("delete") { () throws(StoreError) in
      // The run needs only the ids: the delete reads the records later, in the order of their ids.
      var request = request
      request.wantsOnlyEntries = true
      let run = try PlanRun(try plan(request, for: entity), core: self, control: changeControl)
      if run.plan.isEverything { return try deleteAll(of: entity) }
      return try delete(try run.sortedIDs(), of: entity)
    }
  }
}

extension StoreError {
  static func unfitting(
    entity: String, attribute: String, type: String, recordID: UInt64
  ) -> StoreError {
    StoreError(
      .unstorableValue,
      "cannot update \(entity) \(recordID): the new value of '\(attribute)' does not fit \(type); "
        + "exclude such records by a condition", entity: entity, recordID: recordID)
  }
}
