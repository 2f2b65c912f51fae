internal import Foundation
internal import LodestoreBytes
internal import LodestoreWeb

/// The place of a publisher's files: a folder of a web server or of this machine.
struct PublishedFiles: Sendable {
  private enum Form: Sendable {
    case web(WebFiles)
    case folder(String)
  }

  private let form: Form
  /// The place in words: an address without secrets, or a path.
  let words: String

  init(web: WebFiles) {
    form = .web(web)
    words = web.place.absoluteString
  }

  init(folder: String) {
    form = .folder(folder)
    words = folder
  }

  /// The result of a request.
  enum Answer: Sendable {
    case unchanged
    case content(FileHead?)
  }

  /// Passes the bytes of a file to `take`, from ``WebFiles/Request/start`` or from the beginning.
  ///
  /// `begin` receives the offset at which the answer starts.
  func get(
    _ request: WebFiles.Request,
    begin: @escaping @Sendable (_ start: Int) throws -> Void = { _ in },
    take: @escaping @Sendable (ByteView) throws -> Void
  ) async throws -> Answer {
    switch form {
    case .web(let files):
      let answer = try await files.get(request) { head in
        try begin(head.start)
      } take: { bytes in
        try bytes.withUnsafeBytes { try take(ByteView($0)) }
      }
      switch answer {
      case .unchanged: return .unchanged
      case .content(let head): return .content(head)
      }
    case .folder(let folder):
      try Self.read("\(folder)/\(request.path)", request, begin, take)
      return .content(nil)
    }
  }

  private static func read(
    _ path: String, _ request: WebFiles.Request, _ begin: (Int) throws -> Void,
    _ take: (ByteView) throws -> Void
  ) throws {
    guard let file = try SystemFile.openForReading(path) else {
      throw DatasetError.system(ENOENT, "read", path)
    }
    guard try FileBytes.length(file.descriptor, path: path) <= UInt64(request.byteLimit) else {
      throw DatasetError.damagedFile(path, because: "it has more than \(request.byteLimit) bytes")
    }
    try begin(request.start)
    try FileBytes.forEachPiece(
      of: file.descriptor, from: UInt64(request.start), size: 1 << 18, path: path
    ) { bytes, _ in try take(bytes) }
  }
}
