internal import LodestoreBytes
internal import LodestoreEssentials
internal import LodestoreFormat

/// The position at which a page of results ends, for the query of the next page.
///
/// The token holds the position of the last record in the order, not the number of records before
/// it. So the next page begins after that record, whatever is inserted or deleted meanwhile, and
/// costs the same at any depth. A token is text that survives restarts, and contains the values of
/// the record's sort attributes. A token belongs to one condition and order; other queries refuse
/// it.
public struct ContinuationToken: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The token as text of letters, digits, `-` and `_`.
  public let text: String

  /// Creates a token from its text.
  ///
  /// The query that uses the token checks it.
  public init(_ text: String) { self.text = text }

  /// The token as text.
  public var description: String { text }

  /// Decodes a token from its text.
  @_documentation(visibility: internal)
  public init(from decoder: any Decoder) throws {
    text = try decoder.singleValueContainer().decode(String.self)
  }

  /// Encodes the token as its text.
  @_documentation(visibility: internal)
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension ContinuationToken {
  /// The content of a token.
  struct Content {
    /// The fingerprint of the query that made the token.
    var fingerprint: UInt32
    /// The sort key of the last record by ``SortKeyWriter``, including the id.
    var key: [UInt8]
  }

  private static let version: UInt8 = 2
  /// The padding at the end of Base64, which a token omits.
  private static let filler = UInt8(ascii: "=")
  /// The replacements for the characters of Base64 that are special in URLs.
  private static let letters = [
    (base64: UInt8(ascii: "+"), token: UInt8(ascii: "-")),
    (base64: UInt8(ascii: "/"), token: UInt8(ascii: "_")),
  ]

  init(_ content: Content) {
    let body = [Self.version] + littleEndianBytes(content.fingerprint) + content.key
    var checksum = Checksum()
    body._withBytes { checksum.combine($0) }
    let base64 = Data(body + littleEndianBytes(checksum.value)).base64EncodedData()
    let letters = base64.filter { $0 != Self.filler }.map { letter in
      Self.letters.first { $0.base64 == letter }?.token ?? letter
    }
    text = String(decoding: letters, as: UTF8.self)
  }

  func content() throws(StoreError) -> Content {
    guard text.utf8.count <= 1 << 20 else { throw .badToken("it is too long") }
    var base64 = Data(
      text.utf8.map { letter in Self.letters.first { $0.token == letter }?.base64 ?? letter })
    base64 += Data(repeating: Self.filler, count: (4 - base64.count % 4) % 4)
    guard let data = Data(base64Encoded: base64), data.count >= 17, data[0] == Self.version else {
      throw .badToken("it is damaged")
    }
    let bytes = Array(data)
    return try bytes._withBytes { bytes -> Result<Content, StoreError> in
      var checksum = Checksum()
      checksum.combine(bytes[..<(bytes.count - 4)])
      guard checksum.value == bytes.uint32(at: bytes.count - 4) else {
        return .failure(.badToken("it is damaged"))
      }
      return .success(
        Content(fingerprint: bytes.uint32(at: 1), key: Array(bytes[5..<(bytes.count - 4)])))
    }.get()
  }

  /// Throws if the token was made by another query.
  func check(_ request: QueryRequest, _ entity: StoredEntity) throws(StoreError) {
    guard try content().fingerprint == request.fingerprint(entity) else {
      throw .badToken("it was made by a query with another condition or order")
    }
  }
}

extension QueryRequest {
  /// Returns a number that is the same for all queries with the same condition and order.
  func fingerprint(_ entity: StoredEntity) -> UInt32 {
    var text = "\(entity.number)\u{1}\(ConditionPrinter.text(condition))"
    for term in order {
      let nulls = term.nullsFirst.map { $0 ? "first" : "last" } ?? ""
      text +=
        "\u{1}\(term.isDescending ? "-" : "+")\(ConditionPrinter.text(term.operand))"
        + "\u{2}\(term.options.rawValue)\(nulls)"
    }
    var checksum = Checksum()
    text.withUTF8 { checksum.combine(ByteView($0)) }
    return checksum.value
  }
}
