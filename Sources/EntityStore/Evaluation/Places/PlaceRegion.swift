internal import LodestoreFormat
import LodestoreSystem

/// The area of a condition on places.
enum PlaceRegion: Sendable, Hashable {
  case box(BoundingBox)
  /// The places at most some meters away; all places for infinity.
  case circle(Coordinate, meters: Double)

  func contains(_ place: Coordinate) -> Bool {
    switch self {
    case .box(let box): box.contains(place)
    case .circle(let center, let meters):
      meters == .infinity || center.distance(to: place) <= meters
    }
  }
}

/// Columns and rows of the grid, with both ends.
struct GridRectangle: Sendable {
  let columns: ClosedRange<UInt32>
  let rows: ClosedRange<UInt32>

  func overlaps(_ cell: PlaceCell) -> Bool {
    columns.overlaps(cell.columns) && rows.overlaps(cell.rows)
  }

  func contains(_ cell: PlaceCell) -> Bool {
    columns.lowerBound <= cell.columns.lowerBound && cell.columns.upperBound <= columns.upperBound
      && rows.lowerBound <= cell.rows.lowerBound && cell.rows.upperBound <= rows.upperBound
  }
}

/// A region in fields of the grid: ranges of the curve that contain it, and a test of fields.
struct PlaceCover: Sendable {
  /// The maximum number of ranges of a query.
  static let mostRanges = 16
  /// The number of cells beyond which the cells are not divided further.
  private static let mostCells = 48
  /// The distance in meters that two coordinates of a field are apart, with the errors of the
  /// arithmetic.
  static let tolerance = 0.02
  /// The squares of half chords above which the arithmetic is less exact: beyond 178 degrees.
  static let mostExactHalfChord = 0.9998

  let region: PlaceRegion
  /// Rectangles that together contain the region.
  let rectangles: [GridRectangle]
  /// The squares of half chords below which a field is inside, and above which it is outside.
  private let certain: (inside: Double, outside: Double)

  init(_ region: PlaceRegion) {
    self.region = region
    rectangles = region.box.rectangles
    if case .circle(_, let meters) = region {
      certain = (
        Self.halfChord(max(0, meters - Self.tolerance)), Self.halfChord(meters + Self.tolerance)
      )
    } else {
      certain = (0, 0)
    }
  }

  /// The square of half the chord of a distance, as in ``Coordinate/halfChord(to:)``.
  private static func halfChord(_ meters: Double) -> Double {
    let half = sin(min(meters / Coordinate.earthRadius, .pi) / 2)
    return half * half
  }

  /// Returns whether the places of a field are in the region; `nil` if only their coordinates can
  /// decide.
  func admits(_ field: PlaceCell) -> Bool? {
    switch region {
    case .box:
      let (column, row) = (field.columns.lowerBound, field.rows.lowerBound)
      var isOnBorder = false
      for rectangle in rectangles {
        let (columns, rows) = (rectangle.columns, rectangle.rows)
        guard columns.contains(column), rows.contains(row) else { continue }
        if columns.lowerBound < column, column < columns.upperBound, rows.lowerBound < row,
          row < rows.upperBound
        {
          return true
        }
        isOnBorder = true
      }
      return isOnBorder ? nil : false
    case .circle(let center, let meters):
      if meters == .infinity { return true }
      let square = center.halfChord(to: Coordinate(of: field))
      if square > Self.mostExactHalfChord || certain.outside > Self.mostExactHalfChord {
        return nil
      }
      return square < certain.inside ? true : square > certain.outside ? false : nil
    }
  }

  /// The ranges of the curve, ascending and disjoint, at most ``mostRanges``.
  func ranges() -> [ClosedRange<UInt64>] {
    var cells = [PlaceCell.whole]
    for _ in 0..<PlaceCell.deepestLevel {
      var isDivided = false
      var next: [PlaceCell] = []
      next.reserveCapacity(4 * cells.count)
      for cell in cells {
        if rectangles.contains(where: { $0.contains(cell) }) {
          next.append(cell)
          continue
        }
        isDivided = true
        for number in 0..<4 as Range<UInt32> {
          let quarter = cell.quarter(number)
          if mayHavePlaces(quarter) { next.append(quarter) }
        }
      }
      if !isDivided || next.count > Self.mostCells { break }
      cells = next
    }
    return Self.joined(cells.map(\.positions).sorted { $0.lowerBound < $1.lowerBound })
  }

  private func mayHavePlaces(_ cell: PlaceCell) -> Bool {
    guard rectangles.contains(where: { $0.overlaps(cell) }) else { return false }
    guard case .circle(let center, let meters) = region else { return true }
    return center.leastDistance(to: cell) <= meters
  }

  /// Joins ranges across the smallest gaps between them.
  private static func joined(_ ranges: [ClosedRange<UInt64>]) -> [ClosedRange<UInt64>] {
    let gaps = zip(ranges, ranges.dropFirst()).map { $1.lowerBound - $0.upperBound - 1 }
    // The gaps that stay are the largest ones.
    let least = gaps.count < mostRanges ? 1 : max(1, gaps.sorted(by: >)[mostRanges - 2] + 1)
    var joined: [ClosedRange<UInt64>] = []
    for (index, range) in ranges.enumerated() {
      if index > 0, gaps[index - 1] < least, let last = joined.popLast() {
        joined.append(last.lowerBound...range.upperBound)
      } else {
        joined.append(range)
      }
    }
    return joined
  }
}

extension PlaceRegion {
  /// The smallest box with all places of the region, and a little more around a circle.
  fileprivate var box: BoundingBox {
    let world = BoundingBox(south: -90, west: -180, north: 90, east: 180)
    guard case .circle(let center, let meters) = self else {
      if case .box(let box) = self { return box }
      return world
    }
    let angle = meters / Coordinate.earthRadius
    guard angle < .pi else { return world }
    // Seven decimals of a degree are a centimeter, more than the errors of the arithmetic.
    let degrees = angle * 180 / .pi + 1e-7
    var box = world
    box.south = max(-90, center.latitude - degrees)
    box.north = min(90, center.latitude + degrees)
    guard box.south > -90, box.north < 90 else { return box }
    // No meridian beyond this difference of longitudes touches the circle.
    let reach = asin(min(1, sin(angle) / cos(center.latitude * .pi / 180))) * 180 / .pi + 1e-6
    guard reach < 90 else { return box }
    box.west = center.longitude - reach
    box.east = center.longitude + reach
    if box.west < -180 { box.west += 360 }
    if box.east > 180 { box.east -= 360 }
    return box
  }
}

extension BoundingBox {
  /// The rectangles of the grid with the places of the box, one or two.
  fileprivate var rectangles: [GridRectangle] {
    let rows = PlaceCell.row(south)...max(PlaceCell.row(south), PlaceCell.row(north))
    func rectangle(_ west: Double, _ east: Double) -> GridRectangle {
      let first = PlaceCell.column(west)
      let last = east == 180 ? UInt32.max : PlaceCell.column(east)
      return GridRectangle(columns: first...max(first, last), rows: rows)
    }
    // The meridian 180 is in column 0.
    if west == 180 {
      var same = self
      same.west = -180
      if east == 180 { same.east = -180 }
      return same.rectangles
    }
    if west > east { return [rectangle(west, 180), rectangle(-180, east)] }
    return [rectangle(west, east)] + (east == 180 && west > -180 ? [rectangle(-180, -180)] : [])
  }
}

extension Coordinate {
  /// The middle of a field of the grid.
  init(of field: PlaceCell) {
    let latitudes = PlaceCell.latitudes(field.rows)
    let longitudes = PlaceCell.longitudes(field.columns)
    self.init(
      latitude: (latitudes.lowerBound + latitudes.upperBound) / 2,
      longitude: (longitudes.lowerBound + longitudes.upperBound) / 2)
  }

  /// A distance that no place in the cell falls below, in meters.
  func leastDistance(to cell: PlaceCell) -> Double {
    let latitudes = PlaceCell.latitudes(cell.rows)
    let longitudes = PlaceCell.longitudes(cell.columns)
    var square: Double
    if longitudes.contains(longitude) {
      let nearest = min(max(latitude, latitudes.lowerBound), latitudes.upperBound)
      square = halfChord(to: Coordinate(latitude: nearest, longitude: longitude))
    } else {
      // The nearest place is on the nearer of the two meridians. That meridian has it at an end, or
      // where a great circle meets the meridian at a right angle.
      let (west, east) = (longitudes.lowerBound, longitudes.upperBound)
      let side =
        Self.turn(from: longitude, to: west) < Self.turn(from: longitude, to: east)
        ? west : east
      let scale = Double.pi / 180
      let angle = Self.turn(from: longitude, to: side) * scale
      let foot = atan2(sin(latitude * scale), cos(latitude * scale) * cos(angle)) / scale
      square =
        [latitudes.lowerBound, latitudes.upperBound, foot].map { latitude in
          latitudes.contains(latitude)
            ? halfChord(to: Coordinate(latitude: latitude, longitude: side)) : 1
        }.min() ?? 0
    }
    return max(0, Self.meters(ofHalfChord: square) * (1 - 1e-12) - Self.error(ofHalfChord: square))
  }

  /// A distance that no place in the cell exceeds, in meters.
  func greatestDistance(to cell: PlaceCell) -> Double {
    let latitudes = PlaceCell.latitudes(cell.rows)
    let longitudes = PlaceCell.longitudes(cell.columns)
    // The farthest place is on the opposite meridian, or else on the farther one of the two sides.
    // That meridian has it at an end, or where a great circle meets the meridian at a right angle.
    let opposite = longitude < 0 ? longitude + 180 : longitude - 180
    let (west, east) = (longitudes.lowerBound, longitudes.upperBound)
    let side =
      longitudes.contains(opposite)
      ? opposite
      : Self.turn(from: longitude, to: west) > Self.turn(from: longitude, to: east) ? west : east
    let scale = Double.pi / 180
    let angle = Self.turn(from: longitude, to: side) * scale
    let foot = atan2(-sin(latitude * scale), -cos(latitude * scale) * cos(angle)) / scale
    let square =
      [latitudes.lowerBound, latitudes.upperBound, foot].map { latitude in
        latitudes.contains(latitude)
          ? halfChord(to: Coordinate(latitude: latitude, longitude: side)) : 0
      }.max() ?? 1
    return Self.meters(ofHalfChord: square) * (1 + 1e-12) + Self.error(ofHalfChord: square)
  }

  /// The highest error of a distance to a cell, in meters.
  private static func error(ofHalfChord square: Double) -> Double {
    square > PlaceCover.mostExactHalfChord ? 10 : PlaceCover.tolerance
  }

  /// The difference of two longitudes, from 0 to 180 degrees.
  private static func turn(from: Double, to: Double) -> Double {
    let difference = abs(from - to)
    return min(difference, 360 - difference)
  }
}
