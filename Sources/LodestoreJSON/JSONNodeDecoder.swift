/// Decodes any `Decodable` type from a node of a parsed text.
///
/// - `Date`: ISO 8601 text as `ISO8601Text` reads it; optionally also seconds since 1970.
/// - `Data`: base64. `URL`, `UUID`: text. `Decimal`: the digits of the number, exactly, up to 38.
/// - Integers: range-checked. `5.0` is 5 and `5.5` is an error, decided by the digits and not
///   through a double.
/// - `Double`, `Float`: the nearest value. An infinite result is an error, and so is zero for a
///   number other than zero.
/// - `JSONValue`: taken directly from the text, so `1` and `1.0` stay distinct.
///
/// Errors are `DecodingError`s whose `codingPath` starts at the given node. `offendingNode(of:in:)`
/// finds the node that an error concerns. A decoder has no state, so any thread may use it.
package struct JSONNodeDecoder: Sendable {
  /// The accepted forms of a date.
  package enum DateStrategy: Sendable {
    /// Only ISO 8601 text is accepted.
    case iso8601
    /// ISO 8601 text, or a number: seconds since 1970-01-01 UTC.
    case iso8601OrSecondsSince1970
  }

  package var dates: DateStrategy
  package var userInfo: [CodingUserInfoKey: any Sendable]

  package init(dates: DateStrategy = .iso8601, userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
    self.dates = dates
    self.userInfo = userInfo
  }

  /// Decodes one value.
  ///
  /// - Parameter name: For the value of a member, a name under which the type can decode the
  ///   member's key. A member of the value with this name takes precedence.
  /// - Throws: `DecodingError`, or any error of the type's own `init(from:)`.
  package func decode<T: Decodable>(
    _ type: T.Type = T.self, from node: JSONNode, keyAs name: String? = nil
  ) throws -> T {
    let decoding = JSONDecoding(root: node, dates: dates, userInfo: userInfo, keyName: name)
    return try decoding.value(type, at: node.index, depth: 0)
  }

  /// The node that an error of `decode` concerns, as near as its coding path shows.
  ///
  /// If the error is a missing key, the node is the object that lacks the key.
  package static func offendingNode(of error: any Error, in node: JSONNode) -> JSONNode {
    let context: DecodingError.Context
    var path: [any CodingKey]
    switch error {
    case DecodingError.typeMismatch(_, let found), DecodingError.valueNotFound(_, let found),
      DecodingError.dataCorrupted(let found), DecodingError.keyNotFound(_, let found):
      context = found
      path = found.codingPath
    default: return node
    }
    if let error = context.underlyingError as? JSONNodeError { return error.node }
    var found = node
    while let key = path.first {
      let child = found.kind == .array ? key.intValue.flatMap { found[$0] } : found[key.stringValue]
      guard let child else { break }
      found = child
      path.removeFirst()
    }
    return found
  }
}

/// The node that could not be decoded, as the underlying error of a `DecodingError`.
struct JSONNodeError: Error, CustomStringConvertible {
  package let node: JSONNode
  /// Line and column of the node; O(bytes before it), so they are computed only on request.
  package var position: JSONPosition { node.position }
  package var description: String { "at \(position)" }
}
