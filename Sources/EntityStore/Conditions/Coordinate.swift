import LodestoreSystem

/// A place on the earth, in degrees of WGS 84.
public struct Coordinate: Sendable, Hashable {
  /// The degrees north of the equator, from -90 to 90.
  public var latitude: Double
  /// The degrees east of Greenwich, from -180 to 180.
  public var longitude: Double

  /// Makes a coordinate; queries refuse one that is out of range.
  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }

  /// The mean radius of the earth in meters.
  ///
  /// All distances are on a sphere of this radius. Distances on the ellipsoid of WGS 84 differ from
  /// them by at most 0.57 percent.
  public static let earthRadius = 6_371_008.8

  /// The distance to another place along a great circle, in meters.
  ///
  /// Conditions and orders by distance use the same number.
  public func distance(to other: Coordinate) -> Double {
    Self.meters(ofHalfChord: halfChord(to: other))
  }

  /// Whether both numbers are in their ranges.
  var isValid: Bool {
    (-90...90).contains(latitude) && (-180...180).contains(longitude)
  }

  /// The square of half the chord between two places of the unit sphere, from 0 to 1.
  ///
  /// The number grows with the distance, and takes less time.
  func halfChord(to other: Coordinate) -> Double {
    let scale = Double.pi / 180
    let a = sin((other.latitude - latitude) * scale / 2)
    let b = sin((other.longitude - longitude) * scale / 2)
    return min(1, a * a + cos(latitude * scale) * cos(other.latitude * scale) * b * b)
  }

  static func meters(ofHalfChord square: Double) -> Double {
    2 * earthRadius * atan2(square.squareRoot(), (1 - square).squareRoot())
  }
}

/// An area between two latitudes and two longitudes, in degrees of WGS 84.
///
/// The bounds belong to the area. With ``west`` greater than ``east``, the area crosses the
/// meridian 180. An area that reaches a pole has the places of the pole only with the longitudes
/// between ``west`` and ``east``.
public struct BoundingBox: Sendable, Hashable {
  /// The lowest latitude, from -90 to 90.
  public var south: Double
  /// The longitude at which the area begins, from -180 to 180.
  public var west: Double
  /// The highest latitude, from -90 to 90.
  public var north: Double
  /// The longitude at which the area ends, from -180 to 180.
  public var east: Double

  /// Makes an area; queries refuse one with numbers out of range, or with `south` above `north`.
  public init(south: Double, west: Double, north: Double, east: Double) {
    self.south = south
    self.west = west
    self.north = north
    self.east = east
  }

  /// Returns whether a place is in the area.
  public func contains(_ place: Coordinate) -> Bool {
    guard south <= place.latitude, place.latitude <= north else { return false }
    if hasLongitude(place.longitude) { return true }
    // The meridians -180 and 180 are one.
    return abs(place.longitude) == 180 && hasLongitude(-place.longitude)
  }

  private func hasLongitude(_ longitude: Double) -> Bool {
    west <= east ? west <= longitude && longitude <= east : longitude >= west || longitude <= east
  }

  var isValid: Bool {
    Coordinate(latitude: south, longitude: west).isValid
      && Coordinate(latitude: north, longitude: east).isValid && south <= north
  }
}
