import EntityStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file that is imported, read from its start as often as needed, a chunk at a time.
final class InputFile {
  /// `-`, standard input.
  static let standardInput = "-"
  private static let chunkSize = 1 << 20

  let name: String
  /// In bytes; nil where it is not known, as for a pipe.
  private(set) var size: Int?
  private var descriptor: Int32
  private let isOwned: Bool

  /// Opens `path`; a missing or forbidden file is a failure that names it.
  init(_ path: String) throws {
    if path == Self.standardInput {
      name = "standard input"
      descriptor = STDIN_FILENO
      isOwned = false
    } else {
      name = path
      do {
        descriptor = try FileReading.open(path)
      } catch {
        throw CommandFailure.system(error.code, thing: path)
      }
      isOwned = true
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return }
    if status.st_mode & S_IFMT == S_IFREG { size = Int(status.st_size) }
  }

  deinit { if isOwned || spooled { close(descriptor) } }

  private var spooled = false

  /// Makes a second pass possible: what comes through a pipe goes into an unlinked temporary file.
  func makeRereadable(in folder: String) throws {
    if lseek(descriptor, 0, SEEK_CUR) >= 0 { return }
    var template = Array("\(folder)/kvdump.XXXXXX".utf8CString)
    let spool = mkstemp(&template)
    guard spool >= 0 else { throw CommandFailure.system(errno, thing: folder, creating: true) }
    unlink(&template)
    _ = fcntl(spool, F_SETFD, FD_CLOEXEC)
    let sink = DescriptorSink(descriptor: spool, name: folder)
    var count = 0
    do {
      while let chunk = try read() {
        try chunk.withUnsafeBytes { try sink.write($0) }
        count += chunk.count
      }
    } catch {
      close(spool)
      throw error
    }
    if isOwned { close(descriptor) }
    descriptor = spool
    spooled = true
    size = count
    try rewind()
  }

  /// Goes back to the start.
  func rewind() throws {
    guard lseek(descriptor, 0, SEEK_SET) == 0 else {
      throw CommandFailure.system(errno, thing: name)
    }
  }

  /// The next bytes; nil at the end.
  func read() throws -> [UInt8]? {
    do {
      return try FileReading.read(descriptor, atMost: Self.chunkSize)
    } catch {
      throw CommandFailure.system(error.code, thing: name)
    }
  }
}
