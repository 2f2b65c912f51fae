internal import LodestoreEssentials

/// The state of one decoding of a node, shared by its containers.
///
/// Containers hold only entry numbers. A coding path is computed from an entry when an error or a
/// caller needs it. Storing paths would cost an allocation for each level of each record.
final class JSONDecoding {
  /// The entry number of an absent value, such as a superclass.
  ///
  /// Such a value decodes as null.
  static let missing = -1

  private struct Cursor {
    var object: Int
    var nextKey: Int
  }

  /// The number of nesting levels for which the key found last is remembered.
  ///
  /// Deeper levels search from the first key.
  private static let cursorCount = 16

  let document: JSONDocument
  private let root: Int
  /// The name under which a type can decode the key that the root value has in its object; `nil`
  /// for none.
  private let keyName: String?
  private let dates: JSONNodeDecoder.DateStrategy
  private let rawUserInfo: [CodingUserInfoKey: any Sendable]
  private let cursors: UnsafeMutablePointer<Cursor>

  init(
    root: JSONNode, dates: JSONNodeDecoder.DateStrategy,
    userInfo: [CodingUserInfoKey: any Sendable], keyName: String? = nil
  ) {
    self.keyName = keyName
    document = root.document
    self.root = root.index
    self.dates = dates
    rawUserInfo = userInfo
    cursors = .allocate(capacity: Self.cursorCount)
    cursors.initialize(repeating: Cursor(object: -1, nextKey: 0), count: Self.cursorCount)
  }

  deinit { cursors.deallocate() }

  var userInfo: [CodingUserInfoKey: Any] { rawUserInfo }

  // MARK: Structure

  @inline(__always)
  func kind(_ index: Int) -> JSONTapeKind {
    index == Self.missing ? .null : document.entries[index].kind
  }

  /// The value of the member with `key`.
  ///
  /// Types usually ask for keys in the order of the text, so the search starts after the key found
  /// last in this object.
  @inline(__always)
  func member(_ key: some CodingKey, of object: Int, depth: Int) -> Int? {
    let name = key.stringValue
    guard depth < Self.cursorCount else {
      return JSONKeySearch.find(name, in: document, object: object).map { $0 + 1 }
    }
    let cursor = cursors[depth]
    let start = cursor.object == object ? cursor.nextKey : object &+ 1
    guard let found = JSONKeySearch.find(name, in: document, object: object, from: start) else {
      return rootKey(name, object)
    }
    cursors[depth] = Cursor(object: object, nextKey: document.next(after: found &+ 1))
    return found &+ 1
  }

  /// The entry of the key that the root value has in its object, if `name` stands for it and
  /// `object` is the root.
  @inline(never)
  private func rootKey(_ name: String, _ object: Int) -> Int? {
    object == root && name == keyName ? root - 1 : nil
  }

  /// The name and the entry of the root's own key; `nil` if `object` is not the root or has a
  /// member of that name.
  func rootKey(of object: Int) -> (name: String, entry: Int)? {
    guard object == root, let keyName,
      JSONKeySearch.find(keyName, in: document, object: object) == nil
    else { return nil }
    return (keyName, root - 1)
  }

  // MARK: Scalars

  func bool(_ index: Int) throws -> Bool {
    switch kind(index) {
    case .true: return true
    case .false: return false
    default: throw mismatch(Bool.self, index, "a Boolean")
    }
  }

  func string(_ index: Int) throws -> String {
    guard kind(index) == .string else { throw mismatch(String.self, index, "a string") }
    return JSONStringContent.string(document.entries[index], document.text)
  }

  func integer<T: FixedWidthInteger>(_ type: T.Type, _ index: Int) throws -> T {
    let text = try number(type, index)
    if let (isNegative, magnitude) = JSONNumber.integer(text) {
      if !isNegative {
        if let value = T(exactly: magnitude) { return value }
      } else if let value = T(exactly: -Int128(magnitude)) {
        return value
      }
    }
    throw corrupted(index, "an integer from \(T.min) to \(T.max)")
  }

  func double(_ index: Int) throws -> Double {
    let text = try number(Double.self, index)
    let value = JSONNumber.double(text)
    guard value.isFinite, value != 0 || !JSONNumber.isNonzero(text) else {
      throw corrupted(index, "a number in the range of a Double")
    }
    return value
  }

  func float(_ index: Int) throws -> Float {
    let text = try number(Float.self, index)
    let value = JSONNumber.float(text)
    guard value.isFinite, value != 0 || !JSONNumber.isNonzero(text) else {
      throw corrupted(index, "a number in the range of a Float")
    }
    return value
  }

  private func number(_ type: Any.Type, _ index: Int) throws -> JSONNumber.Text {
    switch kind(index) {
    case .integer, .real: return document.bytes(ofEntry: index)
    default: throw mismatch(type, index, "a number")
    }
  }

  func date(_ index: Int) throws -> Date {
    if dates == .iso8601OrSecondsSince1970, kind(index) == .integer || kind(index) == .real {
      return Date(timeIntervalSince1970: try double(index))
    }
    guard kind(index) == .string else { throw mismatch(Date.self, index, "an ISO 8601 text") }
    let entry = document.entries[index]
    let date =
      entry.isEscaped
      ? ISO8601Text.date(try string(index))
      : ISO8601Text.date(bytes: document.bytes(ofEntry: index))
    guard let date else { throw corrupted(index, "an ISO 8601 date such as 2024-02-29T12:00:00Z") }
    return date
  }

  func data(_ index: Int) throws -> Data {
    guard let data = Data(base64Encoded: try string(index)) else {
      throw corrupted(index, "base64")
    }
    return data
  }

  func url(_ index: Int) throws -> URL {
    guard let url = URL(string: try string(index)) else { throw corrupted(index, "a URL") }
    return url
  }

  func uuid(_ index: Int) throws -> UUID {
    guard let uuid = UUID(uuidString: try string(index)) else { throw corrupted(index, "a UUID") }
    return uuid
  }

  func decimal(_ index: Int) throws -> Decimal {
    let digits = JSONNumber.digits(try number(Decimal.self, index))
    guard !digits.isTooLong, (-128...127).contains(digits.exponent) else {
      throw corrupted(index, "at most 38 digits and an exponent from -128 to 127")
    }
    let split: UInt128 = 10_000_000_000_000_000_000
    let high = Decimal(UInt64(digits.significand / split))
    let low = Decimal(UInt64(digits.significand % split))
    return Decimal(
      sign: digits.isNegative ? .minus : .plus, exponent: digits.exponent,
      significand: high * Decimal(UInt64(split)) + low)
  }
}

// MARK: - Errors

extension JSONDecoding {
  /// The keys and positions from the decoded node to an entry; O(siblings along the path).
  func path(to index: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var node = root
    while node < index, document.entries[node].isContainer {
      let isObject = document.entries[node].kind == .object
      var child = node + 1
      var position = 0
      while true {
        let value = isObject ? child + 1 : child
        let next = document.next(after: value)
        if index < next || next >= document.next(after: node) {
          path.append(
            isObject
              ? PathKey(
                stringValue: JSONStringContent.string(document.entries[child], document.text))
              : PathKey(intValue: position))
          node = value
          break
        }
        child = next
        position += 1
      }
    }
    return path
  }

  func context(_ index: Int, _ expected: String) -> DecodingError.Context {
    let entry = index == Self.missing ? root : index
    let node = JSONNode(document: document, index: entry)
    return DecodingError.Context(
      path(to: entry), atByte: node.offset, found: found(index), expected: expected,
      JSONNodeError(node: node))
  }

  /// The kind of an entry, and for short scalars its text.
  private func found(_ index: Int) -> String {
    guard index != Self.missing else { return "nothing" }
    let entry = document.entries[index]
    switch entry.kind {
    case .integer, .real, .string:
      let text = String(decoding: document.bytes(ofEntry: index).prefix(40), as: UTF8.self)
      let shown = text + (entry.length > 40 ? "…" : "")
      return "\(entry.kind.name) " + (entry.kind == .string ? "\"\(shown)\"" : shown)
    case .null, .false, .true, .array, .object: return entry.kind.name
    }
  }

  /// The error for a value of another kind.
  ///
  /// As in Foundation, null is reported as a missing value.
  func mismatch(_ type: Any.Type, _ index: Int, _ expected: String) -> DecodingError {
    let context = context(index, expected)
    return kind(index) == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  func corrupted(_ index: Int, _ expected: String) -> DecodingError {
    .dataCorrupted(context(index, expected))
  }

  func keyNotFound(_ key: any CodingKey, _ object: Int) -> DecodingError {
    .keyNotFound(key, context(object, "one with the key \(JSONValue.string(key.stringValue))"))
  }
}
