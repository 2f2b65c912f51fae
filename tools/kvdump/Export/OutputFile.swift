import LMDB
import LodestoreBytes
import LodestoreSystem

/// A file that is there as a whole or not at all: written under a temporary name beside it, and
/// given its name by ``commit()``; without that, what was written goes away with the object.
///
/// What is there and is no regular file, such as a pipe or a device, is written to as it is.
final class OutputFile: ByteSink {
  let path: String
  /// Whether a file that was there gives way.
  let isReplacement: Bool
  /// Bytes written so far.
  private(set) var size = 0
  private let replaces: Bool
  private let isInPlace: Bool
  private let descriptor: Int32
  /// Nil when the file itself is written, and when it has its name.
  private var temporary: TemporaryFile?
  private let sink: DescriptorSink

  /// Opens the file for writing.
  ///
  /// - Parameters:
  ///   - replaces: whether a file that is there gives way; otherwise it is a failure.
  ///   - store: the file of the store that is read, which never gives way.
  init(_ path: String, replaces: Bool, store: String) throws {
    self.replaces = replaces
    var target = path
    var isReplacement = false
    if let status = FileFacts.status(path) {
      if FileFacts.leads(path, toOneOf: [store, store + "-lock"]) {
        throw CommandFailure.badArgument(
          path, reason: "is the store itself", nextStep: "name another file")
      }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: throw CommandFailure.system(EISDIR, thing: path, creating: true)
      case S_IFREG:
        guard replaces else { throw CommandFailure.fileExists(path) }
        isReplacement = true
        // The link stays, and what it leads to gives way.
        if let resolved = realpath(path, nil) {
          target = String(cString: resolved)
          free(resolved)
        }
      default:
        self.path = path
        isInPlace = true
        self.isReplacement = false
        descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandFailure.system(errno, thing: path) }
        sink = DescriptorSink(descriptor: descriptor, name: path)
        return
      }
    } else if FileFacts.exists(path), !replaces {
      throw CommandFailure.fileExists(path)
    }
    self.path = target
    isInPlace = false
    self.isReplacement = isReplacement
    let mode = FileFacts.status(target).map { $0.st_mode & 0o777 }
    let temporary = try TemporaryFile.beside(target, mode: 0o666, thing: path)
    self.temporary = temporary
    descriptor = temporary.descriptor
    sink = DescriptorSink(descriptor: descriptor, name: path)
    if let mode { fchmod(descriptor, mode) }
  }

  deinit {
    if isInPlace { close(descriptor) }
  }

  func write(_ bytes: ByteView) throws {
    try sink.write(bytes)
    size += bytes.count
  }

  func finish() throws {}

  /// Gives the file its name, when the disk has all of it; after a failure there is none.
  ///
  /// But for one that another gave way to: the failure says so.
  func commit() throws {
    guard let temporary else { return }
    guard fsync(descriptor) == 0 else { throw CommandFailure.system(errno, thing: path) }
    try name(temporary.path)
    self.temporary = nil
    do {
      try FileFacts.syncFolder(of: path)
    } catch {
      // A power cut could take it away after it was said to be there.
      guard isReplacement else {
        unlink(path)
        throw error
      }
      throw error.afterReplacing([path])
    }
  }

  private func name(_ temporary: String) throws {
    if replaces {
      guard rename(temporary, path) == 0 else {
        throw CommandFailure.system(errno, thing: path, creating: true)
      }
      return
    }
    // Another process may have made the file meanwhile, which a plain rename would not notice.
    let code = FileFacts.move(temporary, toNew: path)
    if code == EEXIST { throw CommandFailure.fileExists(path) }
    guard code == 0 else { throw CommandFailure.system(code, thing: path, creating: true) }
  }
}
