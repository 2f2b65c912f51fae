import ArgumentParser
import EntityStore

/// `kvdump query`: the records that meet a condition.
struct QueryCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    commandName: "query", abstract: "Show the records that meet a condition.",
    discussion: """
      Examples:
        kvdump query pods.lodestore Pod 'license == "MIT"' --sort -version,name
        kvdump query pods.lodestore Pod 'name CONTAINS[cd] %@' --arg "l'été"
        kvdump query fireballs.lodestore Fireball --near 54.8,61.1,500km
        kvdump query notes.lodestore Note --similar 7 --limit 10

      \(ConditionOptions.grammar)

      'kvdump count' counts the records of a condition, and 'kvdump explain' shows the plan of a \
      query.

      --near needs a place index and shows the distance in meters as '_distance', also for --sort: \
      'date,_distance' or '-_distance'. 'SELF WITHIN \
      {south, west, north, east}' and 'SELF NEAR {latitude, longitude, meters}' are conditions.

      --similar needs a vector index and shows the distance of the vectors as '_distance'. The \
      given record is left out.

      The status is 0 even if no record is found. With --exists nothing is written, and the \
      status is 1 if there is no record.

      With --page the token of the next page follows on standard error: as "next page: --after \
      TOKEN", or not at all on the last page. With --format json or jsonl it is \
      {"next":"TOKEN"}, which is null on the last page. A token belongs to one condition and \
      order, and stays valid when records are inserted and deleted.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.") var entity: String

  @OptionGroup(title: "Selection") var condition: ConditionOptions
  @OptionGroup(title: "Selection") var order: OrderOptions
  @OptionGroup(title: "Selection") var rows: RowOptions
  @OptionGroup(title: "Selection") var fields: FieldOptions
  @OptionGroup(title: "Selection") var places: PlaceOptions

  @Option(
    parsing: .unconditional,
    help: .value(
      "Only records near a place, the nearest first: degrees north and east, and a distance in m, "
        + "km or mi.", "lat,lon[,distance]"))
  var near: NearPlace?

  @Option(
    help: .value("Only records with a vector, those most similar to this record first.", "id"))
  var similar: UInt64?

  @Option(help: "The distance of --similar: cosine, dot or euclidean; cosine by default.")
  var by: Similarity?

  @Option(help: .value("Continue after a page, given the token from --page.", "token"))
  var after: String?

  @Flag(help: "Print the token of the next page; needs --limit.") var page = false

  @Flag(help: "Print nothing; the status is 0 if there is a record, 1 if there is none.")
  var exists = false

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    try places.check(OutputFormat(rawValue: output.format.rawValue))
    if page {
      guard let limit = rows.limit, limit > 0 else {
        throw ValidationError("--page: needs --limit, how many records a page has")
      }
      try refuse(if: output.quiet, "--page: tells the token where --quiet is silent")
    }
    try refuse(
      if: after != nil && rows.offset > 0,
      "--after: goes on where a page ended; leave out --offset")
    try refuse(
      if: similar != nil && near != nil, "--similar and --near: choose one of them")
    try refuse(if: by != nil && similar == nil, "--by: needs --similar")
    try refuse(if: exists && page, "--exists and --page: choose one of them")
    try refuse(if: exists && after != nil, "--exists and --after: choose one of them")
  }

  func run(on console: Console) async throws -> ExitStatus {
    try read(on: console) { try answer($0, $1, on: console) }
  }

  private func answer(
    _ snapshot: DynamicSnapshot, _ entity: DynamicEntity, on console: Console
  ) throws -> ExitStatus {
    var request = try self.request(for: entity, of: snapshot)
    let similar = try similar.map {
      try SimilarRecord($0, by: by ?? .cosine, entity, snapshot)
    }
    if let similar { request = try similar.request(request) }
    request.after = after.map { ContinuationToken($0) }
    var columns = try RecordColumns(entity, names: fields.names)
    if exists {
      request.order = []
      request.limit = 1
      let query = try snapshot.query(request, of: entity)
      let count = try console.withProgress { try query.count(control: $0?.control) }
      return count > 0 ? .success : .negative
    }
    // Requesting one more record than is shown reveals whether there are more. If a token is
    // wanted, only the shown records are requested, because the token belongs to the last requested
    // record.
    let limit = rows.effectiveLimit(on: console.terminal)
    request.limit = page ? limit : limit.flatMap { $0 == .max ? nil : $0 + 1 }
    let query = try snapshot.query(request, of: entity)
    if near != nil || similar != nil, let distance = query.distance { columns.add(distance) }
    try columns.addPlace(for: console.format, by: places.paths)
    let shown = ShownRows(columns.columns, rows, isSkipped: true, on: console)
    func show(_ record: DynamicRecord) throws -> Bool {
      try shown.show { try columns.row(record) }
    }
    var next: ContinuationToken?
    try console.withProgress { progress in
      if page {
        next = try query.forEachOfPage(control: progress?.control) { _ = try show($0) }
      } else {
        try query.forEach(control: progress?.control, show)
      }
    }
    if page {
      if let token = next, try !isFollowed(token, request, snapshot, entity) { next = nil }
      // The token's own note counts the records.
      try shown.finish(total: 0)
      if output.format.isJSON {
        console.note(CellJSON.object([("next", next.map { .text($0.text) } ?? .null)]))
      } else if let next {
        console.note("next page: --after \(next)")
      }
      return .success
    }
    try shown.finish(total: nil)
    if shown.isEmpty { console.note("\(entity.name): no record found") }
    return .success
  }

  /// Whether a record follows the end of a page.
  private func isFollowed(
    _ token: ContinuationToken, _ request: QueryRequest, _ snapshot: DynamicSnapshot,
    _ entity: DynamicEntity
  ) throws -> Bool {
    var request = request
    request.after = token
    request.offset = 0
    request.limit = 1
    return try !snapshot.query(request, of: entity).ids().isEmpty
  }
}
