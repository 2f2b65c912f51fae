internal import EntityStore
internal import LodestoreRows
internal import LodestoreSystem

extension PlaceMap {
  /// The map, with the table of its points or squares.
  var figure: Figure {
    var drawing = Drawing(
      title: "Map", summary: summary, width: MapView.drawnWidth, height: view.drawnHeight)
    drawing.form = .map
    let (lines, texts) = graticule
    drawing.shapes = coast + lines
    let range = (counts.values.min() ?? 1)...(counts.values.max() ?? 1)
    for (square, count) in squares {
      drawing.shapes.append(shape(square, count, range))
    }
    drawing.shapes += points.map { point in
      .link(
        Drawing.Link(.record(page.entity.name, point.id)), label: label(point),
        [.dot(view.point(point.place), .bar)])
    }
    drawing.shapes += center + texts
    var figure = Figure(drawing, table)
    figure.controls = view.others.map { ($0.text, route($0.view)) }
    if selectionHasBox { figure.controls.append(("Show all", route(nil))) }
    return figure
  }

  private var selectionHasBox: Bool { page.selection.box != nil }

  private func route(_ view: MapView?) -> Route { route(area: view?.box) }

  private func route(area: BoundingBox?) -> Route {
    page.route(page.selection.changed { $0.box = area })
  }

  /// The squares in the order of their places.
  private var squares: [(Square, Int)] {
    counts.sorted { ($0.key.row, $0.key.column) < ($1.key.row, $1.key.column) }
      .map { ($0.key, $0.value) }
  }

  private var summary: String {
    guard !counts.isEmpty else {
      if points.isEmpty { return "No selected record has a place here." }
      let text = NumberText.counted(points.count, "place")
      return isCut
        ? "The first \(text) that were found in time." : "\(text). Each leads to its record."
    }
    let sum = counts.values.reduce(0, +)
    let count = text(of: sum) + (sum == 1 ? " place" : " places")
    let start = isEstimated ? "About \(count)" : isCut ? "The first \(count)" : count
    return
      "\(start), counted by squares of \(PlaceText.side(side)). The fullest square has "
      + "\(isEstimated ? "about " : "")\(text(of: counts.values.max() ?? 0)). Each square leads to "
      + "its part of the map."
  }

  /// A number of places; an estimate has two digits.
  private func text(of count: Int) -> String {
    guard isEstimated else { return NumberText.grouped(count) }
    var unit = 1
    while count / unit >= 100 { unit *= 10 }
    return NumberText.grouped((count + unit / 2) / unit * unit)
  }

  private func label(_ point: (place: Coordinate, id: UInt64)) -> String {
    "\(page.entity.name) \(point.id) at \(PlaceText.place(point.place))"
  }

  /// The points or squares as rows.
  private var table: Table {
    if counts.isEmpty {
      // The records of the page follow the map, so people need few of its points.
      let shown = page.reading.form == .html ? points.prefix(100) : points[...]
      var table = Table(
        ["record", "latitude", "longitude"].map { Table.Heading(Column($0)) },
        shown.map { point in
          Table.Row([
            Item(.unsigned(point.id), link: .record(page.entity.name, point.id)),
            Item(.double(point.place.latitude)), Item(.double(point.place.longitude)),
          ])
        })
      if shown.count < points.count { table.summary = "The first \(shown.count) places" }
      return table
    }
    let squares = squares
    let shown = page.reading.form == .html ? squares.prefix(100) : squares[...]
    var table = Table(
      ["south", "west", "north", "east", "places"].map { Table.Heading(Column($0)) },
      shown.map { square, count in
        let area = area(of: square)
        return Table.Row(
          [area.south, area.west, area.north, area.east].map { Item(.double($0)) } + [
            Item(.count(count), link: route(area: area))
          ])
      })
    if shown.count < squares.count { table.summary = "The first \(shown.count) squares" }
    return table
  }

  // MARK: Shapes

  /// A square whose shade grows with the logarithm of its count.
  private func shape(
    _ square: Square, _ count: Int, _ range: ClosedRange<Int>
  ) -> Drawing.Shape {
    let area = area(of: square)
    let corner = view.point(Coordinate(latitude: area.north, longitude: area.west))
    let (low, high) = (log(Double(range.lowerBound)), log(Double(range.upperBound)))
    let shade = high > low ? (log(Double(count)) - low) / (high - low) : 0.5
    // A square that begins left of the map ends in it.
    let x = corner.x > MapView.drawnWidth ? corner.x - view.x(360) : corner.x
    return .link(
      Drawing.Link(route(area: area)),
      label: "\(isEstimated ? "about " : "")\(text(of: count)) \(count == 1 ? "place" : "places")",
      [
        .box(
          x: x, y: corner.y, width: view.x(side), height: view.y(area.south) - corner.y,
          .heat(1 + min(4, Int(shade * 5))))
      ])
  }

  /// The place from which distances are measured, with the line of the distance.
  private var center: [Drawing.Shape] {
    guard let near = page.selection.near else { return [] }
    let point = view.point(near.place)
    var shapes: [Drawing.Shape] = [
      .line([Drawing.Point(point.x - 9, point.y), Drawing.Point(point.x + 9, point.y)], .strong),
      .line([Drawing.Point(point.x, point.y - 9), Drawing.Point(point.x, point.y + 9)], .strong),
    ]
    guard let meters = near.meters else { return shapes }
    let ring = (0...72).map { near.place.moved(meters, toward: Double($0) * 5) }
    var part: [Drawing.Point] = []
    for place in ring {
      let next = view.point(place)
      // The line is divided where it leaves one side of the map and returns at the other.
      if let last = part.last, abs(next.x - last.x) > view.x(180) {
        shapes.append(.line(part, .strong))
        part = []
      }
      part.append(next)
    }
    return shapes + [.line(part, .strong)]
  }

  /// Lines of equal latitude and longitude, and their degrees.
  private var graticule: (lines: [Drawing.Shape], texts: [Drawing.Shape]) {
    let steps = [45.0, 30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001]
    // A narrow area may be high, and the step decides the number of lines in both directions.
    let side = max(view.width, view.north - view.south)
    let step = steps.first { side / $0 >= 5 } ?? 0.0005
    let (right, bottom) = (MapView.drawnWidth, view.drawnHeight)
    var (lines, texts): ([Drawing.Shape], [Drawing.Shape]) = ([], [])
    for latitude in Self.multiples(of: step, from: view.south, through: view.north) {
      let y = view.y(latitude)
      lines.append(.line([Drawing.Point(0, y), Drawing.Point(right, y)], .grid))
      guard y > 20, y < bottom - 24 else { continue }
      let text = PlaceText.degrees(latitude, isLatitude: true)
      texts.append(.text(text, Drawing.Point(5, y - 4), .faint))
    }
    for longitude in Self.multiples(of: step, from: view.west, through: view.west + view.width) {
      let x = view.x(longitude - view.west)
      lines.append(.line([Drawing.Point(x, 0), Drawing.Point(x, bottom)], .grid))
      guard x > 60, x < right - 60 else { continue }
      let shown = longitude > 180 ? longitude - 360 : longitude
      let text = PlaceText.degrees(shown, isLatitude: false)
      texts.append(.text(text, Drawing.Point(x + 4, bottom - 6), .faint))
    }
    return (lines, texts)
  }

  private static func multiples(
    of step: Double, from first: Double, through last: Double
  ) -> [Double] {
    let (low, high) = (Int((first / step).rounded(.up)), Int((last / step).rounded(.down)))
    return low <= high ? (low...high).map { Double($0) * step } : []
  }

  /// The land, on maps of large areas.
  private var coast: [Drawing.Shape] {
    guard view.width >= 40 else { return [] }
    return outlines(Coast.lands, .land) + outlines(Coast.lakes, .water)
  }

  private func outlines(_ lands: [[Coordinate]], _ style: Drawing.Style) -> [Drawing.Shape] {
    lands.flatMap { land in
      // A land is drawn again on the other side of the meridian 180.
      [-360.0, 0, 360].compactMap { turn in
        let points = land.map {
          Drawing.Point(view.x($0.longitude + turn - view.west), view.y($0.latitude))
        }
        guard let left = points.map(\.x).min(), let right = points.map(\.x).max(),
          left < MapView.drawnWidth, right > 0
        else { return nil }
        return .line(points, style)
      }
    }
  }
}

extension Coordinate {
  /// The place at a distance in meters, in a direction in degrees from north to east.
  fileprivate func moved(_ meters: Double, toward direction: Double) -> Coordinate {
    let scale = Double.pi / 180
    let (angle, turn) = (meters / Self.earthRadius, direction * scale)
    let sine =
      sin(latitude * scale) * cos(angle) + cos(latitude * scale) * sin(angle) * cos(turn)
    let east = atan2(
      sin(turn) * sin(angle) * cos(latitude * scale), cos(angle) - sin(latitude * scale) * sine)
    let moved = longitude + east / scale
    return Coordinate(
      latitude: asin(max(-1, min(1, sine))) / scale,
      longitude: moved > 180 ? moved - 360 : moved < -180 ? moved + 360 : moved)
  }
}

extension PlaceText {
  /// The side of a square, in degrees or, if it is small, in meters of latitude.
  fileprivate static func side(_ degrees: Double) -> String {
    if degrees >= 0.1 { return "\((degrees * 100).rounded() / 100) degrees" }
    return "\(NumberText.grouped(Int((degrees * 111_195).rounded()))) m"
  }
}
