import Foundation

extension EnergyByYear {
  /// The plot as lines of text: two columns for each year, and a logarithmic axis.
  ///
  /// The bars are drawn in steps of an eighth of a line.
  package func lines(height: Int = 12) -> [String] {
    let blocks: [Character] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    let steps = bars.map { Int(self.height($0.energy) * Double(height * 8)) }
    let labels = Dictionary(
      decades.map { (Int(self.height(pow(10, Double($0))) * Double(height)), $0) },
      uniquingKeysWith: { first, _ in first })
    var lines = (0...height).reversed().map { row in
      let label = labels[row].map { Self.label(decade: $0) } ?? ""
      let space = String(repeating: " ", count: max(6 - label.count, 0))
      let cells = steps.map { "\(blocks[min(max($0 - row * 8, 0), 8)]) " }.joined()
      return space + label + (label.isEmpty ? " │" : " ┤") + cells
    }
    lines.append("       └" + String(repeating: "─", count: bars.count * 2))
    lines.append("        " + yearLabels)
    return lines.map { line in
      String(line.reversed().drop { $0 == " " }.reversed())
    }
  }

  /// A line with every fifth year, each under its column.
  private var yearLabels: String {
    var text = ""
    for (column, bar) in bars.enumerated() where bar.year.isMultiple(of: 5) {
      guard column * 2 >= text.count else { continue }
      text += String(repeating: " ", count: column * 2 - text.count) + "\(bar.year)"
    }
    return text
  }

  /// The power of ten as text: `0.1`, `1`, `1000`.
  static func label(decade: Int) -> String {
    decade < 0
      ? "0." + String(repeating: "0", count: -decade - 1) + "1"
      : "1" + String(repeating: "0", count: decade)
  }
}
