internal import EntityStore
internal import LodestoreEssentials
internal import LodestoreFormat
internal import LodestoreRows

/// The distinct values of an index's first attribute, counted by its entries alone.
struct IndexValues {
  /// The most frequent values.
  private(set) var frequent = TopGroups(most: 12)
  private(set) var entryCount = 0
  private(set) var histogram: Histogram?
  /// The first values in the order of the index.
  private(set) var first: [IndexValue] = []
  /// Whether all entries were counted in time.
  private(set) var isComplete = false

  /// Counts the values of `index`, until the time is over.
  ///
  /// - Parameter most: the number of values in the order of the index.
  init(
    _ index: DynamicIndex, of entity: DynamicEntity, _ snapshot: DynamicSnapshot,
    limit: TimeLimit, most: Int = 0
  ) throws {
    let low = try snapshot.firstValues(of: index, of: entity, most: 2, control: limit.control)
    let high = try snapshot.firstValues(
      of: index, of: entity, most: 1, isReversed: true, control: limit.control)
    histogram = Histogram(
      low.lazy.compactMap(\.values.first).first { $0 != .null }, high.first?.values.first)
    // A single value has no distribution.
    if histogram?.counts.count == 1 { histogram = nil }
    isComplete = try snapshot.forEachValue(of: index, of: entity, control: limit.control) { value in
      if first.count < most { first.append(value) }
      entryCount += value.count
      // A value that cannot be decoded has a damaged key.
      guard let key = value.values.first else { return true }
      frequent.add([key], value.count)
      histogram?.add(key, value.count)
      return true
    }
  }
}

extension PageReading {
  /// The sections with the values of an index, their counts and their distribution.
  ///
  /// - Parameters:
  ///   - path: the attribute for links to the records with a value; `nil` for elements.
  ///   - wait: the page that counts more of the entries.
  func valueSections(
    _ values: IndexValues, of entity: DynamicEntity, path: String?, _ wait: WaitLink?
  ) -> [Section] {
    var sections: [Section] = []
    if !values.isComplete {
      let text =
        "Not all entries were counted within \(limits.count): only the first "
        + "\(NumberText.grouped(values.entryCount)), in the order of the index."
      var notice = Notice(.note, text)
      notice.wait = wait
      sections.append(Section("notice", .notice(notice)))
    }
    if let histogram = values.histogram {
      sections.append(
        Section("histogram", heading: "Distribution", .drawing(Self.drawing(histogram))))
    }
    let frequent = values.frequent.sorted
    // Values that all differ have no frequent ones.
    guard let most = frequent.first, most.count > 1 else { return sections }
    let rows = frequent.map { value, count in
      (item: Self.item(value, of: entity, path: path), count: count)
    }
    var table = Table(
      [Table.Heading(Column("value", title: "Value")), Self.countHeading],
      rows.map { Table.Row([$0.item, Item(.count($0.count))]) })
    let others = values.frequent.total - frequent.count
    if others > 0 {
      table.summary = "The most frequent of \(NumberText.counted(values.frequent.total, "value"))"
    }
    let bars = rows.map { item, count in
      Charts.Bar(
        label: PlainText.text(of: item.cell) ?? "null", value: Double(count),
        text: NumberText.grouped(count), link: item.link.map { Drawing.Link($0) })
    }
    let summary =
      "\(NumberText.counted(values.frequent.total, "distinct value")) in "
      + "\(NumberText.counted(values.entryCount, "entry", "entries"))"
      + (others > 0 ? "; the most frequent ones are shown." : ".")
    sections.append(
      Section(
        "values", heading: "Frequent values",
        .drawing(
          Figure(Charts.bars(bars, title: "Frequent values", summary: summary), table))))
    return sections
  }

  static var countHeading: Table.Heading {
    Table.Heading(Column("entries", title: "Entries"))
  }

  /// A value with a link to the records that have it.
  ///
  /// A long text has no link, because the key may have only its beginning.
  static func item(_ value: Value, of entity: DynamicEntity, path: String?) -> Item {
    let cell = (try? Cell(value)) ?? .text("(damaged value)")
    if case .string(let text) = value, text.utf8.count > 200 { return Item(cell) }
    guard let condition = path.flatMap({ ConditionText.equality($0, value) }) else {
      return Item(cell)
    }
    return Item(cell, link: .entity(entity.name, Selection().with { $0.condition = condition }))
  }

  private static func drawing(_ histogram: Histogram) -> Figure {
    let parts = histogram.counts.count
    let rows = (0..<parts).map { part in
      Table.Row([
        Item(histogram.bound(part)), Item(histogram.bound(part + 1)),
        Item(.count(histogram.counts[part])),
      ])
    }
    let table = Table(
      [
        Table.Heading(Column("from", title: "From")), Table.Heading(Column("to", title: "To")),
        countHeading,
      ], rows)
    let (low, high) = (text(histogram.bound(0)), text(histogram.bound(parts)))
    return Figure(
      Charts.columns(
        histogram.counts, from: low, to: high, title: "Distribution",
        summary: "The entries from \(low) to \(high), in \(parts) equal parts."), table)
  }

  private static func text(_ cell: Cell) -> String { PlainText.text(of: cell) ?? "" }
}
