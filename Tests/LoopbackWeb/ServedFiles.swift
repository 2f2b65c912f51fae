import Foundation
import Synchronization

/// Files of a static web server, with entity tags of their content.
///
/// The server answers requests for whole files, for ranges, and conditional requests.
///
/// `state` is guarded by its lock. The body bytes that were sent are counted.
package final class ServedFiles: Sendable {
  private struct State {
    var files: [String: [UInt8]] = [:]
    var folder: String?
    var bytes = 0
  }

  private let state = Mutex(State())
  private let type: String

  package init(_ files: [String: [UInt8]] = [:], type: String = "application/octet-stream") {
    self.type = type
    state.withLock { $0.files = files }
  }

  /// The files of a folder, which are read with each request.
  package init(folder: String) {
    type = "application/octet-stream"
    state.withLock { $0.folder = folder }
  }

  /// The content at a path, which begins with `/`; nil for none.
  package subscript(path: String) -> [UInt8]? {
    get {
      let (file, folder) = state.withLock { ($0.files[path], $0.folder) }
      return file
        ?? folder.flatMap { try? Data(contentsOf: URL(fileURLWithPath: $0 + path)) }.map(Array.init)
    }
    set { state.withLock { $0.files[path] = newValue } }
  }

  /// The number of body bytes that were sent.
  package var bytesServed: Int { state.withLock { $0.bytes } }

  /// The entity tag of a content: FNV-1a.
  package static func tag(of content: [UInt8]) -> String {
    let hash = content.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
    return "\"\(String(hash, radix: 16))\""
  }

  /// The answer of a sound server.
  package func answer(to request: LoopbackServer.Request) -> Answer {
    guard let content = self[request.path] else { return Answer(404, [], body: []) }
    let tag = Self.tag(of: content)
    if let known = request.fields["if-none-match"], known == tag {
      return Answer(304, ["ETag: \(tag)"])
    }
    if let expected = request.fields["if-match"], expected != tag { return Answer(412, []) }
    let type = "Content-Type: \(type)"
    guard let start = request.rangeStart else {
      return counted(Answer(200, [type, "ETag: \(tag)"], body: content), content.count)
    }
    guard start < content.count else {
      return Answer(416, ["Content-Range: bytes */\(content.count)"])
    }
    let part = Array(content[start...])
    return counted(
      Answer(
        206,
        [
          type, "ETag: \(tag)",
          "Content-Range: bytes \(start)-\(content.count - 1)/\(content.count)",
        ], body: part), part.count)
  }

  private func counted(_ answer: Answer, _ count: Int) -> Answer {
    state.withLock { $0.bytes += count }
    return answer
  }
}

extension LoopbackServer.Request {
  /// The start of the requested range; nil for a whole file.
  package var rangeStart: Int? {
    fields["range"].flatMap { $0.hasPrefix("bytes=") && $0.hasSuffix("-") ? $0 : nil }
      .flatMap { Int($0.dropFirst(6).dropLast()) }
  }
}

extension Answer {
  /// This answer, broken off after `count` bytes of its body.
  package func cut(afterBody count: Int) -> Answer {
    guard steps.count == 2, case .bytes(let body) = steps[1] else { return self }
    return Answer(steps: [steps[0], .bytes(Array(body.prefix(count))), .close])
  }
}
