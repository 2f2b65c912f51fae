package import LodestoreFormat

/// How JSON values, mostly texts, are converted to a type that the user named.
///
/// Dates are read in the form given, other types as by `Value(textOrValue:as:takesAnyText:)`.
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
    if type == .date, let date {
      if let text = node.string ?? node.numberText, let seconds = date.seconds(text) {
        return .date(seconds)
      }
      if let exact = ExactJSON.value(node, as: .date) { return exact }
      throw ValueMismatch(description: "must be \(date.words), found \(Value.told(node))")
    }
    return try Value(textOrValue: node, as: type, takesAnyText: takesAnyText)
  }

  /// For a ``JSONRecordEncoder``.
  var conversion: JSONRecordEncoder.Conversion {
    { (node) throws(ValueMismatch) in try self.value(node) }
  }
}
