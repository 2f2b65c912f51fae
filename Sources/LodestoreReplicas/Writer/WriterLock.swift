internal import EntityStore
internal import LodestoreDatasets
internal import LodestoreSystem
internal import Synchronization

/// The lock of the one writer that a store's file may have on this machine.
///
/// Two writers of one file would take turns, because each finds that the other's entries are its
/// store's. The lock file is in the store's folder while a writer is open.
final class WriterLock: Sendable {
  private let path: String
  private let lock: FileLock
  /// The paths whose writers were dropped without a stop, and whose tasks have not ended yet.
  private static let ending = Mutex<Set<String>>([])
  /// The longest wait for the end of a dropped writer.
  private static let patience = Duration.seconds(60)

  /// Locks a store, and waits for the end of a dropped writer of this process.
  ///
  /// - Throws: ``ReplicaError`` with the code `busy` while another writer has the store open;
  ///   `CancellationError`.
  static func locked(_ store: Store, _ clock: ReplicaClock) async throws -> WriterLock {
    let start = clock.instant()
    while true {
      // A writer that ends after this line has given the lock back at the next attempt.
      let isEnding = ending.withLock { $0.contains(path(of: store)) }
      do {
        return try WriterLock(store)
      } catch let error as ReplicaError {
        guard error.code == .busy, isEnding, clock.elapsed(since: start) < patience else {
          throw error
        }
      }
      try await clock.sleep(.milliseconds(5))
    }
  }

  private static func path(of store: Store) -> String {
    // All symbolic links to the store have one lock.
    let resolved = realpath(store.path, nil)
    defer { free(resolved) }
    return (resolved.map { String(cString: $0) } ?? store.path) + "-replica-lock"
  }

  /// - Throws: ``ReplicaError`` with the code `busy` while another writer has the store open.
  init(_ store: Store) throws {
    path = Self.path(of: store)
    let found: FileLock?
    do throws(DatasetError) {
      found = try FileLock.exclusive(making: path)
    } catch { throw ReplicaError(error) }
    guard let found else {
      throw ReplicaError(
        .busy,
        "cannot replicate '\(store.path)': another writer on this machine sends its commits; stop "
          + "that writer first")
    }
    lock = found
  }

  /// Notes that the writer was dropped, so its tasks end soon.
  func noteEnd() { Self.ending.withLock { _ = $0.insert(path) } }

  // The file is removed under the lock, and FileLock repeats a lock on a removed file.
  deinit {
    unlink(path)
    Self.ending.withLock { _ = $0.remove(path) }
  }
}
