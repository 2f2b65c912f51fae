/// A text that is not JSON as RFC 8259 has it, or that exceeds a limit.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, for programs.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Reason: Hashable, Sendable {
    /// Nothing but white space.
    case emptyText
    /// The text ends inside a value.
    case unexpectedEnd
    /// An unexpected byte.
    case unexpectedByte(UInt8)
    /// Something other than white space after the value.
    case trailingContent
    /// A comma with no element or member after it.
    case trailingComma
    /// `NaN` or `Infinity`, which JSON does not have.
    case notFinite
    /// A number with zeros before its first digit.
    case leadingZero
    /// A number that breaks off or has a sign or a point in the wrong place.
    case malformedNumber
    /// A number too large for a double.
    case numberTooLarge
    /// A number that is not zero and that a double would turn into zero.
    case numberTooSmall
    /// An integer that neither `Int64` nor `UInt64` holds.
    case integerOutsideRange
    /// Bytes that are not UTF-8.
    case invalidUTF8
    /// A control character inside a string, which JSON wants escaped.
    case controlCharacter(UInt8)
    /// A backslash followed by none of the escapes.
    case invalidEscape
    /// Half of a surrogate pair.
    case unpairedSurrogate
    /// Two members of an object with equal keys, compared as Swift strings.
    case duplicateKey(String)
    /// More levels than the limit.
    case tooDeep(limit: Int)
    /// More bytes than the limit.
    case tooLong(limit: Int)
    /// More values and keys than the limit.
    case tooManyValues(limit: Int)
  }

  /// What is wrong, for programs.
  public let reason: Reason
  /// The position of the first wrong byte, or of the value that exceeds a limit.
  public let position: JSONPosition
  /// What was expected there, in words.
  public let expected: String

  /// The byte offset in the file, from 0.
  package var offset: Int { position.offset }
  /// The line, from 1.
  package var line: Int { position.line }
  /// The column, from 1, in Unicode scalars.
  package var column: Int { position.column }

  /// One line: where, what was found and what was expected.
  public var description: String {
    "cannot read JSON at \(position): found \(reason.found), expected \(expected)"
  }
}

extension JSONError.Reason {
  /// The words for the fault in a message.
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

/// An error inside the parser: an offset and static texts, so that it is cheap to make.
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

/// A fault that did not end the parsing, and the entry that has it.
struct JSONNotedFault: Sendable {
  let entry: UInt32
  let fault: JSONFault
}
