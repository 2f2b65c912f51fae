import EntityStore
import LodestoreBytes
import LodestoreSystem
import Synchronization

/// The file of `--rejects`: every rejected record as a line of JSON, written when its page is
/// committed.
///
/// The task that writes pages adds rejects, and the one that reads pages checks for errors. A lock
/// guards the state.
final class RejectFile: Sendable {
  private struct State {
    var lines: [UInt8] = []
    var failure: (any Error)?
  }

  private static let flushSize = 64 << 10

  let path: String
  private let isNew: Bool
  private let descriptor: Int32
  private let state = Mutex(State())

  /// Creates the file.
  ///
  /// A resumed import appends to an existing file; otherwise an existing file is refused.
  ///
  /// - Parameter others: The store and the imported files, none of which may be the file of
  ///   rejects.
  init(_ path: String, continues: Bool, others: [String]) throws {
    self.path = path
    let status = stat(at: path)
    if FileFacts.leads(path, toOneOf: others) {
      throw CommandFailure.badArgument(
        path, reason: "is the store or an imported file", nextStep: "name another file")
    }
    isNew = status == nil
    let size = status.flatMap { $0.isRegularFile ? Int($0.st_size) : nil }
    if let size, size > 0, !continues { throw CommandFailure.rejectsExist(path) }
    descriptor = open(
      path, (size == nil ? O_WRONLY : O_RDWR) | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw CommandFailure.system(errno, thing: path, creating: true) }
    if let size { Self.cutLastLine(descriptor, size: size) }
  }

  deinit { close(descriptor) }

  /// Removes the partial last line of a killed import.
  private static func cutLastLine(_ descriptor: Int32, size: Int) {
    var end = size
    var buffer = [UInt8](repeating: 0, count: flushSize)
    while end > 0 {
      let start = max(end - buffer.count, 0)
      let count = pread(descriptor, &buffer, end - start, off_t(start))
      guard count == end - start else { return }
      if let last = buffer[..<count].lastIndex(of: UInt8(ascii: "\n")) {
        end = start + last + 1
        break
      }
      end = start
    }
    if end < size { ftruncate(descriptor, off_t(end)) }
  }

  /// Appends a reject as one line of JSON.
  func add(_ reject: ImportReport.Reject) {
    state.withLock { state in
      state.lines += Array(reject.json.utf8) + [UInt8(ascii: "\n")]
      if state.lines.count >= Self.flushSize { flush(&state) }
    }
  }

  /// Writes the added lines.
  func flush() { state.withLock { flush(&$0) } }

  /// Throws the error of a failed write, so that an incomplete file is not reported as complete.
  func check() throws {
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  /// Removes the file of a failed import without rejects, unless the file existed before.
  func removeIfEmpty() {
    flush()
    if isNew, let status = stat(of: descriptor), status.st_size == 0 { unlink(path) }
  }

  private func flush(_ state: inout State) {
    guard state.failure == nil, !state.lines.isEmpty else { return }
    let sink = DescriptorSink(descriptor: descriptor, name: path)
    do {
      try state.lines._withBytes { try sink.write($0) }
    } catch {
      state.failure = error
    }
    state.lines.removeAll(keepingCapacity: true)
  }
}
