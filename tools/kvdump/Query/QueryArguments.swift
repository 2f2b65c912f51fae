import ArgumentParser
import EntityStore

/// The arguments of `query` and `explain`: which records, and in which order.
struct QueryArguments: ParsableArguments {
  @OptionGroup var condition: ConditionOptions

  @OptionGroup var order: OrderOptions
  @OptionGroup var rows: RowOptions

  /// The request, without the limit.
  ///
  /// Checked by the parser of format strings and, for the order, against `entity`; the rest is
  /// checked when it is planned.
  func request(
    for entity: DynamicEntity, of snapshot: DynamicSnapshot
  ) throws -> QueryRequest {
    var request = try condition.request()
    request.order = try order.terms(of: entity, snapshot)
    request.offset = rows.offset
    return request
  }
}
