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
  private struct State {
    var companions: [ObjectIdentifier: any StoreCompanion] = [:]
    var isClosed = false
  }

  private let state = Guarded(State())

  /// One that is asked for when the store is closed already is closed, too.
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
