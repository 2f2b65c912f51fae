import EntityStore
import LMDB
import LodestoreFormat
import LodestoreSystem

/// The store that an import writes into: the one at the path, or for a dry run a copy of it that
/// has no name and goes away with the process.
final class ImportTarget {
  private let path: String
  /// While the copy still has a name.
  private var temporary: TemporaryFile?
  private let base: String
  private let isDryRun: Bool
  private let size: Int
  /// The store; nil when there is none yet.
  private(set) var opened: DynamicStore?

  /// Opens the store when it is there.
  init(_ store: String, isDryRun: Bool, on console: Console) throws {
    self.isDryRun = isDryRun
    base = console.temporaryFolder
    let isThere = FileFacts.exists(store)
    size = FileFacts(store)?.size ?? 0
    guard isDryRun else {
      path = store
      if isThere { opened = try open(.existing) }
      return
    }
    let temporary = try TemporaryFile.beside(base + "/copy", mode: 0o600, thing: base)
    path = temporary.storePath
    self.temporary = temporary
    guard isThere else { return }
    try ReadStore.withStore(store, on: console) { source in
      do {
        try source.copy(to: path, compacting: false)
      } catch {
        guard let code = (error as? StoreError)?.systemCode else { throw error }
        throw noRoom(code)
      }
    }
    opened = try open(.existing)
  }

  deinit {
    opened?.close()
    removeName()
  }

  /// The store, which is made when there is none.
  func made() throws -> DynamicStore {
    if let opened { return opened }
    let made = try open(.create)
    opened = made
    return made
  }

  /// Closes the store when all that was committed is on the disk.
  ///
  /// Commits wait for the data but not for the page that makes it current, which saves half of the
  /// waiting; what is reported is to be safe, so that page is waited for here.
  func close() throws {
    opened?.close()
    opened = nil
    if !isDryRun { try FileFacts.sync(path) }
  }

  /// What an error means to somebody who does not know of the copy.
  func translated(_ error: any Error) -> any Error {
    guard isDryRun, let error = error as? StoreError else { return error }
    return error.code == .diskFull ? noRoom(ENOSPC) : error
  }

  private func noRoom(_ code: Int32) -> CommandFailure {
    let copy = size > 0 ? "a copy of the store, \(NumberText.byteCount(size)), and " : ""
    let step =
      "a dry run needs room for \(copy)what comes in; set TMPDIR to a folder that has it"
    return CommandFailure.system(code, thing: base, creating: true, nextStep: step)
  }

  private func open(_ access: StoreOptions.Access) throws -> DynamicStore {
    var options = StoreOptions()
    options.access = access
    options.durability = .mayLoseLastCommit
    options.reportLongWaits()
    // A temporary folder may be on any, and nobody else opens the copy.
    options.allowsAnyFileSystem = isDryRun
    options.isNamed = !isDryRun
    do {
      let store = try DynamicStore(path: path, options: options)
      removeName()
      return store
    } catch {
      throw translated(error)
    }
  }

  /// From here on the copy is gone when the process is, however it ends.
  private func removeName() { temporary = nil }
}
