internal import LMDB

/// What lives beside a store and ends with it.
protocol StoreCompanion: AnyObject, Sendable {
  /// Called when the store is closed.
  func close()
}

/// Objects that a store owns, one of a type, made when they are first asked for.
///
/// The store does not know their types, which belong to what is built upon it.
final class StoreCompanions: Sendable {
  private let companions = Guarded<[ObjectIdentifier: any StoreCompanion]>([:])

  func companion<C: StoreCompanion>(_ make: () -> C) -> C {
    companions.withLock { companions in
      if let known = companions[ObjectIdentifier(C.self)] as? C { return known }
      let made = make()
      companions[ObjectIdentifier(C.self)] = made
      return made
    }
  }

  func close() {
    for companion in companions.withLock({ Array($0.values) }) { companion.close() }
  }
}
