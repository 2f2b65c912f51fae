import ArgumentParser
import EntityStore

/// `kvdump search`: the records that have words, the best first.
struct SearchCommand: EntityCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Show the records that have words, the best first.",
    discussion: """
      Examples:
        kvdump search pods.lodestore Pod "json parser"
        kvdump search pods.lodestore Pod 'name:network -image "http client"'
        kvdump search pods.lodestore Pod netw 'license == "MIT"' --typing
        kvdump search pods.lodestore Pod json --in name,summary

      The entity must have a search index; 'kvdump schema' shows it. Any text is a search: quotes \
      enclose a phrase, -word leaves records out, name:word is sought in one attribute, wor* is a \
      beginning, a OR b is one of two.

      'kvdump query' with a condition such as \
      'SELF SEARCH "json parser"' finds the same records in any order.

      The status is 0 even if no record is found.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.") var entity: String

  @Argument(help: "The words.") var text: String

  @Flag(help: "One of the words is enough.") var any = false

  @Flag(help: "The last word is the beginning of a word.") var typing = false

  @Option(
    name: .customLong("in"),
    help: .value("text,…", "The texts of the index, if there are several search indexes."))
  var sources: String?

  @OptionGroup(title: "Selection") var condition: ConditionOptions
  @OptionGroup(title: "Selection") var rows: RowOptions
  @OptionGroup(title: "Selection") var fields: FieldOptions
  @OptionGroup(title: "Selection") var places: PlaceOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  var formatString: String? { condition.text }

  func validate() throws {
    try places.check(OutputFormat(rawValue: output.format.rawValue))
    try refuse(if: any && typing, "--any and --typing: choose one of them")
  }

  func run(on console: Console) async throws -> ExitStatus {
    try read(on: console) { try answer($0, $1, on: console) }
  }

  private func answer(
    _ snapshot: DynamicSnapshot, _ entity: DynamicEntity, on console: Console
  ) throws -> ExitStatus {
    let mode: SearchMode = any ? .anyWord : typing ? .typing : .allWords
    let given = try condition.request()
    guard !given.hasSearch else {
      throw CommandFailure.badArgument(
        condition.text ?? "",
        reason: "has a SEARCH of its own, but the order is by the score of '\(text)'",
        nextStep: "give all words in one search, or use 'kvdump query', which has another order")
    }
    var request = given.searching(
      text, mode, in: sources?.split(separator: ",").map(String.init) ?? [])
    request.offset = rows.offset
    var columns = try RecordColumns(entity, names: fields.names)
    try columns.addPlace(for: console.format, by: places.paths)
    // One more record than is shown reveals whether there are more.
    let limit = rows.effectiveLimit(on: console.terminal)
    request.limit = limit.flatMap { $0 == .max ? nil : $0 + 1 }
    let query = try snapshot.query(request, of: entity)
    let shown = ShownRows(columns.columns, rows, isSkipped: true, on: console)
    try console.withProgress { progress in
      try query.forEach(control: progress?.control) { record in
        try shown.show { try columns.row(record) }
      }
    }
    try shown.finish(total: nil)
    if shown.isEmpty { console.note("\(entity.name): no record found") }
    return .success
  }
}
