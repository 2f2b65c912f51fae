internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Evaluates a condition on the bytes of records, each through its own layout.
///
/// Each run of a query has its own evaluator, used on one thread. The evaluator decodes only the
/// parts of documents that the condition reads, and whole records for closures.
final class ConditionEvaluator {
  private let condition: BoundCondition
  let entity: StoredEntity
  let core: TransactionCore
  /// The condition compiled for the current layout.
  private let program: LayoutProgram
  /// The condition compiled for older layouts, by layout number.
  ///
  /// A program is compiled when a record has the layout.
  private var olderPrograms: [UInt16: LayoutProgram] = [:]
  private let verifiesChecksums: Bool
  /// A reusable encoder for the keys of attributes.
  var key = KeyEncoder()
  /// The current elements of the enclosing SUBQUERYs, outermost first.
  var elements: [DynamicValue] = []
  /// Called for each element of a SUBQUERY.
  ///
  /// Throwing from it ends the run.
  var onElement: (() throws -> Void)?
  /// The time that `now()` returns, the same for the whole run.
  let now: Double
  /// The evaluations of related records, by the identity of the test or operand.
  private var relatedByQuestion: [ObjectIdentifier: RelatedEvaluation] = [:]

  /// The evaluations of searches, by the identity of the search.
  private var searches: [ObjectIdentifier: SearchEvaluation] = [:]

  private let relatedSearch: RelatedSearch?

  /// - Parameter relatedSearch: the search of an index for conditions over related records; without
  ///   it, each related record is read.
  init(
    _ condition: BoundCondition, entity: StoredEntity, core: TransactionCore, now: Double? = nil,
    relatedSearch: RelatedSearch?
  ) {
    self.condition = condition
    self.entity = entity
    self.core = core
    self.relatedSearch = relatedSearch
    verifiesChecksums = core.store.options.verifiesChecksums
    self.now = now ?? DynamicValue.currentTime
    program = LayoutProgram(condition, layout: entity.layout)
  }

  /// Returns whether the record `id` with these bytes fulfils the condition.
  func admits(_ bytes: ByteView, id: UInt64) throws(StoreError) -> Bool {
    if !verifiesChecksums, let answer = program.admits(bytes) {
      guard answer, !program.rest.isEmpty else { return answer }
      return try admitsRest(bytes, id: id, program)
    }
    return try admitsOther(bytes, id: id)
  }

  /// Visits the records from the cursor's position through `end` that fulfil the condition, until
  /// `body` returns false.
  ///
  /// The condition is tested as by ``admits(_:id:)``, but the loop keeps the program of the current
  /// layout in local variables. Returns the number of records read.
  @inline(__always)
  func forEach(
    from cursor: Cursor, through end: UInt64, _ body: (UInt64, ByteView) throws -> Bool
  ) throws -> Int {
    let program = program
    let hasRest = !program.rest.isEmpty
    let verifiesChecksums = verifiesChecksums
    var count = 0
    try cursor.forEachRecord { (id, bytes) throws in
      guard id <= end else { return false }
      count &+= 1
      if !verifiesChecksums, let answer = program.admits(bytes) {
        guard answer else { return true }
        if hasRest, try !admitsRest(bytes, id: id, program) { return true }
      } else if try !admitsOther(bytes, id: id) {
        return true
      }
      return try body(id, bytes)
    }
    return count
  }

  /// Tests a record of another layout, or one whose checksum must be verified first.
  @inline(never)
  private func admitsOther(_ bytes: ByteView, id: UInt64) throws(StoreError) -> Bool {
    let view = try entity.view(bytes, id: id)
    if verifiesChecksums { try entity.verifyChecksum(of: view, id: id) }
    let program = program(for: view.layout)
    for test in program.slots where !test.admits(bytes) { return false }
    for test in program.texts where !test.admits(view) { return false }
    return try admitsRest(bytes, id: id, program, comparesNumbers: true)
  }

  private func program(for layout: RecordLayout) -> LayoutProgram {
    if layout === program.layout { return program }
    if let known = olderPrograms[layout.number] { return known }
    let made = LayoutProgram(condition, layout: layout)
    olderPrograms[layout.number] = made
    return made
  }

  @inline(never)
  private func admitsRest(
    _ bytes: ByteView, id: UInt64, _ program: LayoutProgram, comparesNumbers: Bool = false
  ) throws(StoreError) -> Bool {
    let record = RecordUnderTest(view: try entity.view(bytes, id: id), id: id)
    do {
      if comparesNumbers {
        for comparison in program.comparisons {
          guard try evaluate(comparison, record) else { return false }
        }
      }
      for step in program.rest {
        guard try evaluate(step, record) else { return false }
      }
      return true
    } catch let error as StoreError {
      throw error
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
  }

  // MARK: Evaluating steps

  private func evaluate(_ step: LayoutProgram.Step, _ record: RecordUnderTest) throws -> Bool {
    switch step {
    case .constant(let flag): return flag
    case .all(let steps):
      for step in steps { if try !evaluate(step, record) { return false } }
      return true
    case .any(let steps):
      for step in steps { if try evaluate(step, record) { return true } }
      return false
    case .not(let step): return try !evaluate(step, record)
    case .slot(let test): return test.admits(record.view.bytes)
    case .recordID(let kind): return kind.admits(OrderedNumber.key(record.id))
    case .isNull(let slot): return record.view.isNull(slot)
    case .numbers(let slot, let set, let admitsNull):
      if record.view.isNull(slot) { return admitsNull }
      return set.contains(try record.view.orderedNumber(at: slot))
    case .text(let slot, let test):
      if record.view.isNull(slot) { return false }
      return test.admits(record.view.variableBytes(slot))
    case .key(let slot, let interval):
      if record.view.isNull(slot) { return false }
      key.reset()
      try IndexTuple.append(slot, of: record.view, into: &key)
      return interval.admits(key.bytes)
    case .keys(let slot, let set, let admitsNull):
      if record.view.isNull(slot) { return admitsNull }
      key.reset()
      try IndexTuple.append(slot, of: record.view, into: &key)
      return set.contains(key.bytes)
    case .numberTests(let tests, let comparison):
      for test in tests {
        guard let answer = test.admits(record.view.bytes) else {
          return try evaluate(comparison, record)
        }
        if !answer { return false }
      }
      return true
    case .expression(let comparison): return try evaluate(comparison, record)
    case .related(let test): return try related(test, test.end, test.condition).isTrue(for: record)
    case .search(let search): return try searchEvaluation(of: search).matches(record)
    case .proximity(let place): return try place.admits(record, entity)
    case .closure(let closure):
      return try closure.evaluate(record.view.bytes, id: record.id, of: entity, core: core)
    }
  }

  /// Returns the evaluation for a test or an operand about related records, creating it on first
  /// use.
  private func related(
    _ question: AnyObject, _ end: RelationshipEnd, _ condition: BoundCondition
  ) throws(StoreError) -> RelatedEvaluation {
    if let known = relatedByQuestion[ObjectIdentifier(question)] { return known }
    let made = try RelatedEvaluation(
      end, condition, now: now, core: core, relatedSearch: relatedSearch)
    relatedByQuestion[ObjectIdentifier(question)] = made
    return made
  }

  /// Returns the evaluation of a search on the texts of records, creating it on first use.
  func searchEvaluation(of search: BoundSearch) throws(StoreError) -> SearchEvaluation {
    if let known = searches[ObjectIdentifier(search)] { return known }
    let made = SearchEvaluation(search, of: entity, core: core)
    searches[ObjectIdentifier(search)] = made
    return made
  }

  /// Returns the value of an operand about related records.
  func value(_ operand: RelatedOperand, _ record: RecordUnderTest) throws -> DynamicValue {
    try related(operand, operand.end, operand.condition ?? .constant(true))
      .value(operand.question, for: record)
  }

  /// Returns whether a record that is about to be written fulfils the condition.
  func admits(new view: RecordView, id: UInt64) throws(StoreError) -> Bool {
    do {
      return try evaluate(condition, RecordUnderTest(view: view, id: id))
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// Evaluates a condition inside an expression, which is not part of a layout's program.
  func evaluate(_ condition: BoundCondition, _ record: RecordUnderTest) throws -> Bool {
    switch condition {
    case .all(let parts):
      for part in parts { if try !evaluate(part, record) { return false } }
      return true
    case .any(let parts):
      for part in parts { if try evaluate(part, record) { return true } }
      return false
    case .not(let part): return try !evaluate(part, record)
    case .expression(let comparison): return try evaluate(comparison, record)
    default: return try evaluate(LayoutProgram.step(condition, record.view.layout), record)
    }
  }
}

/// The record that a condition is evaluated on.
struct RecordUnderTest {
  let view: RecordView
  let id: UInt64
}
