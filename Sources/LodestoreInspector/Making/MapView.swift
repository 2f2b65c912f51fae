internal import EntityStore
internal import LodestoreRows
internal import LodestoreSystem

/// The part of the earth that a map shows, and its projection.
///
/// Meridians and parallels are straight lines. A degree of longitude is as wide as in the middle of
/// the map, so that the shapes of small areas are right.
struct MapView: Equatable {
  let south: Double
  let north: Double
  /// The longitude of the left side.
  let west: Double
  /// The difference of the longitudes of both sides, up to 360 degrees.
  let width: Double
  let drawnHeight: Double

  static let drawnWidth = 900.0

  static let world = MapView(BoundingBox(south: -90, west: -180, north: 90, east: 180))

  /// Shows exactly an area.
  init(_ box: BoundingBox) {
    south = box.south
    north = max(box.north, box.south + 1e-6)
    west = box.west
    let span = box.east - box.west
    width = max(span < 0 ? span + 360 : span, 1e-6)
    let scale = Self.shortening(at: (south + north) / 2)
    drawnHeight = min(max((north - south) / (width * scale) * Self.drawnWidth, 240), 560)
  }

  /// Shows all places, with a margin, in the usual proportion of sides; `nil` without places.
  init?(around places: some Sequence<Coordinate>) {
    var bounds: (low: Coordinate, high: Coordinate)?
    for place in places {
      let (low, high) = (bounds?.low ?? place, bounds?.high ?? place)
      bounds = (
        Coordinate(
          latitude: min(low.latitude, place.latitude),
          longitude: min(low.longitude, place.longitude)),
        Coordinate(
          latitude: max(high.latitude, place.latitude),
          longitude: max(high.longitude, place.longitude))
      )
    }
    guard let (low, high) = bounds else { return nil }
    self = MapView(
      middle: Coordinate(
        latitude: (low.latitude + high.latitude) / 2,
        longitude: (low.longitude + high.longitude) / 2),
      height: (high.latitude - low.latitude) * 1.16,
      width: (high.longitude - low.longitude) * 1.16)
  }

  /// Shows an area of at least a size in degrees around a place, in the usual proportion of sides.
  init(middle: Coordinate, height: Double, width: Double) {
    let scale = Self.shortening(at: middle.latitude)
    let height = max(height, width * scale / 2, 0.002)
    let width = max(width, height * 2 / scale)
    guard width < 250, height < 130 else {
      self = .world
      return
    }
    let south = max(-90, min(middle.latitude - height / 2, 90 - height))
    self = MapView(
      Self.rounded(
        BoundingBox(
          south: south, west: Self.wrapped(middle.longitude - width / 2), north: south + height,
          east: Self.wrapped(middle.longitude + width / 2)), width))
  }

  /// The length of a degree of longitude, in degrees of latitude.
  private static func shortening(at latitude: Double) -> Double {
    max(cos(latitude * .pi / 180), 0.2)
  }

  /// The longitude from -180 to 180.
  private static func wrapped(_ longitude: Double) -> Double {
    longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude
  }

  /// The area with bounds of few digits, so that addresses are short.
  private static func rounded(_ box: BoundingBox, _ width: Double) -> BoundingBox {
    var factor = 100.0
    while factor * width < 1_000, factor < 1e7 { factor *= 10 }
    func rounded(_ number: Double) -> Double { (number * factor).rounded() / factor }
    return BoundingBox(
      south: max(-90, rounded(box.south)), west: rounded(box.west),
      north: min(90, rounded(box.north)), east: rounded(box.east))
  }

  var box: BoundingBox {
    BoundingBox(
      south: south, west: west, north: north, east: width == 360 ? 180 : Self.wrapped(west + width))
  }

  var middle: Coordinate {
    Coordinate(latitude: (south + north) / 2, longitude: Self.wrapped(west + width / 2))
  }

  var isWorld: Bool { width == 360 && north - south == 180 }

  // MARK: Drawing

  /// The place on the drawing, which may be beyond its sides.
  func point(_ place: Coordinate) -> Drawing.Point {
    var east = place.longitude - west
    if east < 0 { east += 360 }
    return Drawing.Point(x(east), y(place.latitude))
  }

  /// The distance from the left side of a place some degrees east of it.
  func x(_ east: Double) -> Double { east / width * Self.drawnWidth }

  func y(_ latitude: Double) -> Double { (north - latitude) / (north - south) * drawnHeight }

  // MARK: Moving

  /// The views to which a person moves from this one, with their names.
  var others: [(text: String, view: MapView)] {
    let height = north - south
    func moved(_ east: Double, _ up: Double) -> MapView {
      MapView(
        middle: Coordinate(
          latitude: min(max(middle.latitude + up * height / 2, -90), 90),
          longitude: Self.wrapped(middle.longitude + east * width / 2)),
        height: height, width: width)
    }
    func zoomed(_ factor: Double) -> MapView {
      MapView(middle: middle, height: height * factor, width: width * factor)
    }
    let inner = isWorld ? MapView(middle: middle, height: 90, width: 180) : zoomed(0.5)
    return [("Zoom in", inner)]
      + [
        ("Zoom out", zoomed(2)), ("North", moved(0, 1)), ("South", moved(0, -1)),
        ("West", moved(-1, 0)),
        ("East", moved(1, 0)),
      ].filter { !isWorld && $0.1 != self }
  }
}
