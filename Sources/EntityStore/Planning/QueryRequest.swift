/// A query without its Swift type, as ``Query`` and ``DynamicSnapshot`` pass it to the planner.
package struct QueryRequest: Sendable, Hashable {
  var condition: ConditionTree
  /// The positions of the condition's paths in its format string.
  var positions: [String: FormatPosition] = [:]
  package var order: [SortTerm] = []
  package var limit: Int?
  package var offset = 0
  package var after: ContinuationToken?
  /// Whether the query throws if no index bounds the records that it reads.
  package var requiresIndex = false
  /// Whether the planner must choose a scan, for tests and measurements.
  var forcesScan = false

  /// The only ids that the query checks, ascending; `nil` for all.
  var ids: [UInt64]?

  /// Whether only ids or their number are wanted, so that the entries of an index may suffice.
  var wantsOnlyEntries = false

  init(condition: ConditionTree = .constant(true)) { self.condition = condition }
}

/// One key of an order.
package struct SortTerm: Sendable, Hashable {
  /// The value of each record that the order compares.
  var operand: Operand
  var isDescending: Bool
  /// Whether null comes first.
  ///
  /// By default null is below every value, so it is first in ascending order.
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

  /// Whether walking an index over the operand in the term's direction gives the term's order.
  var isOrderOfIndex: Bool { options.isEmpty && (nullsFirst ?? !isDescending) != isDescending }
}

extension QueryRequest {
  func checkWindow() throws(StoreError) {
    if let limit, limit < 0 { throw .badQuery("the limit is \(limit)") }
    guard offset >= 0 else { throw .badQuery("the offset is \(offset)") }
  }
}
