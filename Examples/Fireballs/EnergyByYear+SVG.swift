import Foundation

extension EnergyByYear {
  /// The plot as a drawing for a web page.
  ///
  /// Each whole year has a bar, and a dot for its strongest fireball.
  package func svg(title: String = "Impact energy of fireballs by year") -> String {
    let frame = Frame(bars: bars.count)
    var parts = [
      #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(frame.width) \#(frame.height)" "#
        + #"font-family="Helvetica, Arial, sans-serif" font-size="13" fill="dimgray">"#,
      #"<rect width="100%" height="100%" fill="white"/>"#,
      #"<text x="\#(frame.left)" y="30" font-size="20" fill="black">\#(title)</text>"#,
      #"<text x="\#(frame.left)" y="52">kilotons of TNT, logarithmic; "#
        + #"bar: all fireballs of the year, dot: the strongest</text>"#,
    ]
    parts += decades.map { axisLine($0, frame) }
    parts += bars.enumerated().map { column($0.element, at: $0.offset, frame) }
    if let record = bars.max(by: { $0.energy < $1.energy }), let first = bars.first {
      let x = frame.center(record.year - first.year)
      let y = frame.y(height(record.energy)) - 10
      parts.append(
        #"<text x="\#(text(x))" y="\#(text(y))" text-anchor="middle" fill="black">"#
          + "\(record.year): \(Int(record.energy.rounded())) kt</text>")
    }
    return parts.joined(separator: "\n") + "\n</svg>\n"
  }

  private func axisLine(_ decade: Int, _ frame: Frame) -> String {
    let y = text(frame.y(height(pow(10, Double(decade)))))
    return #"<path d="M\#(frame.left) \#(y)H\#(frame.width - 20)" stroke="lightgray"/>"#
      + #"<text x="\#(frame.left - 8)" y="\#(y)" dy="4" text-anchor="end">"#
      + "\(Self.label(decade: decade))</text>"
  }

  private func column(_ bar: Bar, at index: Int, _ frame: Frame) -> String {
    let x = frame.center(index)
    var parts: [String] = []
    if bar.energy > 0 {
      let y = frame.y(height(bar.energy))
      parts.append(
        #"<rect x="\#(text(x - frame.barWidth / 2))" y="\#(text(y))" "#
          + #"width="\#(text(frame.barWidth))" height="\#(text(frame.y(0) - y))" "#
          + #"rx="2" fill="orange"><title>\#(bar.year): \#(bar.count) fireballs, "#
          + "\(text(bar.energy)) kt</title></rect>")
      parts.append(
        #"<circle cx="\#(text(x))" cy="\#(text(frame.y(height(bar.strongest))))" r="3" "#
          + #"fill="saddlebrown"/>"#)
    }
    if bar.year.isMultiple(of: 5) {
      parts.append(
        #"<text x="\#(text(x))" y="\#(text(frame.y(0) + 20))" text-anchor="middle">\#(bar.year)</text>"#
      )
    }
    return parts.joined(separator: "\n")
  }

  /// The positions in the drawing.
  private struct Frame {
    let width = 960
    let height = 440
    let left = 70
    let top = 84
    let bottom = 40
    let bars: Int

    private var step: Double { Double(width - left - 20) / Double(max(bars, 1)) }
    var barWidth: Double { step * 0.7 }
    func center(_ index: Int) -> Double { Double(left) + step * (Double(index) + 0.5) }
    func y(_ fraction: Double) -> Double {
      Double(height - bottom) - fraction * Double(height - bottom - top)
    }
  }
}

/// Returns the number with one decimal digit and a point, independent of the locale.
func text(_ number: Double) -> String {
  let tenths = Int((number * 10).rounded())
  return tenths.isMultiple(of: 10)
    ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
}
