import Foundation

extension Nearby {
  /// The map as a drawing for a web page: rings of equal distance, and a dot for each fireball.
  package func svg(title: String) -> String {
    let (size, center, scale) = (640, 320.0, 290.0)
    var parts = [
      #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(size) \#(size)" "#
        + #"font-family="Helvetica, Arial, sans-serif" font-size="13" fill="dimgray">"#,
      #"<rect width="100%" height="100%" fill="white"/>"#,
      #"<text x="16" y="26" font-size="18" fill="black">\#(title)</text>"#,
    ]
    for ring in 1...4 {
      let share = Double(ring) / 4
      parts.append(
        #"<circle cx="\#(center)" cy="\#(center)" r="\#(text(share * scale))" fill="none" "#
          + #"stroke="lightgray"/>"#
          + #"<text x="\#(center + 3)" y="\#(text(center - share * scale + 13))">"#
          + "\(Int(radius * share / 1000)) km</text>")
    }
    parts.append(
      #"<path d="M\#(center - 6) \#(center)h12M\#(center) \#(center - 6)v12" stroke="black"/>"#)
    for mark in marks {
      let size = min(max(3 + 2 * log10(max(mark.fireball.impactEnergy, 0.1)), 2), 12)
      let time = mark.fireball.dateTimeStamp.formatted(.iso8601.year().month().day())
      parts.append(
        #"<circle cx="\#(text(center + mark.x * scale))" cy="\#(text(center - mark.y * scale))" "#
          + #"r="\#(text(size))" fill="orange" stroke="saddlebrown"><title>\#(time), "#
          + "\(text(mark.fireball.impactEnergy)) kt, \(Int(mark.distance / 1000)) km"
          + "</title></circle>"
      )
    }
    return parts.joined(separator: "\n") + "\n</svg>\n"
  }
}
