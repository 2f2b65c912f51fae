import EntityStore
import LMDB
import LodestoreFormat
import LodestoreSystem

/// The store that an import writes into.
///
/// For a dry run it is an unnamed copy of the store at the path, which disappears with the process.
final class ImportTarget {
  private let path: String
  /// The copy's temporary file, as long as it has a name.
  private var temporary: TemporaryFile?
  private let base: String
  private let isDryRun: Bool
  private let size: Int
  /// The store; `nil` if it does not exist yet.
  private(set) var opened: DynamicStore?

  /// Opens the store if it exists.
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

  /// Returns the store, and creates it if it does not exist.
  func made() throws -> DynamicStore {
    if let opened { return opened }
    let made = try open(.create)
    opened = made
    return made
  }

  /// Closes the store after everything committed is on the disk.
  ///
  /// To save half of the waiting, commits wait for the data but not for the page that makes it
  /// current. Reported records must be safe, so this call waits for that page.
  func close() throws {
    opened?.close()
    opened = nil
    if !isDryRun { try FileFacts.sync(path) }
  }

  /// Translates an error so that it does not mention the copy.
  func translated(_ error: any Error) -> any Error {
    guard isDryRun, let error = error as? StoreError else { return error }
    return error.code == .diskFull ? noRoom(ENOSPC) : error
  }

  private func noRoom(_ code: Int32) -> CommandFailure {
    let copy = size > 0 ? "a copy of the store, \(NumberText.byteCount(size)), and " : ""
    let step =
      "a dry run needs room for \(copy)the imported records; set TMPDIR to a folder that has it"
    return CommandFailure.system(code, thing: base, creating: true, nextStep: step)
  }

  private func open(_ access: StoreOptions.Access) throws -> DynamicStore {
    var options = StoreOptions()
    options.access = access
    options.durability = .mayLoseLastCommit
    options.reportLongWaits()
    // A temporary folder may be on any file system, and nobody else opens the copy.
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

  /// Removes the copy's name.
  ///
  /// After this call the copy disappears with the process, however that ends.
  private func removeName() { temporary = nil }
}
