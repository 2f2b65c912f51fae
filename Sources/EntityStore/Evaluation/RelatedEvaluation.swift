internal import LMDB
internal import LodestoreFormat

/// Finds the ids of all related records that fulfil a test, by an index.
///
/// The result is `nil` if all records would have to be scanned, or if too many ids are expected.
/// Runs of plans provide the search, so evaluation knows no plans.
typealias RelatedSearch = (RelatedTest, TransactionCore) throws(StoreError) -> Set<UInt64>?

/// Tests related records, one after the other, and caches the answers.
///
/// If an index finds the related records that fulfil the condition, and they are few, the index is
/// read once. The links of each record then decide without reading related records. Otherwise each
/// related record is read once.
final class RelatedEvaluation {
  private let end: RelationshipEnd
  private let condition: BoundCondition
  private let core: TransactionCore
  /// The links from a record to its related records; `nil` if an attribute holds the id.
  private let links: LinkCursor?
  private let records: Cursor
  private let evaluator: ConditionEvaluator
  private let isAlways: Bool
  /// Whether a link may lead to no record.
  ///
  /// The value is true in a write if an attribute holds the links. An id in an attribute must lead
  /// to a record only at the end of the write.
  private let mayDangle: Bool
  /// The ids of all related records that fulfil the condition, if an index finds them.
  private var admitted: Set<UInt64>?
  /// The answers for single records, cleared when ``mostKnown`` is reached.
  private var known: [UInt64: Bool] = [:]
  private static let mostKnown = 1 << 20

  init(
    _ end: RelationshipEnd, _ condition: BoundCondition, now: Double, core: TransactionCore,
    relatedSearch: RelatedSearch?
  ) throws(StoreError) {
    self.end = end
    self.condition = condition
    self.core = core
    links = try end.links.map { (index) throws(StoreError) in try LinkCursor(index, core: core) }
    do {
      records = try Cursor(end.target.records, in: core.transaction)
    } catch {
      throw StoreError(error)
    }
    isAlways = condition.isAlways
    mayDangle = core.isWrite && end.attribute != nil
    evaluator = ConditionEvaluator(
      condition, entity: end.target, core: core, now: now, relatedSearch: relatedSearch)
    admitted = isAlways ? nil : try relatedSearch?(RelatedTest(end, condition), core)
  }

  /// Returns whether one of the record's related records fulfils the condition.
  func isTrue(for record: RecordUnderTest) throws -> Bool {
    var isTrue = false
    try forEach(of: record) { id in
      isTrue = try admits(id)
      return !isTrue
    }
    return isTrue
  }

  /// Returns the value that `question` asks of the record's related records.
  func value(
    _ question: RelatedOperand.Question, for record: RecordUnderTest
  ) throws -> DynamicValue {
    switch question {
    case .count:
      var count = 0
      try forEach(of: record) { id in
        if try admits(id) { count += 1 }
        return true
      }
      return .integer(Int64(count))
    case .aggregate(let operation, let operand):
      return try Arithmetic.aggregate(operation, try values(of: operand, for: record))
    case .value(let operand): return try values(of: operand, for: record).first ?? .null
    case .list(let operand):
      return .list(try values(of: operand, for: record).filter { !$0.isNull })
    }
  }

  private func values(
    of operand: BoundOperand, for record: RecordUnderTest
  ) throws -> [DynamicValue] {
    var values: [DynamicValue] = []
    try forEach(of: record) { id in
      guard try admits(id), let related = try related(id) else { return true }
      values.append(try evaluator.value(operand, related))
      return true
    }
    return values
  }

  private func forEach(of record: RecordUnderTest, _ body: (UInt64) throws -> Bool) throws {
    if let links { return try links.forEach(of: record.id, body) }
    guard let attribute = end.attribute,
      let id = try end.source.recordID(ofAttribute: attribute.number, in: record.view)
    else { return }
    _ = try body(id)
  }

  private func admits(_ id: UInt64) throws -> Bool {
    if isAlways { return mayDangle ? try records.seek(id) : true }
    if let admitted { return admitted.contains(id) }
    if let answer = known[id] { return answer }
    guard try records.seek(id) else { return false }
    let answer = try evaluator.admits(records.value, id: id)
    if known.count >= Self.mostKnown { known.removeAll(keepingCapacity: true) }
    known[id] = answer
    return answer
  }

  private func related(_ id: UInt64) throws -> RecordUnderTest? {
    guard try records.seek(id) else { return nil }
    return RecordUnderTest(view: try end.target.view(records.value, id: id), id: id)
  }
}
