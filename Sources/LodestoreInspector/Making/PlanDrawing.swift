internal import EntityStore
internal import LodestoreRows

/// The steps of a plan as boxes, with the reads that were estimated and made.
struct PlanDrawing {
  let figure: Figure

  private static let boxWidth = 620.0
  private static let boxHeight = 46.0
  private static let gap = 22.0

  /// - Parameter run: the plan with its reads; `nil` if the query did not end in time.
  init(_ plan: QueryExplanation, _ run: QueryExplanation?) {
    let estimated = [plan.estimatedEntryCount, plan.estimatedRecordCount]
    let actual = [run?.entriesRead, run?.recordsRead]
    let table = Table(
      [
        Table.Heading(Column("reads", title: "Reads")),
        Table.Heading(Column("estimated", title: "Estimated")),
        Table.Heading(Column("actual", title: "Actual")),
      ],
      zip(["entries", "records"], zip(estimated, actual)).map { name, counts in
        Table.Row([
          Item(.text(name)), Item(.count(counts.0)), Item(counts.1.map(Cell.count) ?? .null),
        ])
      })
    let height = Self.boxHeight + Self.gap
    let barsTop = Double(plan.steps.count) * height + 8
    var drawing = Drawing(
      title: "Plan",
      summary: Self.summary(plan, run), width: Self.boxWidth + 2, height: barsTop + 4 * 22)
    for (position, step) in plan.steps.enumerated() {
      let y = Double(position) * height + 1
      let text = Drawing.cut(step.text, to: Self.boxWidth - 24)
      drawing.shapes += [
        .box(x: 1, y: y, width: Self.boxWidth, height: Self.boxHeight, .frame),
        .text(step.title, Drawing.Point(12, y + 19), .heading),
        .text(text, Drawing.Point(12, y + 37), .faint),
      ]
      if position + 1 < plan.steps.count {
        drawing.shapes += Self.arrow(from: y + Self.boxHeight, to: y + height)
      }
    }
    let rows = [
      ("estimated entries", estimated[0] as Int?, false), ("entries read", actual[0], true),
      ("estimated records", estimated[1], false), ("records read", actual[1], true),
    ]
    let most = Double(max(rows.compactMap(\.1).max() ?? 0, 1))
    for (position, row) in rows.enumerated() {
      let y = barsTop + Double(position) * 22
      let length = row.1.map { max(Double($0) / most * 340, 1) } ?? 0
      drawing.shapes += [
        .text(row.0, Drawing.Point(150, y + 14), .heading, .end),
        .box(x: 160, y: y + 2, width: length, height: 15, row.2 ? .bar : .axis),
        .text(
          row.1.map(NumberText.grouped) ?? "not known", Drawing.Point(168 + length, y + 14),
          .faint),
      ]
    }
    figure = Figure(drawing, table)
  }

  private static func arrow(from start: Double, to end: Double) -> [Drawing.Shape] {
    let x = boxWidth / 2
    return [
      .line([Drawing.Point(x, start), Drawing.Point(x, end)], .edge),
      .line(
        [Drawing.Point(x - 5, end - 6), Drawing.Point(x, end), Drawing.Point(x + 5, end - 6)],
        .edge),
    ]
  }

  private static func summary(_ plan: QueryExplanation, _ run: QueryExplanation?) -> String {
    let steps = plan.steps.map(\.title).joined(separator: ", then ")
    guard let entries = run?.entriesRead, let records = run?.recordsRead else {
      return "The steps are \(steps)."
    }
    return
      "The steps are \(steps). The query read \(NumberText.counted(entries, "entry", "entries")) "
      + "and \(NumberText.counted(records, "record"))."
  }
}
