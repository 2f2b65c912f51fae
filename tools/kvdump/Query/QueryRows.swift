import EntityStore

/// Writes one page of a query's results as rows.
struct QueryRows {
  /// Facts about the page for the console.
  struct Page {
    var shown = 0
    /// Whether the limit left out rows.
    var hasMore = false
    /// The token for the next page, if one was requested and there is a next page.
    var next: ContinuationToken?
  }

  let entity: DynamicEntity
  let columns: RecordColumns
  let snapshot: DynamicSnapshot

  /// Writes up to `limit` of the records that `request` finds, and checks whether there are more.
  func write(
    _ request: QueryRequest, limit: Int?, withToken: Bool, on console: Console
  ) throws -> Page {
    var request = request
    // Requesting one more record than is shown reveals whether there are more. If a token is
    // wanted, only the shown records are requested, because the token belongs to the last requested
    // record.
    request.limit = withToken ? limit : limit.flatMap { $0 == .max ? nil : $0 + 1 }
    let query = try snapshot.query(request, of: entity)
    let writer = console.rows(of: columns.columns)
    var page = Page()
    try console.withProgress { progress in
      func show(_ record: DynamicRecord) throws {
        // The progress line ends before the first row, because both are on one screen.
        if page.shown == 0, console.terminal.isTerminal { progress?.end() }
        try writer.write(try columns.row(record))
        page.shown += 1
      }
      guard !withToken else {
        page.next = try query.forEachOfPage(control: progress?.control, show)
        return
      }
      try query.forEach(control: progress?.control) { record in
        if page.shown == limit {
          page.hasMore = true
          return false
        }
        try show(record)
        return true
      }
    }
    if page.next != nil {
      page.hasMore = try isFollowed(page.next, request)
      if !page.hasMore { page.next = nil }
    }
    try writer.finish()
    return page
  }

  /// Whether a record follows the end of a page.
  private func isFollowed(_ token: ContinuationToken?, _ request: QueryRequest) throws -> Bool {
    var request = request
    request.after = token
    request.offset = 0
    request.limit = 1
    return try !snapshot.query(request, of: entity).ids().isEmpty
  }
}
