import Foundation
import Lodestore

/// The fireballs of a file, or of a preview in memory.
package struct FireballStore: Sendable {
  /// The author of writes by a person; a refresh writes as ``importName``.
  package static let appAuthor = "app"
  static let importName = "refresh"

  /// The store, for operations that this type does not offer.
  package let store: Store

  /// Opens the store at `path`, and makes it if it does not exist.
  package init(at path: String) throws {
    store = try Store(at: path, entities: Self.entities, options: Self.options)
  }

  private init(_ store: Store) { self.store = store }

  /// Makes an empty store in memory for tests; it is deleted with its last reference.
  package static func inMemory() throws -> FireballStore {
    FireballStore(try .inMemory(entities: entities, options: options))
  }

  /// Makes a store with a few fireballs in groups, for previews.
  package static func preview() throws -> FireballStore {
    let fireballs = try inMemory()
    try fireballs.addSamples()
    return fireballs
  }

  /// Adds the fireballs of ``preview()``.
  package func addSamples() throws {
    try store.write { tx in
      try tx.insert(Fireball.samples)
      try Self.sortIntoGroups(&tx)
    }
  }

  private static let entities: [any Entity.Type] = [Fireball.self, FireballGroup.self]

  private static var options: StoreOptions {
    var options = StoreOptions()
    options.author = appAuthor
    return options
  }
}

extension Fireball {
  /// Three well-known fireballs.
  package static let samples: [Fireball] = [
    .init(
      dateTimeStamp: Date(timeIntervalSince1970: 1_360_898_426), radiatedEnergy: 37_500,
      impactEnergy: 440, latitude: 54.8, longitude: 61.1, altitude: 23.3, velocity: 18.6),
    .init(
      dateTimeStamp: Date(timeIntervalSince1970: 1_545_177_694), radiatedEnergy: 3_130,
      impactEnergy: 49, latitude: 56.9, longitude: 172.4, altitude: 26, velocity: 13.6),
    .init(
      dateTimeStamp: Date(timeIntervalSince1970: 1_254_970_637), radiatedEnergy: 2_000,
      impactEnergy: 33, latitude: -4.2, longitude: 120.6, altitude: 19.1, velocity: 19.2),
  ]
}
