/// Finds out whether a storage keeps its promises, before anything is entrusted to it.
///
/// The name of the object is random, so that probes of several processes do not meet.
struct ProbeSteps: Sendable {
  enum Result: Sendable, Hashable {
    case trustworthy
    /// The storage must not be used, for this reason.
    case refused(Lie)
  }

  enum Lie: Sendable, Hashable {
    /// A conditional request replaced an existing object.
    case overwrites
    /// An object that was stored could not be read, or had other bytes.
    case losesObjects
    /// A list lacked a stored object.
    case listsLate
    /// A list named a deleted object, or the object could still be read.
    case keepsDeleted
  }

  typealias Action = ProtocolAction<Result>

  private enum Phase: Sendable {
    case putFirst, putSecond, get, list, delete, getDeleted, listDeleted
    case finished(Result)
  }

  private let number: UInt64
  private var phase = Phase.putFirst
  private var failures = Failures()

  init(number: UInt64) { self.number = number }

  private var name: ObjectName { .probe(number: number) }

  private func bytes(_ version: UInt8) -> [UInt8] { Array("Lodestore probe ".utf8) + [version] }

  mutating func next() -> Action {
    if let count = failures.takeWait() { return .wait(failures: count) }
    switch phase {
    case .putFirst: return .request(.putIfAbsent(name, bytes(1)))
    case .putSecond: return .request(.putIfAbsent(name, bytes(2)))
    case .get, .getDeleted: return .request(.get(name))
    case .list, .listDeleted: return .request(.list(.probe, upTo: .max))
    case .delete: return .request(.delete(name))
    case .finished(let result): return .finished(result)
    }
  }

  mutating func receive(_ outcome: StorageOutcome) {
    if case .unclear = outcome { return failures.add() }
    failures.clear()
    switch (phase, outcome) {
    // An existing object is the first one, whose answer was lost.
    case (.putFirst, .stored), (.putFirst, .exists): phase = .putSecond
    case (.putSecond, .exists): phase = .get
    case (.putSecond, .stored): phase = .finished(.refused(.overwrites))
    case (.get, .object(let found)):
      phase = found == bytes(1) ? .list : .finished(.refused(.overwrites))
    case (.get, .absent): phase = .finished(.refused(.losesObjects))
    case (.list, .names(let names)):
      phase = names.contains(name) ? .delete : .finished(.refused(.listsLate))
    case (.delete, .deleted): phase = .getDeleted
    case (.getDeleted, .absent): phase = .listDeleted
    case (.getDeleted, .object): phase = .finished(.refused(.keepsDeleted))
    case (.listDeleted, .names(let names)):
      phase = .finished(names.contains(name) ? .refused(.keepsDeleted) : .trustworthy)
    default: break
    }
  }
}
