import AsyncHTTPClient
import Foundation
import Lodestore
import NIOCore

/// An event of a stream of changes, or a comment.
struct ServerEvent: Sendable {
  var kind = ""
  var id: String?
  var data = ""
  var comment: String?

  var json: JSONValue { get throws { try JSONValue(parsing: data) } }

  /// The kind of the event, and the name of its podspec.
  var summary: String {
    guard let json = try? json, let name = json["name"]?.stringValue else { return kind }
    return "\(kind) \(name) \(json["version"]?.stringValue ?? "")"
  }
}

/// A stream of changes; the client reads only when the test asks for an event.
struct EventStream {
  private var body: HTTPClientResponse.Body.AsyncIterator
  private var text = ""
  let status: Int

  /// Opens the stream.
  ///
  /// When the initializer returns, the stream reports all later changes.
  init(_ url: String, after id: String? = nil) async throws {
    var request = HTTPClientRequest(url: url + "/changes")
    if let id { request.headers.add(name: "Last-Event-ID", value: id) }
    let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
    status = Int(response.status.code)
    body = response.body.makeAsyncIterator()
  }

  /// The next event or comment; `nil` when the stream has ended.
  mutating func next() async throws -> ServerEvent? {
    while true {
      if let end = text.firstRange(of: "\n\n") {
        let block = text[..<end.lowerBound]
        defer { text = String(text[end.upperBound...]) }
        return event(block)
      }
      guard let buffer = try await body.next() else { return nil }
      text += String(buffer: buffer)
    }
  }

  /// The next event that has data.
  mutating func nextEvent() async throws -> ServerEvent? {
    while let event = try await next() {
      if !event.data.isEmpty { return event }
    }
    return nil
  }

  private func event(_ block: Substring) -> ServerEvent {
    var event = ServerEvent()
    for line in block.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
      switch parts[0] {
      case "event": event.kind = String(value)
      case "id": event.id = String(value)
      case "data": event.data += value
      case "": event.comment = String(value)
      default: break
      }
    }
    return event
  }
}
