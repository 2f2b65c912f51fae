import ArgumentParser
import EntityStore

/// The arguments of `query` and `explain` that select and order records.
struct QueryArguments: ParsableArguments {
  @OptionGroup var condition: ConditionOptions

  @OptionGroup var order: OrderOptions
  @OptionGroup var rows: RowOptions

  /// The request without the limit.
  ///
  /// The parser checks the format string, and the order is checked against `entity`. Planning
  /// checks the rest.
  func request(for entity: DynamicEntity, of snapshot: DynamicSnapshot) throws -> QueryRequest {
    var request = try condition.request()
    request.order = try order.terms(of: entity, snapshot)
    request.offset = rows.offset
    return request
  }
}
