internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows

/// The page with the selected records of an entity.
struct EntityPage {
  let reading: PageReading
  let entity: DynamicEntity
  let selection: Selection
  /// The query for the selection, by the index of the page.
  let query: SelectedQuery
  /// The distance of the records in the condition; `nil` without one, or for a faulty selection.
  let distance: DynamicDistance?
  /// Whether the nearest records come first, since the address has no other order.
  let isByDistance: Bool
  let relationships: [DynamicRelationship]
  /// The number of records in the entity.
  let total: Int
  /// The route of a selection on this page.
  let route: @Sendable (Selection) -> Route
  /// The columns unless the address names some.
  var usualColumns: [String]
  /// The sections before the rows.
  var additions: [Section] = []
  /// Whether the form has a field for a record to which others are similar.
  var hasSimilarField = false

  var snapshot: DynamicSnapshot { reading.snapshot }
  var limits: PageMaker.Limits { reading.limits }
  /// Whether each form of the page has the number of selected records.
  var isCounted = false

  /// - Parameters:
  ///   - index: the name of the index of the page; `nil` for the page of the entity.
  ///   - route: the route of a selection; `nil` for the page of the entity.
  init(
    _ reading: PageReading, _ entity: DynamicEntity, _ selection: Selection,
    by index: String? = nil, route: (@Sendable (Selection) -> Route)? = nil
  ) throws {
    self.reading = reading
    self.entity = entity
    self.selection = selection
    query = SelectedQuery(
      snapshot: reading.snapshot, entity: entity,
      selection: selection.with { if let index { $0.indexes.insert(index, at: 0) } })
    let request = try? query.request()
    distance = request.flatMap { try? reading.snapshot.query($0, of: entity).distance }
    isByDistance = selection.order.isEmpty && request?.isByDistance ?? false
    relationships = reading.snapshot.relationships(of: entity)
    total = try reading.snapshot.count(of: entity)
    let name = entity.name
    self.route = route ?? { .entity(name, $0) }
    usualColumns = RecordColumns.usualNames(of: entity, all: reading.form != .html)
  }

  func page() throws -> Page {
    var page = Page(route: route(selection), title: entity.name)
    page.trail = [Page.Crumb(text: entity.name, route: .entity(entity.name, Selection()))]
    page.views = reading.views(of: entity, selection)
    page.hasPlaces = !entity.description.declaredIndexes(.place).isEmpty
    let names = selection.columns.isEmpty ? try shownColumns() : selection.columns
    var columns = try RecordColumns(entity, names: names, relationships: relationships)
    addOrders(to: &columns)
    addMarks(to: &columns)
    try addDistance(to: &columns)
    do {
      let request = try query.request()
      let (table, damages) = try table(request, columns)
      let facets = facets(request)
      var form = try form(request, names)
      if facets.contains(where: \.isLate) { form.wait = wait }
      page.sections.append(Section("selection", .selection(form)))
      if let edits { page.sections.append(edits) }
      if isCounted {
        let count = try selectedCount(request).map(Cell.count) ?? .null
        page.sections.append(Section("selected", .facts([Fact("records", "Records", count)])))
      }
      if !selection.facets.isEmpty {
        page.sections.append(Section("facets", .facets(facets)))
      }
      if table.rows.isEmpty, selection.after == nil, !reading.streams,
        let advice = SearchAdvice(self).notice
      {
        page.sections.append(Section("notice", .notice(advice)))
      }
      page.sections += damages.prefix(5).map { Section("notice", .notice(Notice(.warning, $0))) }
      page.sections += additions
      page.sections.append(Section("rows", .table(table)))
    } catch let error as StoreError where error.code == .cancelled {
      var notice = lateNotice
      notice.link = ("Show the plan", .plan(entity.name, selection))
      refuse(&page, notice, names, wait: wait)
    } catch {
      guard let notice = Notice(fault: error, of: selection) else { throw error }
      refuse(&page, notice, names)
    }
    return page
  }

  private var wait: WaitLink? { reading.form == .html ? WaitLink(selection, route) : nil }

  /// The notice for records that were not found in time.
  var lateNotice: Notice {
    Notice(
      .warning,
      "The records were not found within \(limits.rows). Narrow the condition, or add an index.")
  }

  /// The changes of the selected records.
  private var edits: Section? {
    // The page has only the first of the selected records.
    guard !isUnbounded else { return nil }
    let records = selection.isOfAll ? "all records" : "the selected records"
    let selected = selection.ofRecords
    return reading.edits(
      EditLink(text: "Add a record", edit: .insert(entity.name), isComplete: false),
      EditLink(
        text: "Change \(records)", edit: .updateSelected(entity.name, selected),
        isComplete: false),
      EditLink(
        text: "Delete \(records)", edit: .deleteSelected(entity.name, selected),
        isComplete: true))
  }

  /// Makes the page without records; a page that has more of them with more time is not refused.
  private func refuse(
    _ page: inout Page, _ notice: Notice, _ names: [String], wait: WaitLink? = nil
  ) {
    page.isRefused = wait == nil
    var form = plainForm(names)
    form.markFault(notice)
    form.count = wait == nil ? "No records." : "The records were not found yet."
    form.wait = wait
    page.sections = [
      Section("selection", .selection(form)), Section("notice", .notice(notice)),
    ]
  }

  // MARK: Rows

  /// The number of similar records unless the address has another.
  private static let mostSimilar = 20

  /// Whether the page has the nearest or most similar ones of all records that have a place or a
  /// vector.
  private var isUnbounded: Bool { isByDistance && distance?.isBounded == false }

  /// Whether the rows continue after the page; the most similar records do not.
  private var isContinued: Bool { !isUnbounded || !areSimilar }

  /// Whether the distances of the records are those of vectors.
  private var areSimilar: Bool { distance?.measure != nil }

  /// The number of rows that the page begins with, and whether others stream after them.
  private var firstSize: (count: Int, streams: Bool) {
    if !isContinued {
      guard let size = selection.size else { return (Self.mostSimilar, false) }
      let count = if case .count(let count) = size { count } else { Int.max }
      return (min(count, Selection.largestPage), false)
    }
    return switch (selection.size, reading.form) {
    case (.count(let count), .html), (.count(let count), .json):
      (min(count, Selection.largestPage), false)
    case (.all, .html): (Selection.largestPage, false)
    case (nil, .html), (nil, .json): (limits.pageSize, false)
    case (.count(let count), _): (min(count, limits.batchSize), count > limits.batchSize)
    case (_, _): (limits.batchSize, true)
    }
  }

  private func table(
    _ request: QueryRequest, _ columns: RecordColumns
  ) throws -> (Table, damages: [String]) {
    let (count, streams) = firstSize
    var damages: [String] = []
    let batch = try RecordBatch(
      entity: entity.name, columns: columns, request: request, count: count,
      byteCount: streams ? limits.batchBytes : limits.pageBytes, limits: limits,
      isContinued: isContinued
    ).read(snapshot, entity) { damages.append($0) }
    var table = Table(columns.headings, batch.rows)
    table.isMain = true
    table.empty = selection.isOfAll ? "The entity has no records." : "No record is selected."
    if let token = batch.token {
      if streams || reading.streams && batch.rows.count < count {
        table.next = next(request, columns, after: token, rest: rest(after: batch.rows.count))
      } else {
        table.nextPage = route(selection.with { $0.after = token.text })
        table.nextToken = token.text
      }
    }
    if selection.after != nil { table.firstPage = route(selection.changed { _ in }) }
    if table.nextPage != nil || selection.after != nil {
      table.summary = summary(of: batch.rows.count)
    }
    if isUnbounded, selection.after == nil, batch.rows.count == count {
      let word = areSimilar ? "most similar" : "nearest"
      table.summary = "The \(NumberText.grouped(count)) \(word) records"
    }
    return (table, damages)
  }

  /// The number of rows after the first ones; `nil` for all.
  private func rest(after count: Int) -> Int? {
    if case .count(let limit)? = selection.size { limit - count } else { nil }
  }

  private func next(
    _ request: QueryRequest, _ columns: RecordColumns, after token: ContinuationToken, rest: Int?
  ) -> Table.Batch.Next {
    RecordBatch.next(
      reading.maker, entity: entity.name, columns: columns, request: request, after: token,
      rest: rest)
  }

  private func summary(of count: Int) -> String {
    let shown = NumberText.counted(count, "record")
    return selection.after == nil ? "The first \(shown)" : "\(shown) on this page"
  }

  // MARK: Orders

  /// Adds links to the headings by which the records can be sorted quickly.
  private func addOrders(to columns: inout RecordColumns) {
    let leading = Set(entity.indexes.compactMap(\.description.attributes.first))
    for position in columns.headings.indices {
      let name = columns.headings[position].column.name
      let attribute = entity.description.attribute(named: name)
      let isID = name == DynamicRecord.idName
      let isQuick =
        isID || attribute.map { leading.contains($0.number) } ?? false
        || attribute?.type.isIndexable ?? false && total <= limits.quickCount
      let isByID = isID && selection.search == nil
      let isAscending = selection.order.first == name || (isByID && selection.order.isEmpty)
      columns.setHeading(at: position) { heading in
        if selection.order.first == name { heading.sorted = .ascending }
        if selection.order.first == "-\(name)" { heading.sorted = .descending }
        guard isQuick else { return }
        heading.sort = route(
          selection.changed {
            $0.order = isAscending ? ["-\(name)"] : isByID ? [] : [name]
          })
      }
    }
  }

  /// The usual columns, and those of searched texts.
  private func shownColumns() throws(AddressError) -> [String] {
    guard selection.search != nil, reading.form == .html,
      let position = try query.position(.search)
    else { return usualColumns }
    let searched = entity.description.declaredIndexes(.search)[position].sources.compactMap {
      entity.description.attribute(number: $0.attribute)?.name
    }
    return usualColumns + Set(searched).subtracting(usualColumns).sorted()
  }

  private func addDistance(to columns: inout RecordColumns) throws {
    if let distance { columns.addDistance(distance) }
    if reading.form == .html { columns.showVectors() }
    guard reading.form == .geojson else { return }
    guard let position = try query.position(.place) else {
      throw AddressError.notFound("\(entity.name) has no place index, so its rows are no GeoJSON")
    }
    columns.addCoordinates(by: position)
  }

  /// Lets the columns with searched texts mark the words of the search.
  private func addMarks(to columns: inout RecordColumns) {
    guard reading.form == .html, let text = selection.search else { return }
    let highlighter = SearchHighlighter(text, selection.mode)
    let used = (try? query.position(.search)) ?? nil
    let searched = Set(
      used.map { entity.description.declaredIndexes(.search)[$0].sources.map(\.attribute) } ?? [])
    for position in columns.headings.indices {
      let name = columns.headings[position].column.name.prefix { $0 != "." }
      guard let attribute = entity.description.attribute(named: String(name)),
        searched.contains(attribute.number)
      else { continue }
      columns.setHeading(at: position) { $0.highlighter = highlighter }
    }
  }

  // MARK: The form

  private func plainForm(_ names: [String]) -> SelectionForm {
    let shown = Set(names)
    var choices = RecordColumns.usualNames(of: entity, all: true).map { name in
      let attribute = entity.description.attribute(named: name)
      return SelectionForm.Choice(
        name: name, type: attribute?.type.name ?? "id", isChosen: shown.contains(name))
    }
    choices += names.filter { name in !choices.contains { $0.name == name } }
      .map { SelectionForm.Choice(name: $0, type: "path", isChosen: true) }
    let nested = reading.form == .html ? NestedPaths(entity, snapshot) : nil
    for path in nested?.paths ?? [] where !shown.contains(path.text) {
      choices.append(SelectionForm.Choice(name: path.text, type: "path", isChosen: false))
    }
    let countable =
      entity.description.declaredAttributes.filter { $0.type != .data }.map(\.name)
      + (nested?.paths.map(\.text) ?? [])
    return SelectionForm(
      selection: selection, route: route, search: reading.searchField(of: entity, selection),
      hasPlaces: !entity.placeIndexes.isEmpty, hasSimilar: hasSimilarField, choices: choices,
      countable: countable, count: "",
      examples: ConditionExamples(entity, snapshot, nested).texts,
      completions: nested.map {
        Completions(entity, snapshot, $0, control: limits.time(limits.count).control).texts
      } ?? [])
  }

  private func form(_ request: QueryRequest, _ names: [String]) throws -> SelectionForm {
    var form = plainForm(names)
    guard reading.form == .html else { return form }
    if !isUnbounded || !areSimilar && total <= limits.quickCount {
      let count = try selectedCount(request)
      form.count = countSentence(request, count)
      if count == nil { form.wait = wait }
    } else {
      let word = areSimilar ? "most similar" : "nearest"
      form.count = "The \(word) of \(NumberText.counted(total, "record"))."
    }
    if !selection.isOfAll {
      var shown = request
      // The nearest records are found without the others.
      if isByDistance { shown.limit = limits.pageSize }
      let plan = try snapshot.query(shown, of: entity).explanation()
      form.plan = (
        plan.isScan
          ? "Why does this read all records?" : "Uses the index \(plan.index ?? ""): show the plan",
        .plan(entity.name, selection.changed { $0.facets = [] })
      )
    }
    return form
  }

  private func countSentence(_ request: QueryRequest, _ count: Int?) -> String {
    let all = NumberText.counted(total, "record")
    if selection.isOfAll { return "\(all)." }
    guard let count else {
      return "Of \(all), the selected ones were not counted within \(limits.count)."
    }
    let isOrdered = selection.order.isEmpty && !request.order.isEmpty
    let order =
      !isOrdered
      ? "" : request.isByDistance ? ", the nearest first" : ", the best first"
    return "\(NumberText.grouped(count)) of \(all)\(order)."
  }

  /// The number of selected records; `nil` if the time did not suffice.
  private func selectedCount(_ request: QueryRequest) throws(StoreError) -> Int? {
    if selection.isOfAll { return total }
    var request = request
    request.order = []
    request.after = nil
    do {
      return try snapshot.query(request, of: entity).count(
        control: limits.time(limits.count).control)
    } catch {
      guard error.code == .cancelled else { throw error }
      return nil
    }
  }

  // MARK: Counts of values

  private func facets(_ request: QueryRequest) -> [Facet] {
    let limit = limits.time(limits.facets)
    var request = request
    request.order = []
    request.after = nil
    return selection.facets.enumerated().map { position, expression in
      var facet = Facet(
        expression: expression,
        removal: route(selection.changed { $0.facets.remove(at: position) }))
      do {
        try count(&facet, request, limit)
      } catch let error as StoreError where error.code == .cancelled {
        facet.failure = "not counted within \(limits.facets)"
        facet.isLate = true
      } catch {
        facet.failure = (error as? StoreError)?.message ?? "\(error)"
      }
      return facet
    }
  }

  /// The number of values that a facet shows.
  private static let mostValues = 12

  private func count(_ facet: inout Facet, _ request: QueryRequest, _ limit: TimeLimit) throws {
    guard let expression = DynamicExpression(facet.expression, of: entity) else {
      throw AddressError.notFound("'\(facet.expression)' is not a path or an expression")
    }
    var groups = TopGroups(most: Self.mostValues)
    try snapshot.query(request, of: entity).forEachGroup(
      by: [expression], control: limit.control
    ) { keys, count in groups.add(keys, count) }
    facet.others = max(0, groups.total - Self.mostValues)
    facet.values = groups.sorted.map { value, count in
      let text = ConditionText.equality(facet.expression, value)
      let link = text.map { text in
        route(selection.changed { $0.condition = ConditionText.both($0.condition, text) })
      }
      return Facet.Value(
        item: Item((try? Cell(value)) ?? .text("(damaged document)"), link: link), count: count)
    }
  }
}

extension Selection {
  /// Returns the selection with a change.
  func with(_ change: (inout Selection) -> Void) -> Selection {
    var selection = self
    change(&selection)
    return selection
  }
}
