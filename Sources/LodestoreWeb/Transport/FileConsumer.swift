internal import Foundation

/// Receives the body of a file piece by piece.
///
/// The closures run on the thread that receives the bytes, one call after another. If a closure
/// throws, the transfer ends and the request's caller gets the error.
struct FileConsumer: Sendable {
  /// The maximum number of bytes of the body after decompression.
  let byteLimit: Int
  /// The position in the file of the first requested byte.
  let start: Int
  /// The position of the last requested byte; `nil` if all bytes from ``start`` on are requested.
  var last: Int? = nil
  /// Whether the method allows a body; false for `HEAD`.
  var hasBody = true
  /// Whether the beginning of the body of an answer without content is kept.
  var keepsOtherBodies = false
  /// Called before the first piece, and again if another answer begins.
  let begin: @Sendable (FileHead) throws -> Void
  /// Receives each piece of the response's body.
  let take: @Sendable (Data) throws -> Void

  /// The facts of an answer with status 200, 203 or 206.
  ///
  /// - Throws: ``TransferFailure`` for a part that was not requested or that the answer's fields
  ///   contradict: RFC 9110, 14.4 and 15.3.7.
  func head(of response: WebResponse) throws(TransferFailure) -> FileHead {
    var head = FileHead(
      validators: Validators(
        entityTag: response.fields["etag"], lastModified: response.fields["last-modified"]))
    guard hasBody else {
      head.byteCount = 0
      head.totalCount = response.length
      return head
    }
    guard response.status == 206 else {
      head.byteCount = response.length
      head.totalCount = response.length
      return head
    }
    if let coding = response.fields["content-encoding"], coding.lowercased() != "identity" {
      // In a part of a compressed file, positions count compressed bytes, so the part cannot be
      // used.
      throw .coding(coding)
    }
    let field = response.fields["content-range"] ?? "no field Content-Range"
    let expected = last.map { "bytes from \(start) to \($0)" } ?? "bytes from \(start) on"
    guard start > 0 || last != nil, let part = ContentRange(field), part.first == start,
      part.last <= last ?? .max
    else {
      throw .range(found: field, expected: expected)
    }
    let count = part.last - part.first + 1
    if let length = response.length, length != count {
      throw .range(found: "\(length) bytes for '\(field)'", expected: "\(count)")
    }
    head.start = part.first
    head.byteCount = count
    head.totalCount = part.total
    return head
  }
}

/// The head of an answer with a file or a part of one.
package struct FileHead: Sendable, Hashable {
  /// The position in the file of the answer's first byte.
  ///
  /// The position is 0 for a whole file, even if a part was requested.
  package var start = 0
  /// The number of bytes of the file in this answer; `nil` if the answer does not state it.
  package var byteCount: Int?
  /// The number of bytes of the whole file; `nil` if the answer does not state it.
  package var totalCount: Int?
  let validators: Validators

  /// The entity tag, including its quotes.
  package var entityTag: String? { validators.entityTag }

  init(validators: Validators) { self.validators = validators }
}

/// The field `Content-Range` with one range of bytes: RFC 9110, 14.4.
struct ContentRange: Sendable, Hashable {
  var first: Int
  var last: Int
  var total: Int?

  init?(_ field: String) {
    let words = field.split(separator: " ", omittingEmptySubsequences: true)
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let bounds = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2, let first = Self.number(bounds[0]), let last = Self.number(bounds[1]),
      first <= last, last < .max
    else { return nil }
    (self.first, self.last) = (first, last)
    if parts[1] == "*" { return }
    guard let total = Self.number(parts[1]), last < total else { return nil }
    self.total = total
  }

  private static func number(_ text: Substring) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }
}
