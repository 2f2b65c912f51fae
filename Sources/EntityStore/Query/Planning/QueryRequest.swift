/// A query without its Swift type, which ``Query`` and ``DynamicSnapshot`` hand to the planner.
package struct QueryRequest: Sendable, Hashable {
  var condition: ConditionTree
  /// The positions of the condition's paths in its format string.
  var positions: [String: FormatPosition] = [:]
  package var order: [SortTerm] = []
  package var limit: Int?
  package var offset = 0
  package var after: ContinuationToken?
  /// Whether it is an error when no index bounds what is read.
  package var requiresIndex = false
  /// Whether the planner must read all records: for tests and measurements.
  var forcesScan = false

  /// The only ids that the query checks, ascending; `nil` for all.
  var ids: [UInt64]?

  /// Whether only ids or their count are wanted, so that the entries of an index may answer alone.
  var wantsOnlyEntries = false

  init(condition: ConditionTree = .constant(true)) {
    self.condition = condition
  }
}

/// One key of an order.
package struct SortTerm: Sendable, Hashable {
  /// The value of each record that the order compares.
  var operand: Operand
  var isDescending: Bool
  /// Where null goes; by default below every value, so first when ascending.
  var nullsFirst: Bool?
  var options: TextOptions

  package init(
    _ path: ValuePath, isDescending: Bool = false, nullsFirst: Bool? = nil,
    options: TextOptions = []
  ) {
    self.init(.path(path), isDescending: isDescending, nullsFirst: nullsFirst, options: options)
  }

  init(
    _ operand: Operand, isDescending: Bool = false, nullsFirst: Bool? = nil,
    options: TextOptions = []
  ) {
    self.operand = operand
    self.isDescending = isDescending
    self.nullsFirst = nullsFirst
    self.options = options
  }

  /// Whether the order is that of an index walked in the direction of the term.
  var isOrderOfIndex: Bool {
    options.isEmpty && (nullsFirst ?? !isDescending) != isDescending
  }
}

extension QueryRequest {
  func checkWindow() throws(StoreError) {
    if let limit, limit < 0 { throw .badQuery("the limit is \(limit)") }
    guard offset >= 0 else { throw .badQuery("the offset is \(offset)") }
  }
}
