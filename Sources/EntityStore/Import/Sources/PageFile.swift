internal import LodestoreEssentials
import LodestoreSystem

/// Reads several files one after another, one page at a time.
final class PageFiles {
  private let form: PageCutting.Form
  /// The remaining paths, the next one last.
  private var paths: [String]
  private var file: PageFile?

  init(_ paths: [String], _ form: PageCutting.Form) {
    self.paths = paths.reversed()
    self.form = form
  }

  /// The next page; nil at the end and after an error.
  func next() throws -> CutPage? {
    while true {
      if let file {
        do {
          if let page = try file.next() { return page }
        } catch {
          paths = []
          throw error
        }
      }
      guard let path = paths.popLast() else { return nil }
      file = PageFile(path, form)
    }
  }

  /// Ends the reading because of an error of the last page; returns the error to throw.
  func end(_ error: any Error) -> any Error {
    defer {
      paths = []
      file = nil
    }
    return file?.end(error) ?? error
  }
}

/// Reads a file one page at a time.
///
/// The file is closed at its end, at an error, and with the last reference to this object.
final class PageFile {
  private enum Phase {
    case new
    case open(Int32)
    /// All bytes of the file have been read, but the last ones may not be decoded yet.
    case decoding
    /// The cutter has received all of the text, and may have more pages.
    case read
    /// The cutter has received all of the text of a truncated file. The page found last is held
    /// back, since the final page also reports the truncation.
    case cut(CutPage?, GzipError)
    case ended
  }

  private static let chunkSize = 256 << 10

  private let path: String
  private var input: TextInput
  private var cutter: any PageCutter
  private var phase = Phase.new

  init(_ path: String, _ form: PageCutting.Form) {
    self.path = path
    input = TextInput(decodes: !form.isCSV)
    cutter = form.cutter()
  }

  deinit { end() }

  /// The next page; nil at the end and after an error.
  func next() throws -> CutPage? {
    do {
      if var page = try cut() {
        page.places.file = path
        return page
      }
    } catch {
      throw end(error)
    }
    end()
    return nil
  }

  /// Ends the reading because of an error; returns the error to throw.
  func end(_ error: any Error) -> any Error {
    end()
    switch error {
    case is StoreError, is CancellationError: return error
    default: return StoreError.unusableContent(of: path, error)
    }
  }

  private func cut() throws -> CutPage? {
    while true {
      if Task.isCancelled { throw CancellationError() }
      switch phase {
      case .new:
        phase = .open(try reading { () throws(FileReading.Fault) in try FileReading.open(path) })
      case .ended: return nil
      case .read: return try cutter.next()
      case .cut(let last, let error):
        if let page = try cutter.next() {
          phase = .cut(page, error)
          guard let last else { continue }
          return last
        }
        end()
        var page = last ?? .empty
        page.noteCut(after: input.textCount, error)
        return page
      case .open(let descriptor):
        if let page = try cutter.next() { return page }
        if let text = try input.next() {
          cutter.append(text)
          continue
        }
        let chunk = try reading { () throws(FileReading.Fault) in
          try FileReading.read(descriptor, atMost: Self.chunkSize)
        }
        if let chunk {
          input.append(chunk)
        } else {
          end()
          phase = .decoding
          input.finish()
        }
      case .decoding:
        if let page = try cutter.next() { return page }
        if let text = try input.next() {
          cutter.append(text)
        } else {
          phase = input.cutError.map { .cut(nil, $0) } ?? .read
          cutter.finish(isCut: input.cutError != nil)
        }
      }
    }
  }

  private func reading<R>(_ body: () throws(FileReading.Fault) -> R) throws(StoreError) -> R {
    do { return try body() } catch { throw .unreadableFile(path, error.code) }
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
      "cannot import '\(path)': \(error); earlier pages are imported, this page and later ones are not",
      cause: error)
  }
}
