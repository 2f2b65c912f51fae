import ArgumentParser
import EntityStore

/// `kvdump query`: the records that meet a condition.
struct QueryCommand: EntityCommand {
  static let configuration = CommandConfiguration(
    commandName: "query", abstract: "The records for which a condition is true.",
    discussion: """
      Examples:
        kvdump query pods.lodestore Pod 'license == "MIT"' --sort -version,name
        kvdump query pods.lodestore Pod 'name CONTAINS[cd] %@' --arg "l'été"
        kvdump query pods.lodestore Pod 'license.type == NULL' --count
        kvdump query pods.lodestore Pod 'name == "A"' --explain --analyze

      \(ConditionOptions.grammar)

      The status is 0 also when no record is found: a search that finds nothing has been answered. \
      With --exists nothing is written, and the status is 1 when there is none.

      With --page the next page's token follows on standard error: as "next page: --after TOKEN", or \
      not at all on the last page; with --format json or jsonl as {"next":"TOKEN"}, which is null on \
      the last page. A token belongs to one condition and order, and stays good when records come \
      and go.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.")
  var entity: String

  @OptionGroup(title: "Selection") var query: QueryArguments
  @OptionGroup(title: "Selection") var fields: FieldOptions

  @Option(help: ArgumentHelp("Go on where a page ended, told by --page.", valueName: "token"))
  var after: String?

  @Flag(help: "Tell the token of the next page; needs --limit.")
  var page = false

  @Flag(help: "Only how many records there are.")
  var count = false

  @Flag(help: "Nothing but the status: 0 when there is a record, 1 when there is none.")
  var exists = false

  @Flag(help: "How the query is run, instead of the records.")
  var explain = false

  @Flag(help: "Run it, and tell what it read beside what it was thought to read.")
  var analyze = false

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    if page {
      guard let limit = query.rows.limit, limit > 0 else {
        throw ValidationError("--page: needs --limit, how many records a page has")
      }
      if output.quiet { throw ValidationError("--page: tells the token where --quiet is silent") }
    }
    if after != nil, query.rows.offset > 0 {
      throw ValidationError("--after: goes on where a page ended; leave out --offset")
    }
    let answers = [
      (count, "--count"), (exists, "--exists"), (page, "--page"), (after != nil, "--after"),
    ].filter(\.0).map(\.1)
    if answers.count > 1, answers != ["--page", "--after"] {
      throw ValidationError("\(answers[0]) and \(answers[1]): choose one of them")
    }
    if exists, explain || analyze {
      throw ValidationError("--exists and --explain: choose one of them")
    }
  }

  var formatString: String? { query.condition.text }

  func run(on console: Console) async throws -> ExitStatus {
    try read(on: console) { try answer($0, $1, on: console) }
  }

  private func answer(
    _ snapshot: DynamicSnapshot, _ entity: DynamicEntity, on console: Console
  ) throws -> ExitStatus {
    var request = try query.request(for: entity, of: snapshot)
    request.after = after.map { ContinuationToken($0) }
    let columns = try RecordColumns(entity, names: fields.names)
    let limit = query.rows.effectiveLimit(on: console.terminal)
    if explain || analyze {
      request.limit = count ? explicitLimit : limit
      return try PlanReport(
        request, of: entity, snapshot, isCounted: count, isAnalyzed: analyze
      ).write(on: console)
    }
    if count || exists {
      request.order = []
      request.limit = exists ? 1 : explicitLimit
      let counted = try snapshot.query(request, of: entity)
      guard exists else { return try counted.writeCount(on: console) }
      let count = try console.withProgress { try counted.count(control: $0?.control) }
      return count > 0 ? .success : .negative
    }
    let page = try QueryRows(entity: entity, columns: columns, snapshot: snapshot).write(
      request, limit: limit, withToken: self.page, on: console)
    tell(page, of: entity, on: console)
    return .success
  }

  /// The limit for answers other than rows, which have no default limit; `nil` for none.
  private var explicitLimit: Int? { query.rows.limit == 0 ? nil : query.rows.limit }

  private func tell(_ page: QueryRows.Page, of entity: DynamicEntity, on console: Console) {
    if self.page {
      if output.format.isJSON {
        console.note(JSONText.object([("next", page.next.map { .text($0.text) } ?? .null)]))
      } else if let token = page.next {
        console.note("next page: --after \(token)")
      }
    } else if page.shown == 0, query.rows.offset == 0 {
      console.note("\(entity.name): no record found")
    } else {
      console.note(
        RowSummary.text(
          shown: page.shown, offset: query.rows.offset, total: nil, hasMore: page.hasMore))
    }
  }
}
