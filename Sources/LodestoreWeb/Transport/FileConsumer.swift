internal import Foundation

/// Takes the body of a file piece by piece.
///
/// The closures run on the thread that receives the bytes, one call after another. An error of
/// theirs ends the transfer and is what the caller of the request gets.
struct FileConsumer: Sendable {
  /// The most bytes of the body, decompressed.
  let byteLimit: Int
  /// The position in the file of the first byte asked for.
  let start: Int
  /// Called before the first piece, and again should another answer begin.
  let begin: @Sendable (FileHead) throws -> Void
  /// Called with each piece.
  let take: @Sendable (Data) throws -> Void

  /// The facts of an answer with status 200, 203 or 206.
  ///
  /// - Throws: ``TransferFailure`` for a part that was not asked for or that the answer's fields
  ///   contradict: RFC 9110, 14.4 and 15.3.7.
  func head(of response: WebResponse) throws(TransferFailure) -> FileHead {
    var head = FileHead(
      validators: Validators(
        entityTag: response.fields["etag"], lastModified: response.fields["last-modified"]))
    guard response.status == 206 else {
      head.byteCount = response.length
      head.totalCount = response.length
      return head
    }
    if let coding = response.fields["content-encoding"], coding.lowercased() != "identity" {
      // The positions of a part are those of the compressed bytes.
      throw .coding(coding)
    }
    let field = response.fields["content-range"] ?? "no field Content-Range"
    let expected = "bytes from \(start) on"
    guard start > 0, let part = ContentRange(field), part.first == start else {
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

/// The head of the answer with a file, or with a part of one.
package struct FileHead: Sendable, Hashable {
  /// The position in the file of the first byte of the answer; 0 for a whole file, also when a part
  /// was asked for.
  package var start = 0
  /// How many bytes the answer has; nil when it does not say.
  package var byteCount: Int?
  /// How many bytes the whole file has; nil when the answer does not say.
  package var totalCount: Int?
  let validators: Validators

  /// The entity tag, with its quotes.
  package var entityTag: String? { validators.entityTag }
  /// The date of the last change, as the server writes it.
  package var lastModified: String? { validators.lastModified }

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
