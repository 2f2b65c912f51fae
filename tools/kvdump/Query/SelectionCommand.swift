import EntityStore

/// A command that selects and orders records: `query` and `explain`.
///
/// The groups are properties of the commands, because a debug build of the parser takes four times
/// as long for each group within a group.
protocol SelectionCommand: EntityCommand {
  var condition: ConditionOptions { get }
  var order: OrderOptions { get }
  var rows: RowOptions { get }
  var near: NearPlace? { get }
}

extension SelectionCommand {
  var formatString: String? { condition.text }

  /// The request without the limit.
  ///
  /// The parser checks the format string, and the order is checked against `entity`. Planning
  /// checks the rest.
  func request(for entity: DynamicEntity, of snapshot: DynamicSnapshot) throws -> QueryRequest {
    var request = try condition.request()
    if let near { request = request.near(near.place, meters: near.meters) }
    let terms = try order.terms(of: entity, snapshot)
    if near == nil || !terms.isEmpty { request.order = terms }
    request.offset = rows.offset
    return request
  }
}
