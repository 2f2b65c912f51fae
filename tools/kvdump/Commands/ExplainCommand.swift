import ArgumentParser
import EntityStore

/// `kvdump explain`: the plan of a query, and the number of records and entries it reads.
struct ExplainCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Show the plan of a query: its index, and how much it reads.",
    discussion: """
      Examples:
        kvdump explain pods.lodestore Pod 'name == "A" AND version >= "2"'
        kvdump explain pods.lodestore Pod --sort -stars --limit 10 --analyze

      The plan is that of 'kvdump query' with these arguments. "scan" means all records; \
      "check" is a condition tested on each record that is read; "sorted" is an order that no \
      index provides. The JSON forms have one object.

      \(ConditionOptions.grammar)
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.") var entity: String

  @OptionGroup(title: "Selection") var condition: ConditionOptions
  @OptionGroup(title: "Selection") var order: OrderOptions
  @OptionGroup(title: "Selection") var rows: RowOptions

  @Option(
    parsing: .unconditional,
    help: .value(
      "Only records near a place, the nearest first: degrees north and east, and a distance in m, "
        + "km or mi.", "lat,lon[,distance]"))
  var near: NearPlace?

  @Flag(help: "Run the query, and show its actual reads next to the estimated ones.")
  var analyze = false

  @Flag(help: "Explain how the records are counted, without an order.") var count = false

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    try refuse(
      if: count && (rows.limit != nil || rows.offset > 0),
      "--count: counts all records; leave out --limit and --offset")
  }

  func run(on console: Console) async throws -> ExitStatus {
    try read(on: console) { snapshot, entity in
      var request = try self.request(for: entity, of: snapshot)
      request.limit = count ? nil : rows.effectiveLimit(on: console.terminal)
      return try PlanReport(
        request, of: entity, snapshot, isCounted: count, isAnalyzed: analyze
      ).write(on: console)
    }
  }
}
