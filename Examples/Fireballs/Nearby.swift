import Foundation
import Lodestore

/// The fireballs near a place, on a flat map around it.
package struct Nearby: Sendable {
  /// A fireball on the map.
  package struct Mark: Sendable {
    package let fireball: Fireball
    /// The distance from the place in meters.
    package let distance: Double
    /// The position east of the place, as a share of the map's radius.
    package let x: Double
    /// The position north of the place, as a share of the map's radius.
    package let y: Double
  }

  package let place: Coordinate
  /// The radius of the map in meters.
  package let radius: Double
  /// The fireballs within the radius, the nearest first.
  package let marks: [Mark]

  package init(_ fireballs: FireballStore, to place: Coordinate, radius: Double) throws {
    self.place = place
    self.radius = radius
    let near = Fireball.where { $0.isNear(place, meters: radius) }.sortedByDistance()
    marks = try fireballs.store.fetch(near).compactMap { fireball in
      guard let latitude = fireball.latitude, let longitude = fireball.longitude else { return nil }
      let other = Coordinate(latitude: latitude, longitude: longitude)
      let distance = place.distance(to: other)
      let bearing = place.bearing(to: other)
      return Mark(
        fireball: fireball, distance: distance, x: distance / radius * sin(bearing),
        y: distance / radius * cos(bearing))
    }
  }
}

extension Coordinate {
  /// The direction in which the shortest way to a place begins, in radians from north to east.
  fileprivate func bearing(to other: Coordinate) -> Double {
    let scale = Double.pi / 180
    let (from, to) = (latitude * scale, other.latitude * scale)
    let turn = (other.longitude - longitude) * scale
    return atan2(sin(turn) * cos(to), cos(from) * sin(to) - sin(from) * cos(to) * cos(turn))
  }
}
