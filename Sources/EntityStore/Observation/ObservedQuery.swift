internal import LodestoreBytes
internal import LodestoreFormat

/// A query bound to the schema: the dependencies of its results, and the test and order of a
/// record.
struct ObservedQuery {
  let entity: StoredEntity
  let schemaNumber: SchemaNumber
  let condition: BoundCondition
  let order: BoundOrder
  let region: ObservedRegion
  /// Whether each record alone determines whether it is a result, independent of time.
  let isOfRecordsAlone: Bool
  /// Whether the results change over time without a commit, as with `now()`.
  let dependsOnTime: Bool
  /// Whether the query has no limit, offset or token, so that all matching records are results.
  let isUnbounded: Bool
  private let program: LayoutProgram
  private let ids: Set<UInt64>?

  init<E: Entity>(_ query: Query<E>, _ core: TransactionCore) throws(StoreError) {
    entity = try core.entity(E.self)
    schemaNumber = core.schema.number
    let request = try query.request()
    var binding = ConditionBinding(entity, [:], core.schema)
    condition = try ConditionBinding.bind(
      request.condition, to: entity, positions: request.positions, schema: core.schema)
    binding.condition = condition
    order = try BoundOrder(request.order, binding)
    let isByScore = order.terms.contains { if case .score = $0.operand { true } else { false } }
    var region = condition.region
    region.formUnion(order.region)
    dependsOnTime = condition.dependsOnTime
    // A change of any text changes the scores of all records.
    isOfRecordsAlone = region.isEmpty && !dependsOnTime && !isByScore
    region.entities.insert(entity.number)
    self.region = region
    isUnbounded = request.limit == nil && request.offset == 0 && request.after == nil
    ids = request.ids.map(Set.init)
    program = LayoutProgram(condition, layout: entity.layout)
  }

  /// Returns whether a record matches the condition.
  func admits(_ bytes: ByteView, _ id: UInt64, _ core: TransactionCore) throws(StoreError) -> Bool {
    if let ids, !ids.contains(id) { return false }
    if program.rest.isEmpty, let answer = program.admits(bytes) { return answer }
    return try ConditionEvaluator(condition, entity: entity, core: core).admits(bytes, id: id)
  }

  /// Returns whether changed records were results or are results now; returns true when nobody can
  /// tell.
  func isConcerned(by changes: ObservationRound) -> Bool {
    guard schemaNumber == changes.core.schema.number else { return true }
    guard isOfRecordsAlone else { return region.isTouched(by: changes.delta) }
    do {
      guard let records = try changes.records(of: entity) else { return true }
      for record in records {
        let wasResult = try record.old?._withBytes { (bytes) throws(StoreError) in
          try admits(bytes, record.id, changes.core)
        }
        if wasResult ?? false { return true }
        if let new = record.new, try admits(new, record.id, changes.core) { return true }
      }
      return false
    } catch {
      return true
    }
  }
}
