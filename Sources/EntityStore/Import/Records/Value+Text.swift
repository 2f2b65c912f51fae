internal import LodestoreEssentials
internal import LodestoreFormat

extension Value {
  /// Reads a value of a file of texts, such as separated values, as a value of `type`.
  ///
  /// A text is read exactly or not at all:
  /// - numbers as in JSON, also with leading zeros, with a plus sign, and as `.5`;
  /// - `true`, `false`, `1` and `0`, in upper or lower case;
  /// - JSON as its text.
  ///
  /// A text attribute takes numbers with their digits, and `true` and `false`. A value that is not
  /// a text is read as by ``init(_:as:)``.
  ///
  /// - Parameter takesAnyText: whether invalid JSON text becomes a string in an attribute that
  ///   holds JSON.
  init(
    textOrValue node: JSONNode, as type: AttributeType, takesAnyText: Bool
  ) throws(ValueMismatch) {
    guard let text = node.string else {
      if let text = Self.text(of: node, type) {
        self = text
      } else {
        self = try Value(node, as: type)
      }
      return
    }
    let mismatch = ValueMismatch(
      description: "must be \(type.expectation), found \(Value.messageText(node))")
    switch type {
    case .bool:
      switch text.lowercased() {
      case "true", "1":
        self = .bool(true)
        return
      case "false", "0":
        self = .bool(false)
        return
      default: break
      }
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double,
      .recordID:
      if let number = Self.number(text), let value = try? Value(number, as: type) {
        self = value
        return
      }
    case .json, .document:
      if let document = try? JSONDocument.parsing(text.utf8) {
        self = try Value(document.root, as: type)
        return
      }
      guard takesAnyText else { throw mismatch }
    case .url:
      guard URL(string: text) != nil else { throw mismatch }
    case .date, .uuid, .decimal, .string, .data: break
    }
    guard let value = try? Value(node, as: type) else { throw mismatch }
    self = value
  }

  /// The text of a number or Boolean for a text attribute; `nil` for other values.
  private static func text(of node: JSONNode, _ type: AttributeType) -> Value? {
    guard type == .string else { return nil }
    if let text = node.numberText { return .string(text) }
    return node.bool.map { .string($0 ? "true" : "false") }
  }

  /// The number in a text, with its original digits.
  private static func number(_ text: String) -> JSONNode? {
    var rest = Array(text.utf8)[...]
    // The parser would accept space around a number, which is refused here.
    guard rest.allSatisfy({ $0 > 0x20 }) else { return nil }
    var sign: [UInt8] = []
    if let first = rest.first, first == 0x2B || first == 0x2D {
      rest.removeFirst()
      if first == 0x2D { sign = [first] }
    }
    while rest.count > 1, rest.first == 0x30, (0x30...0x39).contains(rest[rest.startIndex + 1]) {
      rest.removeFirst()
    }
    if rest.first == 0x2E { sign.append(0x30) }
    guard rest.first.map({ (0x30...0x39).contains($0) || $0 == 0x2E }) == true else { return nil }
    let root = try? JSONDocument.parsing(sign + rest, limits: JSONLimits.standard.ofRecords).root
    return root.flatMap { $0.fault == nil ? $0 : nil }
  }
}
