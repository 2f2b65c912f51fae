internal import LodestoreFormat

enum SemiJoinLimits {
  /// The maximum number of keys in memory that one of the two stores contributes.
  static let keys = 65_536
  /// The maximum number of bytes of the keys in memory.
  static let keyBytes = 16 << 20
  /// The number of records that are checked at once.
  static let chunk = 1_024
}

/// The memory used by the keys that one of the two stores contributes to a condition.
private struct KeyBudget {
  let limit: Int
  private var count = 0
  private var byteCount = 0

  init(limit: Int) { self.limit = limit }

  var isExceeded: Bool { count > limit || byteCount > SemiJoinLimits.keyBytes }

  mutating func add(_ value: Value) {
    count += 1
    switch value {
    case .string(let text): byteCount += text.utf8.count
    case .data(let bytes), .document(let bytes): byteCount += bytes.count
    default: byteCount += 16
    }
  }
}

/// A condition on records of one store that depends on records of the other store.
///
/// The condition can be applied in two ways. Either the keys are first found in the other store and
/// become a condition of the query. Or the query runs in its order, and its records are checked
/// against the other store, many at a time. ``AttachedPlan`` chooses.
struct SemiJoin<E: Entity>: Sendable {
  /// Whether `E` is an entity of the dataset.
  let isOfDataset: Bool
  let isNegated: Bool
  /// The name of the attribute with the references, for explanations.
  let reference: String
  /// Whether the other query has a limit, so that it must run completely.
  let isOfBounded: Bool
  /// The plan for finding all records of the other query in the other store.
  let plan: @Sendable (_ other: TransactionCore) throws(StoreError) -> QueryPlan
  /// The condition made from the keys in the other store.
  ///
  /// Returns `nil` for more keys than `limit`, or more bytes than ``SemiJoinLimits/keyBytes``.
  let condition:
    @Sendable (_ own: TransactionCore, _ other: TransactionCore, _ limit: Int) throws ->
      Condition<E>?
  /// Returns for each record whether it matches the condition.
  let admits:
    @Sendable (_ rows: [StoredRow], _ own: TransactionCore, _ other: TransactionCore) throws ->
      [Bool]

  /// Creates the condition that a record's reference leads to a record that matches `targets`.
  init<T: Entity>(
    _ attribute: ReferenceAttribute<E, T>, leadsTo targets: Query<T>, isNegated: Bool
  ) {
    isOfDataset = false
    self.isNegated = isNegated
    reference = "\(E.schema.name).\(attribute.name)"
    isOfBounded = targets.isBounded
    let visited = targets.isBounded ? targets : targets.unordered()
    plan = { (other) throws(StoreError) in
      try other.plan(try visited.request(), for: try other.entity(T.self))
    }
    condition = { _, other, limit in
      let key = try KeyColumn(T.self, other)
      var keys: [Value] = []
      var budget = KeyBudget(limit: limit)
      try other.visit(visited) { row in
        // A record whose key contains null cannot be referenced.
        if let value = try key.value(of: row) {
          keys.append(value)
          budget.add(value)
        }
        return !budget.isExceeded
      }
      if budget.isExceeded { return nil }
      let condition = attribute.isIn(keys)
      return isNegated ? condition.negated : condition
    }
    admits = { rows, own, other in
      let column = try ValueColumn(try own.entity(E.self), attribute.ordinal)
      let ids = try other.targetIDs(rows.map { try column.reference(of: $0, T.self) })
      var wanted = ids.filter { $0 != 0 }
      IDSort.sortUnique(&wanted)
      let query = targets.unordered().within(wanted)
      let found = wanted.isEmpty ? [] : Set(try other.run(query, wantsOnlyEntries: true).ids())
      return ids.map { found.contains($0) != isNegated }
    }
  }

  /// Creates the condition that a record is referenced by a record that matches `records`.
  init<U: Entity>(
    referredBy attribute: ReferenceAttribute<U, E>, of records: Query<U>, isNegated: Bool
  ) {
    isOfDataset = true
    self.isNegated = isNegated
    reference = "\(U.schema.name).\(attribute.name)"
    isOfBounded = records.isBounded
    let visited = records.isBounded ? records : records.unordered()
    plan = { (other) throws(StoreError) in
      try other.plan(try visited.request(), for: try other.entity(U.self))
    }
    condition = { own, other, limit in
      let column = try ValueColumn(try other.entity(U.self), attribute.ordinal)
      var references: Set<Reference<E>> = []
      var budget = KeyBudget(limit: limit)
      try other.visit(visited) { row in
        if let reference = try column.reference(of: row, E.self),
          references.insert(reference).inserted
        {
          budget.add(reference.stored.value)
        }
        return !budget.isExceeded
      }
      if budget.isExceeded { return nil }
      let ids = try own.targetIDs(Array(references)).filter { $0 != 0 }
      let condition = Attribute<E, E.ID>.recordID
        .compared(.in, .values(ids.map { .integer(unsigned: $0) }))
      return isNegated ? condition.negated : condition
    }
    admits = { rows, own, other in
      let key = try KeyColumn(E.self, own)
      let keys = try rows.map { try key.value(of: $0) }
      let column = try ValueColumn(try other.entity(U.self), attribute.ordinal)
      var referred: Set<Value> = []
      let wanted = records.unordered().where(attribute.isIn(keys.compactMap { $0 }))
      try other.visit(wanted) { row in
        referred.insert(try column.value(of: row))
        return true
      }
      return keys.map { key in (key.map { referred.contains($0) } ?? false) != isNegated }
    }
  }
}
