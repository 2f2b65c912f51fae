import EntityStore
import LMDB

/// Opens stores for the commands that read.
enum ReadStore {
  /// Opens the store at `path` read-only, calls `body` on its newest commit and closes it.
  ///
  /// Works beside a program that writes. Where no lock file can be made, as on a read-only medium,
  /// it goes on without one and says so.
  ///
  /// - Parameter checksRecords: whether the store itself checks every record that it reads against its
  ///   checksum, for commands that let the query engine look into records.
  static func read<R>(
    _ path: String, checksRecords: Bool = false, on console: Console,
    _ body: (TransactionCore) throws -> R
  ) throws -> R {
    var options = options
    options.verifiesChecksums = checksRecords
    let core = try StoreCore(path: path, options: options)
    defer { core.close() }
    warnIfUnlocked(core.environment, path, console)
    return try core.read(body)
  }

  /// The same below the store: what cannot be understood can still be looked at.
  static func withEnvironment<R>(
    _ path: String, on console: Console, _ body: (Environment) throws -> R
  ) throws -> R {
    var engine = EnvironmentOptions()
    engine.access = .readOnly
    engine.allowsUnlockedReading = true
    engine.allowsAnyFileSystem = true
    let environment = try EnvironmentRegistry.open(path, options: engine) { _ in }
    defer { EnvironmentRegistry.close(environment) }
    warnIfUnlocked(environment, path, console)
    return try body(environment)
  }

  static var options: StoreOptions {
    var options = StoreOptions.readOnly
    options.allowsUnlockedReading = true
    // Reading takes no locks that such a file system could break, but for the reader's slot.
    options.allowsAnyFileSystem = true
    return options
  }

  private static func warnIfUnlocked(
    _ environment: Environment, _ path: String, _ console: Console
  ) {
    guard !environment.hasLockFile else { return }
    console.note(
      "\(path): no lock file can be made there; read without one, which is safe while nobody writes"
    )
  }
}

extension TransactionCore {
  /// The entity `name`, or a failure that proposes the nearest one.
  func entity(_ name: String, in path: String) throws -> StoredEntity {
    if let entity = schema.entity(named: name) { return entity }
    throw CommandFailure.noSuchEntity(name, in: path, known: schema.entities.map(\.name))
  }
}
