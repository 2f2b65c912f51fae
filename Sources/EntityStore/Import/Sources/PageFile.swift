#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file that is read a page at a time; closed at its end, at an error and with the last reference.
final class PageFile {
  private enum Phase {
    case new
    case open(Int32)
    /// The file is read; the cutter still has pages.
    case read
    case ended
  }

  private static let chunkSize = 256 << 10

  private let path: String
  private var cutter: any PageCutter
  private var phase = Phase.new

  init(_ path: String, _ form: PageCutting.Form) {
    self.path = path
    cutter = form.cutter()
  }

  deinit { end() }

  /// The next page; nil at the end and after an error.
  func next() throws -> Data? {
    do {
      if let page = try cut() { return page }
    } catch let error {
      end()
      switch error {
      case is StoreError, is CancellationError: throw error
      default: throw StoreError.unusableContent(of: path, error)
      }
    }
    end()
    return nil
  }

  private func cut() throws -> Data? {
    while true {
      if Task.isCancelled { throw CancellationError() }
      switch phase {
      case .new:
        phase = .open(try reading { () throws(FileReading.Fault) in try FileReading.open(path) })
      case .ended: return nil
      case .read: return try cutter.next()
      case .open(let descriptor):
        if let page = try cutter.next() { return page }
        let chunk = try reading { () throws(FileReading.Fault) in
          try FileReading.read(descriptor, atMost: Self.chunkSize)
        }
        if let chunk {
          cutter.append(chunk)
        } else {
          end()
          phase = .read
          cutter.finish()
        }
      }
    }
  }

  private func reading<R>(_ body: () throws(FileReading.Fault) -> R) throws(StoreError) -> R {
    do {
      return try body()
    } catch {
      throw .unreadableFile(path, error.code)
    }
  }

  private func end() {
    if case .open(let descriptor) = phase { close(descriptor) }
    phase = .ended
  }
}

extension StoreError {
  fileprivate static func unreadableFile(_ path: String, _ code: Int32) -> StoreError {
    let isForbidden = code == EACCES || code == EPERM
    let fact =
      switch code {
      case ENOENT: "there is no such file (ENOENT); check the path"
      case EISDIR: "it is a directory (EISDIR), expected a file"
      case EACCES, EPERM: "this process may not (error \(code)); change the file's permissions"
      default: "error \(code), \(String(cString: strerror(code)))"
      }
    return StoreError(
      isForbidden ? .notPermitted : .inputOutput, "cannot read '\(path)': \(fact)")
  }

  fileprivate static func unusableContent(of path: String, _ error: any Error) -> StoreError {
    StoreError(
      .importStopped,
      "cannot import '\(path)': \(error); pages before this one are kept, nothing behind it",
      cause: error)
  }
}
