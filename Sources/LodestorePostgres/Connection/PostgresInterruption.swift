import Synchronization

/// A request to end the work of a thread that waits for a server.
final class PostgresInterruption: Sendable {
  private let isSet = Atomic(false)

  var isRequested: Bool { isSet.load(ordering: .acquiring) }

  func request() { isSet.store(true, ordering: .releasing) }

  func check() throws(PostgresError) {
    if isRequested {
      throw PostgresError(.cancelled, "the work with PostgreSQL was stopped by the program")
    }
  }
}
