public import LodestoreEssentials

/// A text that is not JSON by RFC 8259, or that exceeds a limit.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of a fault.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Reason: Hashable, Sendable {
    /// The text contains only white space.
    case emptyText
    /// The text ends inside a value.
    case unexpectedEnd
    /// A byte is not allowed at its position.
    case unexpectedByte(UInt8)
    /// Something other than white space follows the value.
    case trailingContent
    /// No element or member follows a comma.
    case trailingComma
    /// The text has `NaN` or `Infinity`, which JSON lacks.
    case notFinite
    /// A number has zeros before its first digit.
    case leadingZero
    /// A number is incomplete, or has a sign or a point in a wrong place.
    case malformedNumber
    /// A number is too large for a double.
    case numberTooLarge
    /// A number other than zero would become zero as a double.
    case numberTooSmall
    /// Neither `Int64` nor `UInt64` can represent an integer.
    case integerOutsideRange
    /// Bytes are not UTF-8.
    case invalidUTF8
    /// A string contains a control character that is not escaped.
    case controlCharacter(UInt8)
    /// A backslash does not begin a valid escape.
    case invalidEscape
    /// An escape is half of a surrogate pair.
    case unpairedSurrogate
    /// Two members of an object have equal keys, compared as Swift strings.
    case duplicateKey(String)
    /// Arrays and objects are nested deeper than the limit.
    case tooDeep(limit: Int)
    /// The text has more bytes than the limit.
    case tooLong(limit: Int)
    /// The text has more values and keys than the limit.
    case tooManyValues(limit: Int)
  }

  /// The kind of the fault.
  public let reason: Reason
  /// The position of the first wrong byte, or of the value that exceeds a limit.
  public let position: JSONPosition
  /// The expected content at the position, in words.
  public let expected: String

  /// The byte offset in the file, from 0.
  package var offset: Int { position.offset }
  /// The line, from 1.
  package var line: Int { position.line }
  /// The column, from 1, in Unicode scalars.
  package var column: Int { position.column }

  /// The position, the fault and the expected content, in one line.
  public var description: String {
    "cannot read JSON at \(position): found \(reason.found), expected \(expected)"
  }
}

extension JSONError.Reason {
  /// The fault in words, for a message.
  var found: String {
    switch self {
    case .emptyText: "no value"
    case .unexpectedEnd: "the end of the text"
    case .unexpectedByte(let byte): Self.display(byte)
    case .trailingContent: "more text after the value"
    case .trailingComma: "nothing after a comma"
    case .notFinite: "a number that is not finite"
    case .leadingZero: "a leading zero"
    case .malformedNumber: "a malformed number"
    case .numberTooLarge: "a number too large for a double"
    case .numberTooSmall: "a number that a double would turn into zero"
    case .integerOutsideRange: "an integer outside 64 bits"
    case .invalidUTF8: "bytes that are not UTF-8"
    case .controlCharacter(let byte): "the control character \(Self.hex(byte)) in a string"
    case .invalidEscape: "an unknown escape"
    case .unpairedSurrogate: "half of a surrogate pair"
    case .duplicateKey(let key): "the key \(JSONValue.string(key)) a second time"
    case .tooDeep(let limit): "more than \(limit) levels of nesting"
    case .tooLong(let limit): "more than \(limit) bytes"
    case .tooManyValues(let limit): "more than \(limit) values and keys"
    }
  }

  private static func display(_ byte: UInt8) -> String {
    (0x21...0x7E).contains(byte) ? "'\(Character(UnicodeScalar(byte)))'" : "byte \(hex(byte))"
  }

  private static func hex(_ byte: UInt8) -> String {
    "0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
  }
}

/// An error within the parser: an offset and static texts, so that it is cheap to create.
struct JSONFault: Error, Sendable {
  let reason: JSONError.Reason
  let offset: Int
  let expected: StaticString

  init(_ reason: JSONError.Reason, at offset: Int, expected: StaticString) {
    self.reason = reason
    self.offset = offset
    self.expected = expected
  }
}

/// A fault that did not end the parsing, with its entry.
struct JSONNotedFault: Sendable {
  let entry: UInt32
  let fault: JSONFault
}

extension JSONError: LocalizedError {
  /// The message; Foundation and tools that print errors use this property.
  public var errorDescription: String? { description }
}
