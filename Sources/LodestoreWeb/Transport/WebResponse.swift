internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The answer to a request.
struct WebResponse: Sendable {
  /// Where the answer came from.
  var url: URL
  var status: Int
  /// The header fields that this client reads, by lowercase name.
  var fields: [String: String] = [:]
  /// The bytes of all fields, names and values.
  var fieldBytes = 0
  /// The range of the address that answered, where the client tells it.
  var range: AddressRange?
  /// The content of a page; of another status nothing is kept.
  var body = Data()

  var isPage: Bool { status == 200 || status == 203 }

  /// The header fields that are kept; true where several fields of the name form a list.
  private static let usedFields = [
    "content-encoding": true, "content-length": false, "content-range": false,
    "content-type": false, "etag": false,
    "last-modified": false, "link": true, "location": false, "ratelimit": true,
    "ratelimit-remaining": false, "ratelimit-reset": false, "retry-after": false,
    "x-ratelimit-remaining": false, "x-ratelimit-reset": false,
  ]

  /// Keeps the first of several fields of one name, unless they form a list.
  init(url: URL, status: Int, fields: some Sequence<(name: String, value: String)>) {
    self.url = url
    self.status = status
    for (name, value) in fields {
      fieldBytes += name.utf8.count + value.utf8.count
      let name = name.lowercased()
      guard let isList = Self.usedFields[name] else { continue }
      if let before = self.fields[name] {
        if isList { self.fields[name] = "\(before), \(value)" }
      } else {
        self.fields[name] = value
      }
    }
  }

  /// The bytes that are to come, when they come as they are.
  var length: Int? {
    fields["content-encoding"] == nil ? fields["content-length"].flatMap { Int($0) } : nil
  }
}

/// Why a request has no whole answer.
enum TransferFailure: Error {
  case cancelled
  /// No byte came for a request's timeout.
  case idle(received: Int)
  /// The last byte did not come within a transfer's timeout.
  case slow(received: Int)
  case tooLarge
  /// The head, heads before it or a trailer.
  case headTooLarge
  /// A status that no answer has: below 100.
  case status(Int)
  /// A content coding that is not taken.
  case coding(String)
  /// Another part of a file than the one asked for.
  case range(found: String, expected: String)
  /// The consumer of a file refuses it.
  case consumer(any Error)
  /// The address that the connection leads to is in a range that is not allowed.
  case address(AddressRange)
  /// The answer broke off.
  case truncated(received: Int, expected: Int?, cause: URLError?)
  case transport(URLError)
}
