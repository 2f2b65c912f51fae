import EntityStore

/// The results of a query as rows of a console, one page of them.
struct QueryRows {
  /// What the console is to say about the page.
  struct Page {
    var shown = 0
    /// Whether the limit left rows out.
    var hasMore = false
    /// Where the next page goes on; only when it was asked for, and there is one.
    var next: ContinuationToken?
  }

  let entity: DynamicEntity
  let columns: RecordColumns
  let snapshot: DynamicSnapshot

  /// Writes at most `limit` of the records that `request` finds, and looks whether there are more.
  func write(
    _ request: QueryRequest, limit: Int?, withToken: Bool, on console: Console
  ) throws -> Page {
    var request = request
    // One more than is shown tells whether there are more. A token is that of the last one asked for.
    request.limit = withToken ? limit : limit.flatMap { $0 == .max ? nil : $0 + 1 }
    let query = try snapshot.query(request, of: entity)
    let writer = console.rows(of: columns.columns)
    var page = Page()
    try console.withProgress { progress in
      func show(_ record: DynamicRecord) throws {
        // Rows on the same screen say themselves how far the command is.
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

  /// Whether there is a record behind the end of a page.
  private func isFollowed(
    _ token: ContinuationToken?, _ request: QueryRequest
  ) throws -> Bool {
    var request = request
    request.after = token
    request.offset = 0
    request.limit = 1
    return try !snapshot.query(request, of: entity).ids().isEmpty
  }
}
