internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The answer to a request.
struct WebResponse: Sendable {
  /// The address that answered.
  var url: URL
  var status: Int
  /// The header fields this client reads, keyed by lowercase name.
  var fields: [String: String] = [:]
  /// The number of bytes of all fields, names and values.
  var fieldBytes = 0
  /// The range of the answering address; `nil` if the client does not report it.
  var range: AddressRange?
  /// The content of a page; empty for other statuses.
  var body = Data()

  var isPage: Bool { status == 200 || status == 203 }

  /// The header fields that are kept, by lowercase name; all others are dropped.
  ///
  /// The value is true if several fields of the name form a list.
  private static let usedFields = [
    "content-encoding": true, "content-length": false, "content-range": false,
    "content-type": false, "date": false, "etag": false,
    "last-modified": false, "link": true, "location": false, "ratelimit": true,
    "ratelimit-remaining": false, "ratelimit-reset": false, "retry-after": false,
    "x-amz-bucket-region": false, "x-amz-request-id": false, "x-ratelimit-remaining": false,
    "x-ratelimit-reset": false,
  ]

  /// Creates a response.
  ///
  /// Of several fields with one name the first is kept, unless they form a list.
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

  /// The announced number of bytes of a body that is not compressed.
  var length: Int? {
    fields["content-encoding"] == nil ? fields["content-length"].flatMap { Int($0) } : nil
  }
}

/// The reason why a request got no complete answer.
enum TransferFailure: Error {
  case cancelled
  /// No byte arrived within the request's timeout.
  case idle(received: Int)
  /// The last byte did not arrive within the transfer's timeout.
  case slow(received: Int)
  case tooLarge
  /// The answer's head, with the heads of status 100 to 199 before it, or a trailer is too large.
  case headTooLarge
  /// The status is below 100, which HTTP does not allow.
  case status(Int)
  /// The content coding is not supported.
  case coding(String)
  /// The answer has another part of a file than the requested one.
  case range(found: String, expected: String)
  /// The consumer of a file threw an error.
  case consumer(any Error)
  /// The connection's address is in a range that is not allowed.
  case address(AddressRange)
  /// The answer ended too early.
  case truncated(received: Int, expected: Int?, cause: URLError?)
  case transport(URLError)
}
