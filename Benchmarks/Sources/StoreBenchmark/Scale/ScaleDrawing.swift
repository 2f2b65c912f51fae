import Foundation

/// The curves as SVG: the cost of an insert for each record, and under it the cost of a read.
struct ScaleDrawing {
  private static let colours = ["to-do items": "#0b62c4", "pods": "#c4351c"]
  private static let second = "#7a3fb5"

  private let panels: [PlotPanel]
  private let machine: String

  init(_ curves: [ScaleCurve], machine: String) {
    self.machine = machine
    func lines(_ named: [(ScaleFigure, String)]) -> [PlotPanel.Line] {
      curves.flatMap { curve in
        named.compactMap { figure, way in
          let points = curve.points.compactMap { point in
            point.figures[figure].map { PlotPanel.Point(records: point.records, value: $0) }
          }
          guard !points.isEmpty else { return nil }
          let colour = figure == .getUnique ? Self.second : Self.colours[curve.kind]
          return PlotPanel.Line(
            name: curve.kind + way, colour: colour ?? Self.second, points: points)
        }
      }
    }
    panels = [
      PlotPanel(
        title: "Insert: one batch with its commit, wall time without generating the records",
        unit: "nanoseconds per record", limit: ScaleCurve.limit,
        lines: lines([(.insertWall, "")])),
      PlotPanel(
        title: "Get of one record at random, decoded, pages in memory",
        unit: "nanoseconds per read", limit: ScaleCurve.limit,
        lines: lines([(.getID, " by id"), (.getUnique, " by unique key")])),
    ]
  }

  var text: String {
    let headHeight = 62.0
    let width = PlotPanel.width
    let height = headHeight + Double(panels.count) * PlotPanel.height
    var svg = SVG(width: width, height: height)
    svg.text(
      "Lodestore as a store grows", x: 24, y: 32, style: "font-size:19px;font-weight:600")
    svg.text(
      "A fresh store for each size; \(machine)", x: 24, y: 53, style: "fill:#555")
    for (place, panel) in panels.enumerated() {
      panel.draw(into: &svg, top: headHeight + Double(place) * PlotPanel.height)
    }
    return svg.text
  }
}
