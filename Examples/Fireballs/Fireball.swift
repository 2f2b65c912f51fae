import Foundation
import Lodestore

/// A bright meteor, as the sensors of governments have seen it.
@Entity
package struct Fireball: Sendable, Hashable {
  #Unique<Fireball>([\.dateTimeStamp])
  #Index<Fireball>([\.impactEnergy])

  /// When it was brightest, in universal time.
  package var dateTimeStamp: Date
  /// The energy radiated, in 10¹⁰ joules.
  package var radiatedEnergy: Double
  /// The whole energy, in kilotons of TNT.
  package var impactEnergy: Double
  /// Degrees, north positive.
  package var latitude: Double?
  /// Degrees, east positive.
  package var longitude: Double?
  /// Kilometres.
  package var altitude: Double?
  /// Kilometres a second.
  package var velocity: Double?

  package static let groups = ToMany<Fireball, FireballGroup>(inverse: FireballGroup.fireballs)

  /// The history keeps the date of a deleted fireball.
  package static let history = HistoryPolicy<Fireball>.kept(preserving: \Fireball.dateTimeStamp)
}

/// Fireballs that have something in common; one may be in any number of groups.
@Entity
package struct FireballGroup: Sendable, Hashable {
  #Unique<FireballGroup>([\.name])

  package var name: String
  /// The predicate format string that finds them; `nil` where they were picked by hand.
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
