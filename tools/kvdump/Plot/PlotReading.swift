import EntityStore
import LodestoreFormat

/// The numbers of a chart, read in one transaction.
struct PlotReading {
  private let command: PlotCommand
  private let snapshot: DynamicSnapshot
  private let isOver: @Sendable () -> Bool

  /// The end of a read whose time is over.
  struct TimeOver: Error {}

  init(_ command: PlotCommand, _ snapshot: DynamicSnapshot, isOver: @escaping @Sendable () -> Bool)
  {
    self.command = command
    self.snapshot = snapshot
    self.isOver = isOver
  }

  private var control: RunControl { RunControl(isCancelled: isOver) }

  func plot() throws -> Plot {
    switch command.kind {
    case .sizes: try sizes()
    case .history: try history()
    case .dates: try dates()
    case .keys: try keys()
    case .histogram: try histogram()
    // The lengths of records are read from the file itself: see RecordLengths.
    case .counts, .values: try counts()
    }
  }

  private func entity() throws -> DynamicEntity { try snapshot.entity(command.entity ?? "") }

  // MARK: The file

  private func sizes() throws -> Plot {
    let entities = try command.entity.map { [try snapshot.entity($0)] } ?? snapshot.entities
    let trees = try entities.flatMap { entity in
      try snapshot.trees(of: entity).map { (entity: entity.name, tree: $0) }
    }.sorted { $0.tree.byteCount > $1.tree.byteCount }
    let all = trees.reduce(0) { $0 + $1.tree.byteCount }
    let shown = trees.prefix(command.limit ?? Plot.barCount)
    let summary =
      "\(NumberText.counted(trees.count, "tree")) with \(NumberText.byteCount(all))."
      + (shown.count < trees.count ? " The \(shown.count) largest are shown." : "")
    return Plot(
      title: "Sizes", summary: summary,
      chart: .bars(
        shown.map { entity, tree in
          Charts.Bar(
            label: "\(entity): \(tree.index?.shortName ?? "records")",
            value: Double(tree.byteCount), text: NumberText.byteCount(tree.byteCount))
        }),
      columns: ["entity", "tree", "entries", "size", "share"],
      rows: shown.map { entity, tree in
        [
          .text(entity), .text(tree.index?.shortName ?? "records"), .count(tree.entryCount),
          .byteCount(tree.byteCount),
          all > 0 ? .share(Double(tree.byteCount) / Double(all)) : .null,
        ]
      })
  }

  private func history() throws -> Plot {
    var query = HistoryQuery.all.newestFirst().limit(command.limit ?? Plot.writeCount)
    if let name = command.entity {
      query = query.of(entitiesNamed: [try snapshot.entity(name).name])
    }
    var writes: [(id: UInt64, time: Cell, counts: [Int])] = []
    try snapshot.forEachWrite(query) { write in
      if isOver() { throw TimeOver() }
      let kinds: [HistoryChange.Kind] = [.inserted, .updated, .deleted]
      writes.append(
        (write.id, HistoryDate.cell(write.time), kinds.map { write.changes.count(of: $0) }))
      return true
    }
    writes.reverse()
    let totals = [0, 1, 2].map { kind in writes.reduce(0) { $0 + $1.counts[kind] } }
    let words = zip(totals, ["inserted", "updated", "deleted"]).map {
      "\(NumberText.grouped($0)) \($1)"
    }
    return Plot(
      title: "Changed records by write",
      summary: "\(NumberText.counted(writes.count, "write")): \(words.joined(separator: ", ")).",
      chart: .columns(
        writes.map { $0.counts.reduce(0, +) }, from: writes.first.map { "write \($0.id)" } ?? "",
        to: writes.last.map { "write \($0.id)" } ?? ""),
      columns: ["write", "time", "inserted", "updated", "deleted"],
      rows: writes.map { [.unsigned($0.id), $0.time] + $0.counts.map(Cell.count) },
      note: snapshot.entities.contains(where: \.keepsHistory)
        ? nil : "no entity keeps a history")
  }

  private func keys() throws -> Plot {
    let entity = try entity()
    let names = (command.attribute ?? "").split(separator: ",").map(String.init)
    let index = try entity.index(named: names)
    var groups = TopGroups(most: command.limit ?? Plot.barCount)
    var entryCount = 0
    let isComplete = try snapshot.forEachValue(of: index, of: entity, control: control) { value in
      entryCount += value.count
      if let key = value.values.first { groups.add([key], value.count) }
      return true
    }
    guard isComplete else { throw TimeOver() }
    return plot(
      groups, title: "\(entity.name): values of \(index.shortName)",
      of: NumberText.counted(entryCount, "entry", "entries"), column: "entries")
  }

  // MARK: Values

  private func expression(_ text: String, _ entity: DynamicEntity) throws -> DynamicExpression {
    try DynamicExpression.checked(text, of: entity, snapshot)
  }

  /// Visits each value of an expression with its number of records, in ascending order.
  private func forEachValue(
    of text: String, _ entity: DynamicEntity, _ body: (Value, Int) -> Void
  ) throws {
    let query = try snapshot.query(try command.marks.request(command.where), of: entity)
    try query.forEachGroup(by: [try expression(text, entity)], control: control) { keys, count in
      body(keys.first ?? .null, count)
    }
  }

  private func counts() throws -> Plot {
    let (entity, text) = (try entity(), command.attribute ?? "")
    var groups = TopGroups(most: command.limit ?? Plot.barCount)
    var count = 0
    try forEachValue(of: text, entity) {
      groups.add([$0], $1)
      count += $1
    }
    return plot(
      groups, title: "\(entity.name): \(text)", of: NumberText.counted(count, "record"),
      column: "records")
  }

  private func plot(_ groups: TopGroups, title: String, of all: String, column: Column) -> Plot {
    let shown = groups.sorted.map { value, count in
      (cell: (try? Cell(value)) ?? .text("(damaged value)"), count: count)
    }
    return Plot(
      title: title,
      summary: "\(NumberText.counted(groups.total, "distinct value")) in \(all)"
        + (groups.total > shown.count ? "; the most frequent are shown." : "."),
      chart: .bars(
        shown.map {
          Charts.Bar(
            label: PlainText.text(of: $0.cell) ?? "null", value: Double($0.count),
            text: NumberText.grouped($0.count))
        }),
      columns: ["value", column], rows: shown.map { [$0.cell, .count($0.count)] })
  }

  private func histogram() throws -> Plot {
    let (entity, text) = (try entity(), command.attribute ?? "")
    let ends = try ends(of: text, entity) { Histogram.number($0) }
    guard var histogram = Histogram(ends?.low, ends?.high) else {
      throw CommandFailure.nothingToPlot(text, "numbers or dates")
    }
    var (count, others) = (0, 0)
    try forEachValue(of: text, entity) {
      if histogram.add($0, $1) { count += $1 } else { others += $1 }
    }
    let parts = Array(histogram.counts.indices)
    let bounds = (parts + [parts.count]).map { histogram.bound($0) }
    let texts = bounds.map { PlainText.text(of: $0) ?? "" }
    return Plot(
      title: "\(entity.name): \(text)",
      summary: "\(NumberText.counted(count, "record")) from \(texts[0]) to \(texts[parts.count])"
        + (parts.count > 1 ? ", in \(parts.count) equal parts." : "."),
      chart: .columns(histogram.counts, from: texts[0], to: texts[parts.count]),
      columns: ["from", "to", "records"],
      rows: parts.map { [bounds[$0], bounds[$0 + 1], .count(histogram.counts[$0])] },
      note: Self.note(others, "no finite number or date"))
  }

  private func dates() throws -> Plot {
    let entity = try entity()
    let attributes = entity.description.declaredAttributes.filter { $0.type == .date }
    let indexed = Set(entity.indexes.compactMap { $0.description.attributes.first })
    let chosen = attributes.first { indexed.contains($0.number) } ?? attributes.first
    guard let text = command.attribute ?? chosen?.name else {
      throw CommandFailure.nothingToPlot(entity.name, "attribute with dates")
    }
    let ends = try ends(of: text, entity) { Self.seconds($0) }
    guard let low = ends.flatMap({ Self.seconds($0.low) }),
      let high = ends.flatMap({ Self.seconds($0.high) }),
      let unit = DateUnit.dividing(low, high, most: Plot.columnCount),
      let first = unit.part(of: low), let last = unit.part(of: high)
    else { throw CommandFailure.nothingToPlot(text, "dates") }
    var counts = [Int](repeating: 0, count: last - first + 1)
    var (count, others) = (0, 0)
    try forEachValue(of: text, entity) { value, found in
      guard let part = Self.seconds(value).flatMap(unit.part) else { return others += found }
      counts[part - first] += found
      count += found
    }
    let (start, end) = (unit.text(of: first), unit.text(of: last))
    return Plot(
      title: "\(entity.name): \(text) by \(unit.noun)",
      summary: "\(NumberText.counted(count, "record")) from \(start) to \(end).",
      chart: .columns(counts, from: start, to: end), columns: ["from", "records"],
      rows: counts.enumerated().map { [.date(unit.text(of: first + $0)), .count($1)] },
      note: Self.note(others, "no date in the range of the calendar"))
  }

  /// A date in seconds since 2001; `nil` for other values and dates beyond the calendar.
  private static func seconds(_ value: Value) -> Double? {
    guard case .date(let seconds) = value, abs(seconds) < 1e14 else { return nil }
    return seconds
  }

  /// The values with the lowest and the highest number.
  private func ends(
    of text: String, _ entity: DynamicEntity, by number: (Value) -> Double?
  ) throws -> (low: Value, high: Value)? {
    var ends: (low: (Double, Value), high: (Double, Value))?
    try forEachValue(of: text, entity) { value, _ in
      guard let key = number(value) else { return }
      let old = ends ?? ((key, value), (key, value))
      ends = (key < old.low.0 ? (key, value) : old.low, key > old.high.0 ? (key, value) : old.high)
    }
    return ends.map { ($0.low.1, $0.high.1) }
  }

  private static func note(_ count: Int, _ reason: String) -> String? {
    count > 0 ? "\(NumberText.counted(count, "record")) with \(reason) left out" : nil
  }
}
