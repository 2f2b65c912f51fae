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

  let entity: StoredEntity
  let columns: RecordColumns
  let core: TransactionCore

  /// Writes at most `limit` of the records that `request` finds, and looks whether there are more.
  func write(
    _ request: QueryRequest, limit: Int?, withToken: Bool, on console: Console
  ) throws -> Page {
    var request = request
    // One more than is shown tells whether there are more. A token is that of the last one asked for.
    request.limit = withToken ? limit : limit.flatMap { $0 == .max ? nil : $0 + 1 }
    return try console.withProgress { progress in
      try write(request, limit: limit, withToken: withToken, progress, on: console)
    }
  }

  private func write(
    _ request: QueryRequest, limit: Int?, withToken: Bool, _ progress: RunProgress?,
    on console: Console
  ) throws -> Page {
    let plan = try core.plan(request, for: entity)
    let run = try PlanRun(plan, core: core, control: progress?.control)
    let writer = console.rows(of: columns.columns)
    var page = Page()
    func show(_ id: UInt64, _ bytes: UnsafeRawBufferPointer) throws {
      // Rows on the same screen say themselves how far the command is.
      if page.shown == 0, console.terminal.isTerminal { progress?.end() }
      try writer.write(try columns.row(id, bytes))
      page.shown += 1
    }
    if withToken {
      page.next = try run.visitPage(show)
    } else {
      try run.visit { id, bytes in
        if page.shown == limit {
          page.hasMore = true
          return false
        }
        try show(id, bytes)
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
    let run = try PlanRun(try core.plan(request, for: entity), core: core)
    return try !run.ids().isEmpty
  }
}
