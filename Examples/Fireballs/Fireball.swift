import Foundation
import Lodestore

/// A bright meteor, as the sensors of governments have seen it.
@Entity
package struct Fireball: Sendable, Hashable {
  #Unique<Fireball>([\.dateTimeStamp])
  #Index<Fireball>([\.impactEnergy])
  #Place<Fireball>([\.latitude, \.longitude])

  /// The time of the greatest brightness, in universal time.
  package var dateTimeStamp: Date
  /// The energy radiated, in 10¹⁰ joules.
  package var radiatedEnergy: Double
  /// The total impact energy, in kilotons of TNT.
  package var impactEnergy: Double
  /// The latitude in degrees; positive in the north.
  package var latitude: Double?
  /// The longitude in degrees; positive in the east.
  package var longitude: Double?
  /// The altitude of the greatest brightness, in kilometres.
  package var altitude: Double?
  /// The speed in kilometres per second.
  package var velocity: Double?

  package static let groups = ToMany<Fireball, FireballGroup>(inverse: FireballGroup.fireballs)

  /// The history keeps the date of a deleted fireball.
  package static let history = HistoryPolicy<Fireball>.kept(preserving: \Fireball.dateTimeStamp)
}

/// A group of fireballs.
///
/// A fireball may be in any number of groups.
@Entity
package struct FireballGroup: Sendable, Hashable {
  #Unique<FireballGroup>([\.name])

  package var name: String
  /// The predicate format string of the group's fireballs; `nil` if a person chose them.
  package var condition: String?

  package static let fireballs = ToMany<FireballGroup, Fireball>()

  @Derived(.count(FireballGroup.fireballs)) package private(set) var fireballCount = 0
  @Derived(.sum(FireballGroup.fireballs, \.impactEnergy))
  package private(set) var impactEnergy = 0.0
}

extension Fireball {
  /// All fireballs, the newest first.
  package static let newestFirst = all.sorted(by: \.dateTimeStamp.descending)
  /// All fireballs, the strongest first.
  package static let strongestFirst = all.sorted(by: \.impactEnergy.descending)
}
