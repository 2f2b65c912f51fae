import FlyingFox
import FlyingSocks
import Foundation

/// Answers requests with pages of the content.
struct ServiceHandler: HTTPHandler {
  let content: Content
  let log: RequestLog

  func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
    let (number, faults) = log.begin()
    try await Task.sleep(for: faults.delay)
    while log.faults.withheld == request.target.rawValue {
      try await Task.sleep(for: .milliseconds(5))
    }
    let response =
      faults.fails(number)
      ? message(.internalServerError, "the service was asked to fail")
      : answer(request, breakingOff: faults.breaksOff(number))
    log.end(Request(path: request.target.rawValue, status: response.statusCode.code))
    return response
  }

  private func answer(_ request: HTTPRequest, breakingOff: Bool) -> HTTPResponse {
    guard request.method == .GET else { return message(.methodNotAllowed, "use GET") }
    let base = "http://\(request.headers[.host] ?? "127.0.0.1")"
    guard let page = content.page(request.path, { request.query[$0] }, base: base) else {
      return message(.notFound, "there is no such page")
    }
    let tag = page.entityTag
    if request.headers.values(for: .ifNoneMatch).contains(tag) {
      return HTTPResponse(statusCode: .notModified, headers: HTTPHeaders([.eTag: tag]))
    }
    let body =
      breakingOff
      ? HTTPBodySequence(from: BrokenOff(bytes: page.prefix(page.count / 2)), count: page.count)
      : HTTPBodySequence(data: page, suggestedBufferSize: 1 << 16)
    return HTTPResponse(
      statusCode: .ok, headers: [.contentType: "application/json", .eTag: tag], body: body)
  }

  private func message(_ status: HTTPStatusCode, _ text: String) -> HTTPResponse {
    HTTPResponse(
      statusCode: status, headers: [.contentType: "application/json"],
      body: Data(#"{"detail": "\#(text)"}"#.utf8))
  }
}

extension Data {
  /// A strong entity tag: the FNV-1a hash of the bytes.
  var entityTag: String {
    let hash = reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return "\"" + String(hash, radix: 16) + "\""
  }
}

/// Bytes followed by an error, so that the server closes the connection after sending them.
private struct BrokenOff: AsyncBufferedSequence {
  typealias Element = UInt8
  let bytes: Data

  func makeAsyncIterator() -> Iterator { Iterator(bytes: bytes) }

  struct Iterator: AsyncBufferedIteratorProtocol {
    var bytes: Data

    mutating func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }

    mutating func nextBuffer(suggested count: Int) async throws -> Data? {
      guard !bytes.isEmpty else { throw SocketError.disconnected }
      defer { bytes = Data(bytes.dropFirst(count)) }
      return bytes.prefix(count)
    }
  }
}
