import ArgumentParser
import EntityStore

/// The value of `--near`: `54.8,61.1` or `54.8,61.1,500km`.
struct NearPlace: ExpressibleByArgument, Equatable, Sendable {
  let place: Coordinate
  /// The distance; `nil` for any distance.
  let meters: Double?

  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2 || parts.count == 3, let latitude = Double(parts[0]),
      let longitude = Double(parts[1])
    else { return nil }
    place = Coordinate(latitude: latitude, longitude: longitude)
    guard parts.count == 3 else {
      meters = nil
      return
    }
    let units = [("km", 1_000.0), ("mi", 1_609.344), ("m", 1.0), ("", 1.0)]
    guard let (unit, size) = units.first(where: { parts[2].hasSuffix($0.0) }),
      let number = Double(parts[2].dropLast(unit.count))
    else { return nil }
    meters = number * size
  }
}
