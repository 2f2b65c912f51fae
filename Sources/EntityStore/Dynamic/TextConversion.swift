package import LodestoreFormat

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// How JSON values, mostly texts, are converted to a type that the user named.
///
/// A text is read exactly or not at all: numbers as JSON spells them, with zeros or a plus in front
/// if need be; `true`, `false`, `1` and `0` in any case of letters; dates in the form given; JSON
/// as its text. A text takes numbers by their digits, and `true` and `false`. What is no text is
/// taken as ``Value/init(_:as:)`` does.
package struct TextConversion: Sendable, Hashable {
  package let type: AttributeType
  /// Of dates; nil for ISO 8601.
  let date: DateForm?
  /// Whether a text that is no JSON becomes a string in an attribute that holds JSON.
  private let takesAnyText: Bool

  package init(to type: AttributeType, date: DateForm? = nil, takesAnyText: Bool = false) {
    self.type = type
    self.date = date
    self.takesAnyText = takesAnyText
  }

  /// The value of `node`; null stays null.
  package func value(_ node: JSONNode) throws(ValueMismatch) -> Value {
    if node.isNull { return .null }
    let text = node.string
    if type == .date, let date {
      if let text = text ?? node.numberText, let seconds = date.seconds(text) {
        return .date(seconds)
      }
      if let exact = ExactJSON.value(node, as: .date) { return exact }
      throw ValueMismatch(description: "must be \(date.words), found \(Value.told(node))")
    }
    guard let text else { return try other(node) }
    switch type {
    case .bool:
      switch text.lowercased() {
      case "true", "1": return .bool(true)
      case "false", "0": return .bool(false)
      default: break
      }
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double,
      .recordID:
      if let number = Self.number(text), let value = try? Value(number, as: type) { return value }
    case .json, .document:
      if let document = try? JSONDocument.parsing(text.utf8) {
        return try Value(document.root, as: type)
      }
      if !takesAnyText {
        throw mismatch(node)
      }
    case .url:
      guard URL(string: text) != nil else { throw mismatch(node) }
    case .date, .uuid, .decimal, .string, .data: break
    }
    guard let value = try? Value(node, as: type) else { throw mismatch(node) }
    return value
  }

  /// For a ``JSONRecordEncoder``.
  var conversion: JSONRecordEncoder.Conversion {
    { (node) throws(ValueMismatch) in try self.value(node) }
  }

  private func other(_ node: JSONNode) throws(ValueMismatch) -> Value {
    if type == .string {
      if let text = node.numberText { return .string(text) }
      if let flag = node.bool { return .string(flag ? "true" : "false") }
    }
    return try Value(node, as: type)
  }

  private func mismatch(_ node: JSONNode) -> ValueMismatch {
    ValueMismatch(description: "must be \(type.expectation), found \(Value.told(node))")
  }

  /// The number that a text is, with the digits that it has.
  private static func number(_ text: String) -> JSONNode? {
    var rest = Array(text.utf8)[...]
    // The parser would take the space around a number.
    guard rest.allSatisfy({ $0 > 0x20 }) else { return nil }
    var sign: [UInt8] = []
    if let first = rest.first, first == 0x2B || first == 0x2D {
      rest.removeFirst()
      if first == 0x2D { sign = [first] }
    }
    while rest.count > 1, rest.first == 0x30, (0x30...0x39).contains(rest[rest.startIndex + 1]) {
      rest.removeFirst()
    }
    guard rest.first.map({ (0x30...0x39).contains($0) }) == true else { return nil }
    let root = try? JSONDocument.parsing(sign + rest, limits: JSONLimits.standard.ofRecords).root
    return root.flatMap { $0.fault == nil ? $0 : nil }
  }
}
