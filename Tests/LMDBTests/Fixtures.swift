import LMDB
import LodestoreBytes
import LodestoreSystem
import Synchronization
import Testing

/// A directory that is deleted with its files when the object is released.
final class TemporaryDirectory {
  let path: String

  init(under parent: String = "/tmp") throws {
    var template = Array("\(parent)/lmdbtests.XXXXXX".utf8CString)
    let made = template.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
    }
    path = try #require(made)
  }

  deinit {
    for name in names { unlink("\(path)/\(name)") }
    rmdir(path)
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  var names: Set<String> {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: Set<String> = []
    while let entry = readdir(directory) {
      let name = entryName(entry)
      if name != ".", name != ".." { names.insert(name) }
    }
    return names
  }
}

extension EnvironmentOptions {
  init(_ change: (inout EnvironmentOptions) -> Void) {
    self.init()
    growthWaitInSeconds = 60
    change(&self)
  }
}

/// The page size of new files: the system's, but none above LMDB's limit.
let pageSize = min(PageLayout.systemPageSize, format.largestPage)

/// The layout of the files that the engine of these tests makes.
let format = PageFormat.ofEngine

extension Trait where Self == ConditionTrait {
  /// Disables a test of reads and changes in pages if the environment forces the plain engine.
  static var readsPages: Self {
    .disabled(
      if: EngineFence.isRequestedByVariable,
      "\(EngineFence.variable) is set, and this is about reading pages without LMDB")
  }
}

/// Opens `path`, made with one empty tree "t".
func openEnvironment(
  _ path: String, _ change: (inout EnvironmentOptions) -> Void = { _ in }
) throws -> Environment {
  try EnvironmentRegistry.open(path, options: EnvironmentOptions(change)) { transaction in
    _ = try transaction.environment.tree(
      "t", isCreated: true, hasIntegerKeys: false, in: transaction)
  }
}

/// Runs `body` with a new environment and its empty tree of byte keys.
func withEnvironment(
  _ change: (inout EnvironmentOptions) -> Void = { _ in },
  _ body: (Environment, Tree) throws -> Void
) throws {
  let directory = try TemporaryDirectory()
  let environment = try openEnvironment(directory.file("store"), change)
  defer { EnvironmentRegistry.close(environment) }
  try body(environment, try openedTree(of: environment))
}

func openedTree(of environment: Environment, _ name: String = "t") throws -> Tree {
  try #require(try environment.openExistingTree(name, hasIntegerKeys: false))
}

func put(_ keys: [[UInt8]], into tree: Tree, of environment: Environment) throws {
  try environment.write { transaction in
    for key in keys { try transaction.put(key, key, in: tree) }
  }
}

/// The number in big-endian bytes, so that keys have the order of the numbers.
func key(_ number: Int) -> [UInt8] {
  (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
}

func number(_ bytes: ByteView) -> Int {
  bytes.prefix(8).reduce(0) { $0 << 8 | Int($1) }
}

func size(of path: String) -> Int {
  var status = stat()
  return lstat(path, &status) == 0 ? Int(status.st_size) : -1
}

func write(_ bytes: [UInt8], to path: String, flags: Int32 = O_CREAT | O_TRUNC) {
  let file = open(path, O_WRONLY | flags, 0o600)
  guard file >= 0 else { return }
  defer { close(file) }
  _ = bytes._withBytes { write(file, $0.baseAddress, $0.count) }
}

func contents(of path: String) -> [UInt8] {
  let file = open(path, O_RDONLY)
  defer { close(file) }
  var bytes = [UInt8](repeating: 0, count: max(0, size(of: path)))
  _ = bytes._withMutableBytes { read(file, $0.baseAddress, $0.count) }
  return bytes
}

/// Ends a child process of a test, with a line that says why.
func fail(_ reason: String) -> Never {
  let line = Array("child: \(reason)\n".utf8)
  _ = line._withBytes { write(2, $0.baseAddress, $0.count) }
  exit(9)
}

func kind(_ body: () throws -> Void) -> LMDBError.Kind? {
  do {
    try body()
    return nil
  } catch {
    return (error as? LMDBError)?.kind
  }
}

func name(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch {
    return (error as? LMDBError)?.name
  }
}

/// A number that threads share.
final class SharedNumber: Sendable {
  private let atomic = Atomic(0)

  var value: Int { atomic.load(ordering: .sequentiallyConsistent) }
  func add() { atomic.add(1, ordering: .sequentiallyConsistent) }
}

/// Buffers that stay referenced, so that the address sanitizer does not report them as leaks.
final class SharedBuffers: Sendable {
  private struct Buffer: @unchecked Sendable {
    // Written before it is shared, and never again.
    let bytes: ByteView
  }

  private let buffers = Mutex<[Buffer]>([])

  func copy(_ bytes: [UInt8]) -> ByteView {
    let copy = MutableByteView.allocate(byteCount: bytes.count, alignment: 8)
    copy.copyBytes(from: bytes)
    let buffer = Buffer(bytes: ByteView(copy))
    buffers.withLock { $0.append(buffer) }
    return buffer.bytes
  }
}

/// The name of an entry of a directory.
///
/// The name is read in place.
///
/// The entry's memory ends with the name, so copying the whole field would read beyond it.
func entryName(_ entry: UnsafeMutablePointer<dirent>) -> String {
  let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
  return String(
    cString: UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self))
}
