import ArgumentParser
import EntityStore

/// Options of the commands that change the records that meet a condition.
struct ChangeOptions: ParsableArguments {
  @Flag(help: "Change all records; otherwise a condition is required.") var all = false

  @OptionGroup var order: OrderOptions

  @Option(help: .value("Change at most this many records, the first ones of the order.", "n"))
  var limit: Int?

  @OptionGroup var marks: MarkOptions

  @Flag(help: "Only count the records: the change is made in a write that is undone.")
  var dryRun = false

  @Flag(name: .shortAndLong, help: "Do not ask.") var yes = false

  /// Checks the options together with `condition`; `nil` means that there is none.
  func check(_ condition: String?) throws {
    try RowOptions.checkLimit(limit)
    try refuse(if: all && condition != nil, "--all and a condition: choose one of them")
    try refuse(if: !all && condition == nil, "a condition is missing; use --all for all records")
    try marks.check(condition)
  }

  /// The request for the records to change.
  ///
  /// A condition that excludes no record is refused, because it may be a mistake. `--all` is the
  /// way to change all records.
  func request(
    _ condition: String?, for entity: DynamicEntity, of snapshot: DynamicSnapshot
  ) throws -> QueryRequest {
    var request = try marks.request(condition)
    if let condition, request.isOfAll {
      throw CommandFailure.badArgument(
        condition, reason: "leaves no record out", nextStep: "say --all instead")
    }
    // Without a limit the order has no effect.
    let terms = try order.terms(of: entity, snapshot)
    request.order = limit == nil ? [] : terms
    request.limit = limit
    return request
  }
}
