import Foundation

/// A row of the service's answer, with its texts and nulls.
///
/// A coordinate is a number of degrees and a direction.
struct FireballRecord: Decodable, Sendable {
  var date: Date
  var energy: String
  var impactEnergy: String
  var latitude: String?
  var latitudeDirection: String?
  var longitude: String?
  var longitudeDirection: String?
  var altitude: String?
  var velocity: String?

  enum CodingKeys: String, CodingKey {
    case date, energy
    case impactEnergy = "impact-e"
    case latitude = "lat"
    case latitudeDirection = "lat-dir"
    case longitude = "lon"
    case longitudeDirection = "lon-dir"
    case altitude = "alt"
    case velocity = "vel"
  }
}

extension Fireball {
  init(_ record: FireballRecord) throws {
    self.init(
      dateTimeStamp: record.date, radiatedEnergy: try number(record.energy),
      impactEnergy: try number(record.impactEnergy),
      latitude: try degrees(record.latitude, record.latitudeDirection),
      longitude: try degrees(record.longitude, record.longitudeDirection),
      altitude: try record.altitude.map(number), velocity: try record.velocity.map(number))
  }
}

/// The reason why a row is not a valid fireball.
struct BadRow: Error, CustomStringConvertible {
  let description: String
}

private func number(_ text: String) throws -> Double {
  guard let number = Double(text) else { throw BadRow(description: "'\(text)' is no number") }
  return number
}

private func degrees(_ text: String?, _ direction: String?) throws -> Double? {
  guard let text else { return nil }
  switch direction {
  case "N", "E": return try number(text)
  case "S", "W": return try -number(text)
  default: throw BadRow(description: "'\(direction ?? "null")' is no direction")
  }
}
