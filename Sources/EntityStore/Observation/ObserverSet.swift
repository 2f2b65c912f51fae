internal import LodestoreFormat

/// The observers of one store, each with the entities on which it depends.
///
/// An observer may gain dependencies later; ``extend(_:to:)`` adds them.
struct ObserverSet {
  private var members: [ObjectIdentifier: (observer: Observer, entities: Set<EntityNumber>)] = [:]
  /// The entities on which any observer depends.
  private(set) var entities: Set<EntityNumber> = []

  var isEmpty: Bool { members.isEmpty }
  var all: [Observer] { members.values.map(\.observer) }

  /// Returns the observers that depend on one of `entities`.
  func observers(of entities: Set<EntityNumber>) -> [Observer] {
    members.values.filter { !$0.entities.isDisjoint(with: entities) }.map(\.observer)
  }

  mutating func put(_ observer: Observer, on entities: Set<EntityNumber>) {
    members[ObjectIdentifier(observer)] = (observer, entities)
    self.entities.formUnion(entities)
  }

  /// Sets the entities on which `observer` depends, if it is in the set.
  mutating func extend(_ observer: Observer, to entities: Set<EntityNumber>) {
    let known = members[ObjectIdentifier(observer)]?.entities
    if let known, known != entities { put(observer, on: entities) }
  }

  mutating func remove(_ observer: Observer) {
    members[ObjectIdentifier(observer)] = nil
    entities = members.values.reduce(into: []) { $0.formUnion($1.entities) }
  }
}
