internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Assigns new values to attributes of many records.
///
/// Slots are patched in the page, records whose size changes are rebuilt, and changed index entries
/// are moved.
final class BatchUpdate {
  /// An attribute and the expression of its new value.
  struct Assignment {
    var attribute: BoundAttribute
    var operand: BoundOperand
    /// The value, if it is equal for every record.
    var constant: Value?
  }

  /// The receiver of the changes.
  private enum Target {
    /// The batch that makes the changes.
    case batch(UpdateBatch)
    /// The rehearsal that only collects the changes.
    case rehearsal(ChangeRehearsal)

    var isRehearsal: Bool { if case .rehearsal = self { true } else { false } }
  }

  private let core: WriteCore
  private let entity: StoredEntity
  private let assignments: [Assignment]
  private let evaluator: ConditionEvaluator
  private let changes: EntityChanges
  private let assigned: SetAttributes
  /// The current layout.
  private let layout: RecordLayout
  /// The slots of the assigned attributes in the current layout; `nil` unless all have a fixed
  /// width.
  private let slots: [RecordLayout.Slot]?
  /// The values, if they are equal for every record.
  private let constants: [Value]?
  /// Returns the new values of the record with an id; `nil` when the assignments determine the
  /// values.
  private let given: ((UInt64) -> [Value])?
  /// The patch that writes ``constants`` into ``slots``.
  ///
  /// `nil` when other bytes must change too, or when values must be checked.
  private let patch: SlotPatch?
  /// The maximum length, in bytes, of a record that is patched.
  private let longestInPage = RecordTree.longestInPage
  /// The rules that changed records of this update break, collected for one error.
  @exclusivity(unchecked) private var broken = BrokenRules()
  /// Whether new values depend on other records, which the update may change too.
  private let readsOthers: Bool
  /// The new values by id, if they are computed before the first record is changed.
  @exclusivity(unchecked) private var prepared: [UInt64: [Value]] = [:]
  // Exclusivity is not checked, because only one thread accesses the object and the checks would
  // slow down each record.
  @exclusivity(unchecked) private(set) var updatedCount = 0

  init(
    of entity: StoredEntity, _ assignments: [Assignment], given: ((UInt64) -> [Value])? = nil,
    core: WriteCore
  ) throws(StoreError) {
    self.core = core
    self.entity = entity
    self.assignments = assignments
    self.given = given
    evaluator = ConditionEvaluator(.constant(true), entity: entity, core: core)
    let assigned = SetAttributes(Set(assignments.map(\.attribute.number)), of: entity)
    self.assigned = assigned
    readsOthers = assignments.contains { $0.constant == nil && $0.operand.readsOtherRecords }
    changes = core.changes(of: entity)
    layout = entity.layout
    var slots: [RecordLayout.Slot] = []
    for assignment in assignments where !assignment.attribute.type.isVariable {
      if let index = entity.layout.slotIndex(ofAttribute: assignment.attribute.number) {
        slots.append(entity.layout.slots[index])
      }
    }
    let isPatched = slots.count == assignments.count && !assigned.derives
    self.slots = isPatched ? slots : nil
    let constants = assignments.compactMap(\.constant)
    self.constants = constants.count == assignments.count ? constants : nil
    if slots.count == constants.count, constants.count == assignments.count,
      let unread = changes.unread(assigned)
    {
      patch = try? SlotPatch(constants, at: slots, of: entity.layout, unread)
    } else {
      patch = nil
    }
  }

  /// Whether records can be changed during the scan.
  ///
  /// For this, the records must keep their size and position, and no new value may depend on
  /// another record.
  var isInPlace: Bool { slots != nil && !readsOthers }

  /// Scans all records, and updates those that match.
  func updateAll(where condition: BoundCondition?) throws(StoreError) {
    // The evaluator exists even without a condition, because an optional evaluator would be
    // retained and released for each record.
    let filter = ConditionEvaluator(condition ?? .constant(true), entity: entity, core: core)
    try rehearse(of: try core.count(of: entity)) { try updateEach(admittedBy: filter, $0) }
    try change { try updateEach(admittedBy: filter, $0) }
  }

  /// Runs `body` with a batch of changes.
  ///
  /// Old keys are removed before new ones are added, so that a record may take a unique key that
  /// another record releases.
  private func change(_ body: (Target) throws -> Void) throws(StoreError) {
    try changes.withUpdateBatch(
      setting: assigned, memoryLimit: core.store.options.batchMemoryInBytes
    ) { batch in
      try body(.batch(batch))
      try broken.check()
    }
  }

  /// Whether a change of the update may be refused: by a constraint, a rule, a unique key or an
  /// unstorable result of an expression.
  private var canBeRefused: Bool {
    patch == nil
      && (constants == nil && given == nil
        || ChangeRehearsal.isNeeded(changes, concerned: assigned.indexes))
  }

  /// Runs an update of at most `count` records without writing its changes; throws the error with
  /// which the update would fail.
  private func rehearse(of count: Int, _ body: (Target) throws -> Void) throws(StoreError) {
    guard canBeRefused, count <= ChangeRehearsal.largestCount else { return }
    let rehearsal = try ChangeRehearsal(changes, concerned: assigned.indexes, core: core)
    try rehearse(with: rehearsal, body)
    try rehearsal.check()
  }

  private func rehearse(
    with rehearsal: ChangeRehearsal, _ body: (Target) throws -> Void
  ) throws(StoreError) {
    defer { updatedCount = 0 }
    try wrappingErrors { try body(.rehearsal(rehearsal)) }
  }

  /// Adds the changes that ``update(_:)`` would make in the records with `ids`, in ascending order.
  func rehearse(_ ids: [UInt64], with rehearsal: ChangeRehearsal) throws(StoreError) {
    guard canBeRefused else { return }
    try rehearse(with: rehearsal) { try updateEach(ids, $0) }
  }

  /// Updates each record that the filter admits.
  ///
  /// The loop is not in a closure, because access to captured variables would cost time for each
  /// record.
  private func updateEach(admittedBy filter: ConditionEvaluator, _ target: Target) throws {
    let total = try core.count(of: entity)
    let cursor = try Cursor(entity.records, in: core.transaction)
    var found = try cursor.first()
    var count = 0
    while found {
      let id = cursor.integerKey
      if try filter.admits(cursor.value, id: id), try update(id, at: cursor, target) {
        updatedCount += 1
      }
      count &+= 1
      if count & 1_023 == 0 { try pause(count, total, target) }
      found = try cursor.next()
    }
  }

  /// Reports the progress of the update, and throws when it was cancelled.
  @inline(never)
  private func pause(_ count: Int, _ total: Int, _ target: Target) throws(StoreError) {
    try core.checkCancellation(of: entity)
    if !target.isRehearsal { core.batchReport?.tell(count, of: total, entity) }
  }

  /// Updates the records with `ids`, in ascending order.
  ///
  /// Values that depend on other records are all computed before the first change: O(*n*) memory
  /// for *n* records.
  ///
  /// After an error, only some records have new values, and the transaction can only be aborted.
  func update(_ ids: [UInt64]) throws(StoreError) {
    if readsOthers {
      try wrappingErrors {
        try core.forEachStored(ids, of: entity) { id, cursor in
          let stored = try changes.stored(cursor.value, id: id, isCarriedOver: true)
          prepared[id] = try newValues(RecordUnderTest(view: stored.view, id: id))
        }
      }
    }
    try rehearse(of: ids.count) { try updateEach(ids, $0) }
    try change { try updateEach(ids, $0) }
  }

  private func updateEach(_ ids: [UInt64], _ target: Target) throws {
    var count = 0
    try core.forEachStored(ids, of: entity) { id, cursor in
      if try update(id, at: cursor, target) { updatedCount += 1 }
      count &+= 1
      if count & 1_023 == 0, !target.isRehearsal {
        core.batchReport?.tell(count, of: ids.count, entity)
      }
    }
  }

  /// Updates the record at the cursor; returns false when its values are already equal.
  @inline(__always)
  private func update(_ id: UInt64, at cursor: Cursor, _ target: Target) throws -> Bool {
    switch try patched(id, at: cursor, target) {
    case .some(let isChanged): isChanged
    case nil: try updateCopied(id, at: cursor, target)
    }
  }

  /// Patches the record at the cursor; returns whether it changed, or `nil` when it cannot be
  /// patched.
  @inline(__always)
  private func patched(_ id: UInt64, at cursor: Cursor, _ target: Target) throws -> Bool? {
    let record = cursor.value
    switch patch {
    case .none: return nil
    case .some(let patch):
      // The layout number and the length of the record are checked before a slot is read, because
      // the file may be damaged.
      guard record.count <= longestInPage, layout.narrowHeapOffset(in: record) != nil,
        changes.isSound(record, id: id)
      else { return nil }
      guard patch.changes(record) else { return false }
      switch target {
      case .batch(let batch):
        try batch.patch(id, of: patch.attributes, at: cursor, by: { patch.apply(to: $0) })
      case .rehearsal: assertionFailure("an update that cannot be refused is not rehearsed")
      }
      return true
    }
  }

  private func updateCopied(_ id: UInt64, at cursor: Cursor, _ target: Target) throws -> Bool {
    let stored = try changes.stored(cursor.value, id: id, isCarriedOver: true)
    let known = constants ?? given?(id) ?? prepared[id]
    let values = try known ?? newValues(RecordUnderTest(view: stored.view, id: id))
    if let slots, stored.view.layout === entity.layout {
      let record = try changes.copy(of: stored)
      for (slot, value) in zip(slots, values) { try slot.write(value, in: record.bytes) }
      if record.raw.elementsEqual(stored.view.bytes) { return false }
      let derived = try changes.derived(record, over: stored, setting: assigned)
      try replace(stored, with: derived, at: cursor, target)
    } else {
      guard let record = try rebuilt(stored, values) else { return false }
      try replace(stored, with: record, at: cursor, target)
    }
    return true
  }

  /// Checks and seals `record`, and replaces the record at the cursor with it.
  private func replace(
    _ stored: StoredRecord, with record: DerivedRecord, at cursor: Cursor, _ target: Target
  ) throws {
    switch target {
    case .rehearsal(let rehearsal):
      try rehearsal.note(stored, try entity.view(record.record))
    case .batch(let batch):
      switch try changes.prepareOrRefuse(record, id: stored.id) {
      case .ready(let sealed): try batch.replace(stored, with: sealed, at: cursor)
      case .refused(let refusal): try broken.add(refusal)
      }
    }
  }

  private func newValues(_ record: RecordUnderTest) throws -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(assignments.count)
    for assignment in assignments {
      if let constant = assignment.constant {
        values.append(constant)
        continue
      }
      let result = try evaluator.value(assignment.operand, record)
      guard let value = result.stored(in: assignment.attribute.type),
        try value != .null
          || assignment.attribute.isOptional && !isOverflow(assignment.operand, record)
      else {
        throw StoreError.unfitting(
          entity: entity.name, attribute: assignment.attribute.name,
          type: assignment.attribute.type.name, recordID: record.id)
      }
      values.append(value)
    }
    return values
  }

  /// Returns whether an expression is null although none of its operands is null, for example by
  /// overflow.
  ///
  /// A condition treats such a value as null; an update must not write it.
  private func isOverflow(_ operand: BoundOperand, _ record: RecordUnderTest) throws -> Bool {
    switch operand {
    case .arithmetic(_, let left, let right):
      if try isOverflow(left, record) || isOverflow(right, record) { return true }
      return try evaluator.value(operand, record).isNull
        && !evaluator.value(left, record).isNull && !evaluator.value(right, record).isNull
    case .negative(let inner):
      if try isOverflow(inner, record) { return true }
      return try evaluator.value(operand, record).isNull && !evaluator.value(inner, record).isNull
    default: return false
    }
  }

  /// Returns the record in the current layout; `nil` when the new values equal the stored ones.
  private func rebuilt(_ stored: StoredRecord, _ values: [Value]) throws -> DerivedRecord? {
    let before = try changes.values(of: stored)
    var all = before
    var isChanged = false
    for (assignment, value) in zip(assignments, values) {
      guard let position = entity.layout.slotIndex(ofAttribute: assignment.attribute.number) else {
        continue
      }
      if !all[position].hasSameBytes(as: value) {
        all[position] = value
        isChanged = true
      }
    }
    guard isChanged else { return nil }
    return try changes.derived(all, over: before, setting: assigned)
  }
}
