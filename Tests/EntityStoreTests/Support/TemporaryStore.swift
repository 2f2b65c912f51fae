import Foundation
import Synchronization
import Testing

@testable import EntityStore
@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

/// A new folder that is deleted afterwards.
struct TemporaryFolder: ~Copyable {
  let path: String

  /// Creates the folder.
  ///
  /// The folder is in memory if possible, because most tests commit often and do not test the disk.
  init(isOnDisk: Bool = false) throws {
    path = try Self.newFolder(isOnDisk: isOnDisk)
  }

  fileprivate static func newFolder(isOnDisk: Bool = false) throws -> String {
    let memory = "/dev/shm/"
    let isUsable = FileManager.default.isWritableFile(atPath: memory) && !isOnDisk
    let path =
      (isUsable ? memory : NSTemporaryDirectory()) + "lodestore-tests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  /// The path of a test's store in the folder.
  var storePath: String { path + "/test.lodestore" }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A store that several tests read and none changes, until the process ends.
struct ReadOnlyFixture: Sendable {
  private static let folders = Mutex<[String]>([])
  private static let removesFolders: Void = {
    atexit {
      for folder in ReadOnlyFixture.folders.withLock({ $0 }) {
        try? FileManager.default.removeItem(atPath: folder)
      }
    }
  }()

  let store: Store

  init(_ entities: [any Entity.Type], _ fill: (Store) throws -> Void) throws {
    let folder = try TemporaryFolder.newFolder()
    Self.folders.withLock { $0.append(folder) }
    Self.removesFolders
    store = try Store(at: folder + "/test.lodestore", entities: entities)
    try fill(store)
    try expectSound(store)
  }
}

/// Runs `body` on a new store in a fresh folder, closes it and verifies the file.
func withTemporaryStore<R>(
  _ entities: [any Entity.Type], options: StoreOptions = StoreOptions(),
  sourceLocation: SourceLocation = #_sourceLocation, _ body: (Store) throws -> R
) throws -> R {
  let folder = try TemporaryFolder()
  let store = try Store(at: folder.storePath, entities: entities, options: options)
  let result = try body(store)
  store.close()
  try expectSound(folder.storePath, sourceLocation: sourceLocation)
  return result
}

/// Runs an asynchronous body with a temporary store.
func withTemporaryStore<R: Sendable>(
  _ entities: [any Entity.Type], options: StoreOptions = StoreOptions(),
  isolation: isolated (any Actor)? = #isolation,
  sourceLocation: SourceLocation = #_sourceLocation, _ body: (Store) async throws -> R
) async throws -> R {
  let folder = try TemporaryFolder()
  let store = try Store(at: folder.storePath, entities: entities, options: options)
  let result = try await body(store)
  store.close()
  try expectSound(folder.storePath, sourceLocation: sourceLocation)
  return result
}

/// Runs `body` with the path of a store that does not exist yet, and verifies the resulting file.
func withTemporaryPath<R>(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: (String) throws -> R
) throws -> R {
  let folder = try TemporaryFolder()
  let result = try body(folder.storePath)
  try expectSound(folder.storePath, sourceLocation: sourceLocation)
  return result
}

/// Verifies the file at `path`, which this process must not have open.
///
/// The code shares nothing with the entity layer, except the reader of conditions of derived
/// attributes.
func expectSound(_ path: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
  let report = try Verifier.verify(path: path)
  #expect(report.findings == [], "\(SeededNumbers.replay)", sourceLocation: sourceLocation)
  #expect(report.isSound, sourceLocation: sourceLocation)
  if report.conditional.isEmpty { return }
  let store = try DynamicStore(path: path, options: .readOnly)
  defer { store.close() }
  try expectConditionsHold(store, sourceLocation)
}

/// Verifies the newest commit of an open store.
func expectSound(_ store: Store, sourceLocation: SourceLocation = #_sourceLocation) throws {
  let report = try Verifier.verify(environment: store.core.environment)
  try #require(report.findings == [], "\(SeededNumbers.replay)", sourceLocation: sourceLocation)
  if !report.conditional.isEmpty { try expectConditionsHold(DynamicStore(store), sourceLocation) }
}

/// Expects attributes derived with a condition to have their values.
private func expectConditionsHold(
  _ store: DynamicStore, _ sourceLocation: SourceLocation
) throws {
  var faults: [String] = []
  try store.read { snapshot in
    try snapshot.verifyConditional {
      faults.append("\($0.entity).\($0.attribute) of \($0.record) \($0.detail)")
    }
  }
  #expect(faults == [], "\(SeededNumbers.replay)", sourceLocation: sourceLocation)
}

/// The error of the store that `body` throws.
func storeError<R>(
  _ code: StoreError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> R
) throws -> StoreError {
  let thrown = #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
    _ = try body()
  }
  let error = try #require(thrown, sourceLocation: sourceLocation)
  #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
  #expect(
    error.message.hasPrefix("cannot ") && !error.message.hasSuffix("."), "\(error.message)",
    sourceLocation: sourceLocation)
  return error
}
