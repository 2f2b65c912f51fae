internal import LMDB

/// An object that belongs to a store and ends with it.
protocol StoreCompanion: AnyObject, Sendable {
  /// Called when the store is closed.
  func close()
}

/// The objects that belong to a store, one of each type, created on first use.
///
/// The store does not know their types, which higher layers define.
final class StoreCompanions: Sendable {
  private struct State {
    var companions: [ObjectIdentifier: any StoreCompanion] = [:]
    var isClosed = false
  }

  private let state = Guarded(State())

  /// Returns the companion of type `C`, creating it on first use; closes it when the store is
  /// closed.
  func companion<C: StoreCompanion>(_ make: () -> C) -> C {
    let (companion, isClosed) = state.withLock { state in
      if let known = state.companions[ObjectIdentifier(C.self)] as? C { return (known, false) }
      let made = make()
      state.companions[ObjectIdentifier(C.self)] = made
      return (made, state.isClosed)
    }
    if isClosed { companion.close() }
    return companion
  }

  func close() {
    let companions = state.withLock { state in
      state.isClosed = true
      return Array(state.companions.values)
    }
    for companion in companions { companion.close() }
  }
}
