internal import EntityStore
internal import LodestoreJSON
internal import LodestoreRows

/// One call of a tool: a page of the inspector, as JSON of a limited size.
struct ToolCall {
  let tool: Tool
  let arguments: ToolArguments
  var maker: PageMaker
  /// The number of bytes that the rows of the answer may take.
  let answerSize: Int

  /// Prepares the call.
  ///
  /// - Parameter isCancelled: returns whether the client has cancelled the call.
  init(
    _ tool: Tool, _ arguments: [String: JSONValue], maker: PageMaker, answerSize: Int,
    isCancelled: @escaping @Sendable () -> Bool
  ) throws(ToolError) {
    self.tool = tool
    self.arguments = try ToolArguments(arguments, of: tool)
    self.answerSize = answerSize
    self.maker = maker
    self.maker.limits = PageMaker.Limits(
      rows: .seconds(5), count: .seconds(1), facets: .seconds(1), rowBytes: answerSize,
      isCancelled: isCancelled)
  }

  /// The answer: one JSON object, with lines between the rows.
  ///
  /// - Throws: ``ToolError`` with the reason in words.
  func answer() throws(ToolError) -> String {
    let page: Page
    do {
      page = try self.page()
    } catch {
      if let error = error as? ToolError { throw error }
      throw ToolError(Self.sentence(Responder.words(for: error).message))
    }
    if page.isRefused { throw ToolError(Self.words(of: page)) }
    let bytes = JSONTwin(page, hasAddresses: false).first.bytes
    guard bytes.count <= largest else { throw tooLarge(bytes.count, page) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The maximum size of an answer: its rows, and as much again for its other members.
  private var largest: Int { 2 * answerSize + 4_096 }

  private func page() throws -> Page {
    switch tool {
    case .entities:
      let after = try arguments.text("after")
      return try maker.page(as: .json) { reading in
        try reading.storePage().withRows(after: after, of: "entity", answerSize)
      }
    case .describe:
      let name = try arguments.required("entity")
      let after = try arguments.text("after")
      return try maker.page(as: .json) { reading in
        try reading.schemaPage(reading.entity(name)).withRows(
          after: after, of: "attribute", answerSize)
      }
    case .sample:
      let name = try arguments.required("entity")
      let selection = try selection()
      let count =
        try arguments.number("count", in: 1...Tool.mostSamples) ?? Tool.usualSamples
      return try maker.page(as: .json) { reading in
        try EntityPage(reading, reading.entity(name), selection).samplePage(count)
      }
    case .query, .search, .near, .similar:
      if tool == .search { _ = try arguments.required("text") }
      let name = try arguments.required("entity")
      let selection = try selection()
      let isCounted = try arguments.flag("count")
      return try maker.page(as: .json) { reading in
        var page = try EntityPage(reading, reading.entity(name), selection)
        page.isCounted = isCounted
        return try page.page()
      }
    case .explain:
      let name = try arguments.required("entity")
      let selection = try selection()
      return try maker.page(as: .json) { try $0.planPage($0.entity(name), selection) }
    }
  }

  /// The selection of the arguments that the tool has.
  private func selection() throws(ToolError) -> Selection {
    var selection = Selection()
    selection.search = try arguments.text("text")
    selection.mode = try mode()
    if tool == .near { selection.near = try near() }
    if tool == .similar {
      guard let id = try arguments.number("id", in: 1...Int.max) else {
        throw ToolError("similar needs the argument 'id'.")
      }
      selection.similar = UInt64(id)
    }
    selection.indexes = try arguments.text("index").map { [$0] } ?? []
    selection.condition = try arguments.text("where")
    selection.order = try arguments.texts("sort")
    selection.columns = try arguments.texts("columns")
    selection.facets = try arguments.texts("facets")
    selection.after = try arguments.text("after")
    let limit = try arguments.number("limit", in: 1...Tool.mostRows)
    selection.size = .count(limit ?? Tool.usualRows)
    return selection
  }

  private func near() throws(ToolError) -> NearPlace {
    guard let latitude = try arguments.decimal("latitude", in: -90...90),
      let longitude = try arguments.decimal("longitude", in: -180...180)
    else { throw ToolError("near needs the arguments 'latitude' and 'longitude'.") }
    return NearPlace(
      Coordinate(latitude: latitude, longitude: longitude),
      meters: try arguments.decimal("distance", in: 0...Double.greatestFiniteMagnitude))
  }

  private func mode() throws(ToolError) -> SearchMode {
    guard let name = try arguments.text("mode") else { return .allWords }
    do {
      return try Selection([Address.Item(name: "_mode", value: name)]).mode
    } catch {
      throw ToolError(Self.sentence(error.message))
    }
  }

  private func tooLarge(_ size: Int, _ page: Page) -> ToolError {
    var text =
      "The answer takes \(NumberText.grouped(size)) bytes, more than "
      + "\(NumberText.grouped(largest)). Name only the columns that you need, or values "
      + "inside them, in 'columns', and fewer facets."
    if let rows = page.rows, rows.rows.count == 1, let token = rows.nextToken {
      text += " To continue after this record, pass \"after\": \"\(token)\"."
    }
    return ToolError(text)
  }

  /// The notices of a page that was refused, with the place of a fault in the condition.
  private static func words(of page: Page) -> String {
    page.sections.compactMap { section -> String? in
      guard case .notice(let notice) = section.content else { return nil }
      let text = sentence(notice.text)
      guard let excerpt = notice.excerpt else { return text }
      let margin = String(repeating: " ", count: excerpt.before.count)
      return "\(text)\n  \(excerpt.before)\(excerpt.after)\n  \(margin)^"
    }.joined(separator: "\n")
  }

  private static func sentence(_ text: String) -> String { text.hasSuffix(".") ? text : text + "." }
}

extension Page {
  /// Returns the page with the rows of the main table after one row, as many as `size` bytes hold.
  ///
  /// - Parameter column: the first column, which names a row.
  fileprivate func withRows(
    after name: String?, of column: String, _ size: Int
  ) throws(ToolError) -> Page {
    func text(_ row: Table.Row) -> String? {
      if case .text(let text)? = row.items.first?.cell { text } else { nil }
    }
    var page = self
    for (position, section) in sections.enumerated() {
      guard case .table(var table) = section.content, table.isMain else { continue }
      if let name {
        guard let place = table.rows.firstIndex(where: { text($0) == name }) else {
          throw ToolError("The argument 'after' must be the \(column) that 'next' named.")
        }
        table.rows.removeFirst(place + 1)
      }
      let names = table.headings.map { CellJSON.text($0.column.name) }
      var bytes: [UInt8] = []
      let count =
        table.rows.firstIndex { row in
          JSONTwin.append(row, names, to: &bytes)
          return bytes.count > size
        } ?? table.rows.count
      if count < table.rows.count {
        table.rows.removeLast(table.rows.count - max(count, 1))
        table.nextToken = table.rows.last.flatMap(text)
      }
      page.sections[position].content = .table(table)
    }
    return page
  }
}
