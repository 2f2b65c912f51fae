package import LodestoreFormat

/// The conversion of JSON values, mostly texts, to a type that the user named.
///
/// Dates are read in the given form, other types as by `Value(textOrValue:as:takesAnyText:)`.
package struct TextConversion: Sendable, Hashable {
  package let type: AttributeType
  /// The form of dates; nil for ISO 8601.
  let date: DateForm?
  /// Whether invalid JSON text becomes a string in an attribute that holds JSON.
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
      throw ValueMismatch(description: "must be \(date.words), found \(Value.messageText(node))")
    }
    return try Value(textOrValue: node, as: type, takesAnyText: takesAnyText)
  }

  /// The conversion for a ``JSONRecordEncoder``.
  var conversion: JSONRecordEncoder.Conversion {
    { (node) throws(ValueMismatch) in try self.value(node) }
  }
}
