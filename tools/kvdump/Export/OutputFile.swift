import LMDB
import LodestoreBytes
import LodestoreSystem

/// A file that appears completely or not at all.
///
/// The file is written under a temporary name in the same folder, and named by ``commit()``.
/// Without a commit the temporary file is removed with the object. A file that is not a regular
/// one, such as a pipe or a device, is written directly.
final class OutputFile: ByteSink {
  let path: String
  /// Whether an existing file is replaced.
  let isReplacement: Bool
  /// The number of bytes written so far.
  private(set) var size = 0
  private let replaces: Bool
  private let isInPlace: Bool
  private let descriptor: Int32
  /// The temporary file; `nil` if the file itself is written, and after the commit.
  private var temporary: TemporaryFile?
  private let sink: DescriptorSink

  /// Opens the file for writing.
  ///
  /// - Parameters:
  ///   - replaces: Whether to replace an existing file. If false, an existing file is a failure.
  ///   - store: The file of the store that is read, which is never replaced.
  init(_ path: String, replaces: Bool, store: String) throws {
    self.replaces = replaces
    var target = path
    var isReplacement = false
    if let status = stat(at: path) {
      if FileFacts.leads(path, toOneOf: [store, store + "-lock"]) {
        throw CommandFailure.badArgument(
          path, reason: "is the store itself", nextStep: "name another file")
      }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: throw CommandFailure.system(EISDIR, thing: path, creating: true)
      case S_IFREG:
        guard replaces else { throw CommandFailure.fileExists(path) }
        isReplacement = true
        // The target of a link is replaced, not the link.
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
    let mode = stat(at: target).map { $0.st_mode & 0o777 }
    let temporary = try TemporaryFile.beside(target, mode: 0o666, thing: path)
    self.temporary = temporary
    descriptor = temporary.descriptor
    sink = DescriptorSink(descriptor: descriptor, name: path)
    if let mode { fchmod(descriptor, mode) }
  }

  deinit {
    if isInPlace { close(descriptor) }
  }

  /// The path under which the file is written until the commit; `nil` if it is written directly.
  var temporaryPath: String? { temporary?.path }

  func write(_ bytes: ByteView) throws {
    try sink.write(bytes)
    size += bytes.count
  }

  /// Syncs and names the file.
  ///
  /// After a failure no file is left.
  ///
  /// If an existing file was already replaced, the failure says so.
  func commit() throws {
    guard let temporary else { return }
    guard fsync(descriptor) == 0 else { throw CommandFailure.system(errno, thing: path) }
    guard replaces else {
      // Another process may have created the file meanwhile, which a plain rename would overwrite.
      try FileFacts.move(temporary.path, toNew: path, existing: .fileExists(path))
      return self.temporary = nil
    }
    guard rename(temporary.path, path) == 0 else {
      throw CommandFailure.system(errno, thing: path, creating: true)
    }
    self.temporary = nil
    do {
      try FileFacts.syncFolder(of: path)
    } catch {
      if isReplacement { throw error.afterReplacing([path]) }
      unlink(path)
      throw error
    }
  }
}
