internal import EntityStore
internal import LodestoreDatasets
internal import LodestoreSystem

/// The lock of the one writer that a store's file may have on this machine.
///
/// Two writers of one file would take turns, because each finds that the other's entries are its
/// store's. The lock file is in the store's folder while a writer is open.
final class WriterLock: Sendable {
  private let path: String
  private let lock: FileLock

  /// - Throws: ``ReplicaError`` with the code `busy` while another writer has the store open.
  init(_ store: Store) throws {
    // All symbolic links to the store have one lock.
    let resolved = realpath(store.path, nil)
    defer { free(resolved) }
    path = (resolved.map { String(cString: $0) } ?? store.path) + "-replica-lock"
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

  // The file is removed under the lock, and FileLock repeats a lock on a removed file.
  deinit { unlink(path) }
}
