import ArgumentParser
import EntityStore

/// The arguments of `query` and `explain`: which records, and in which order.
struct QueryArguments: ParsableArguments {
  @OptionGroup var condition: ConditionOptions

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "The order: paths with commas between them, '-' in front for descending.",
      discussion:
        "[c] behind a path compares without case, [d] without accents, [cd] without both. "
        + "Null is below every value. Without --sort, by _id.",
      valueName: "-a,b.c[cd]"))
  var sort: [SortKeys] = []

  @OptionGroup var rows: RowOptions

  /// The request, without the limit.
  ///
  /// Checked by the parser of format strings and, for the order, against `entity`; the rest is
  /// checked when it is planned.
  func request(for entity: StoredEntity, in store: String) throws -> QueryRequest {
    var request = try condition.request()
    request.order = try sort.flatMap { try $0.terms(of: entity, in: store) }
    request.offset = rows.offset
    return request
  }
}
