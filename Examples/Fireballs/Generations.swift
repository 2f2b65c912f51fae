import Foundation
import Lodestore

/// A comparison of two commits: a kept one and the newest one.
package struct Generations: Sendable {
  /// A summary of one generation.
  package struct Summary: Sendable, Equatable {
    package var count: Int
    package var impactEnergy: Double
    package var newest: Date?
  }

  package var then: Summary
  package var now: Summary
  /// The fireballs that exist only in the newest commit.
  ///
  /// ``vanished`` has the fireballs that exist only in the old commit, and ``changed`` the
  /// fireballs that differ.
  package var appeared: [Fireball]
  package var vanished: [Fireball]
  package var changed: [(then: Fireball, now: Fireball)]

  /// Reads both commits.
  ///
  /// Later writes do not change the records of the kept commit.
  package init(_ kept: PinnedSnapshot, in fireballs: FireballStore) throws {
    var old: [Date: Fireball] = [:]
    then = try kept.read { snapshot in
      for fireball in try snapshot.fetch(Fireball.all) { old[fireball.dateTimeStamp] = fireball }
      return try Summary(snapshot)
    }
    (appeared, changed) = ([], [])
    let new: [Fireball]
    (now, new) = try fireballs.store.read { snapshot in
      (try Summary(snapshot), try snapshot.fetch(Fireball.newestFirst))
    }
    for fireball in new {
      switch old.removeValue(forKey: fireball.dateTimeStamp) {
      case nil: appeared.append(fireball)
      case let before? where before != fireball: changed.append((before, fireball))
      default: break
      }
    }
    vanished = old.values.sorted { $0.dateTimeStamp > $1.dateTimeStamp }
  }
}

extension Generations.Summary {
  init(_ snapshot: borrowing Snapshot) throws {
    count = try snapshot.count(Fireball.all)
    let (energy, newest) = try snapshot.aggregate(
      Fireball.all, .sum(\.impactEnergy), .maximum(\.dateTimeStamp))
    impactEnergy = energy ?? 0
    self.newest = newest
  }
}
