import EntityStore
import LMDB
import LodestorePages

/// Opens stores for the commands that read.
package enum ReadStore {
  /// Opens the store at `path` read-only, calls `body` on its newest commit and closes it.
  ///
  /// Another program may write meanwhile. The command continues without a lock file, and adds a
  /// note, if none can be created, as on a read-only medium. The same holds for a file of the other
  /// LMDB.
  ///
  /// - Parameter checksRecords: Whether the store checks every record that it reads against its
  ///   checksum. Commands whose query engine reads records need this check.
  static func read<R>(
    _ path: String, checksRecords: Bool = false, on console: Console,
    _ body: (DynamicSnapshot) throws -> R
  ) throws -> R {
    try withStore(path, checksRecords: checksRecords, on: console) { try $0.read(body) }
  }

  /// Opens the store for work outside a transaction.
  ///
  /// - Parameter isPrevious: Whether to read the commit before the newest one, from a copy.
  static func withStore<R>(
    _ path: String, checksRecords: Bool = false, isPrevious: Bool = false, on console: Console,
    _ body: (DynamicStore) throws -> R
  ) throws -> R {
    var options = options
    options.verifiesChecksums = checksRecords
    if isPrevious { options.access = .previousCommit }
    let store = try DynamicStore(path: path, options: options)
    defer { store.close() }
    if !isPrevious, store.seal == nil {
      warn(store.hasLockFile, store.otherEngine, path, console)
    }
    return try body(store)
  }

  /// Opens the second store of a command; failures name that store.
  static func withSecondStore<R>(
    _ path: String, on console: Console, _ body: (DynamicStore) throws -> R
  ) throws -> R {
    do {
      return try withStore(path, on: console, body)
    } catch {
      throw CommandFailure.translated(error, store: path)
    }
  }

  /// Opens the file below the store.
  ///
  /// The call works even if the catalogue cannot be interpreted.
  ///
  /// - Parameter warns: Whether to add a note if there is no lock file.
  static func withEnvironment<R>(
    _ path: String, warns: Bool = true, on console: Console, _ body: (Environment) throws -> R
  ) throws -> R {
    var engine = EnvironmentOptions()
    engine.access = .readOnly
    engine.allowsUnlockedReading = true
    engine.allowsAnyFileSystem = true
    engine.checkPages(when: .verifyFirst)
    let environment = try EnvironmentRegistry.open(path, options: engine) { _ in }
    defer { EnvironmentRegistry.close(environment) }
    if warns, !environment.isSealed {
      warn(environment.hasLockFile, environment.otherEngine, path, console)
    }
    return try body(environment)
  }

  /// The options of commands that only read.
  package static var options: StoreOptions {
    var options = StoreOptions.readOnly
    options.allowsUnlockedReading = true
    // Except for the reader's slot, reading takes no locks that such a file system could break.
    options.allowsAnyFileSystem = true
    return options
  }

  private static func warn(
    _ hasLockFile: Bool, _ otherEngine: String?, _ path: String, _ console: Console
  ) {
    guard !hasLockFile else { return }
    let reason =
      otherEngine.map { "\($0) made it, and this kvdump runs \(PageFormat.engineVersion)" }
      ?? "no lock file can be made there"
    console.note(
      "\(path): \(reason); it is read without a lock file, and a program that writes it may end "
        + "the reading")
  }
}

extension DynamicSnapshot {
  /// The entity `name`; throws a failure that suggests the nearest name.
  func entity(_ name: String) throws -> DynamicEntity {
    if let entity = entity(named: name) { return entity }
    throw UnknownName(kind: .entity, name: name, known: entities.map(\.name))
  }
}
