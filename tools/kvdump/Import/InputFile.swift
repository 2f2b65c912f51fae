import EntityStore
import LodestoreBytes
import LodestoreSystem

/// A file to import, read from its start any number of times, one chunk at a time.
///
/// Standard input starts at its current position.
///
/// A regular file is open only while it is read. There may be more files than a process may have
/// open.
final class InputFile {
  /// The argument `-` for standard input.
  static let standardInput = "-"
  private static let chunkSize = 1 << 20

  let name: String
  /// The name without the suffix for compression.
  var textName: String { Self.textName(name) }

  private static func textName(_ name: String) -> String {
    name.hasSuffix(".gz") ? String(name.dropLast(3)) : name
  }

  /// Whether the file called `name` is CSV.
  static func isCSV(_ form: InputForm, _ name: String) -> Bool {
    form.csv(for: textName(name)) != nil
  }
  /// Whether the file is a SQLite database, which is read by its path.
  var isSQLite: Bool { isNamed && SQLiteImport.isDatabase(name) }
  /// The size in bytes; `nil` if it is unknown, as for a pipe.
  private(set) var size: Int?
  /// The open descriptor; `nil` for a regular file that is not being read.
  private var descriptor: Int32?
  /// Whether this object closes the descriptor.
  private var isOwned = true
  /// Whether the file can be opened by its name again.
  private var isNamed = false
  private var isAtEnd = false
  /// The descriptor's position of the first byte.
  private var start: off_t = 0

  /// Checks that `path` can be opened.
  ///
  /// A missing or unreadable file is a failure that names it.
  init(_ path: String) throws {
    let descriptor: Int32
    if path == Self.standardInput {
      name = "standard input"
      descriptor = STDIN_FILENO
      isOwned = false
    } else {
      name = path
      descriptor = try Self.open(path)
    }
    self.descriptor = descriptor
    start = max(lseek(descriptor, 0, SEEK_CUR), 0)
    guard let status = stat(of: descriptor), status.isRegularFile else { return }
    size = max(Int(status.st_size - start), 0)
    isNamed = isOwned
    if isNamed { release() }
  }

  deinit { release() }

  private static func open(_ path: String) throws -> Int32 {
    do {
      return try FileReading.open(path)
    } catch {
      throw CommandFailure.system(error.code, thing: path)
    }
  }

  private func release() {
    if isOwned, let descriptor { close(descriptor) }
    descriptor = nil
  }

  /// Makes a second reading possible by copying the bytes of a pipe to an unlinked temporary file.
  ///
  /// - Parameter limit: The maximum number of bytes to copy. More is a failure.
  func makeRereadable(in folder: String, limit: Int) throws {
    guard let source = descriptor, lseek(source, 0, SEEK_CUR) < 0 else { return }
    let spool = FileFacts.unnamed(in: folder)
    guard spool >= 0 else { throw CommandFailure.system(errno, thing: folder, creating: true) }
    let sink = DescriptorSink(descriptor: spool, name: folder)
    var count = 0
    do {
      while let chunk = try read() {
        count += chunk.count
        guard count <= limit else { throw CommandFailure.spoolLimit(limit, in: folder) }
        try chunk._withBytes { try sink.write($0) }
      }
    } catch {
      close(spool)
      throw error
    }
    release()
    start = 0
    descriptor = spool
    isOwned = true
    size = count
    try rewind()
  }

  /// Goes back to the start.
  func rewind() throws {
    isAtEnd = false
    if isNamed { return release() }
    guard let descriptor, lseek(descriptor, start, SEEK_SET) == start else {
      throw CommandFailure.system(errno, thing: name)
    }
  }

  /// The next bytes; `nil` at the end.
  func read() throws -> [UInt8]? {
    guard !isAtEnd else { return nil }
    let source = try descriptor ?? Self.open(name)
    descriptor = source
    let chunk: [UInt8]?
    do {
      chunk = try FileReading.read(source, atMost: Self.chunkSize)
    } catch {
      throw CommandFailure.system(error.code, thing: name)
    }
    if chunk == nil {
      isAtEnd = true
      if isNamed { release() }
    }
    return chunk
  }
}
