internal import LodestoreFormat

/// Converts values to another type, exactly or not at all.
struct ExactConversion {
  private let type: AttributeType
  private let texts: TextConversion

  init(to type: AttributeType, dates: String?) throws {
    self.type = type
    do {
      texts = TextConversion(to: type, date: try dates.map { try DateForm($0) })
    } catch let error as ValueMismatch {
      throw StoreError(
        .incompatibleSchema,
        "cannot convert to \(type.name): the form of dates '\(dates ?? "")' \(error.description)")
    }
  }

  /// Returns the value of the new type that equals `value`; `nil` when the type has no such value.
  func value(_ value: Value) -> Value? {
    if value == .null { return .null }
    if value.fits(type) { return value }
    let converted: Value? =
      switch (value, type) {
      case (.string(let text), _): fromText(text)
      case (_, .string): text(of: value)
      case (.bool(let flag), _): .integer(flag ? 1 : 0)
      case (.integer(let number), .bool): number == 0 || number == 1 ? .bool(number == 1) : nil
      case (.integer(let number), .double), (.integer(let number), .float):
        Int64(exactly: Double(number)) == number ? .double(Double(number)) : nil
      case (.unsigned(let number), .double), (.unsigned(let number), .float):
        UInt64(exactly: Double(number)) == number ? .double(Double(number)) : nil
      case (.integer, .decimal), (.unsigned, .decimal):
        DecimalValue(text: KeyText.text(of: value)).map { .decimal($0) }
      case (.double(let number), .decimal):
        DecimalValue(text: number.description).map { .decimal($0) }
      case (.double(let number), _): Int64(exactly: number).map { .integer($0) }
      case (.decimal(let number), .double):
        DecimalValue(text: number.nearestDouble.description) == number
          ? .double(number.nearestDouble) : nil
      case (.decimal(let number), _): Int64(number.text).map { .integer($0) }
      default: nil
      }
    return converted.flatMap { $0.fits(type) ? $0 : nil }
  }

  /// Returns a text that reads back as an equal value.
  private func text(of value: Value) -> Value? {
    switch value {
    case .data, .document, .null: return nil
    case .double(let number) where !number.isFinite: return nil
    default: break
    }
    let text = KeyText.text(of: value)
    if case .date(let seconds) = value {
      guard let back = try? TextConversion(to: .date).value(Self.node(text)), back == .date(seconds)
      else { return nil }
    }
    return .string(text)
  }

  private func fromText(_ text: String) -> Value? { try? texts.value(Self.node(text)) }

  private static func node(_ text: String) throws -> JSONNode {
    try JSONDocument.parsing(JSONValue.string(text).description.utf8).root
  }
}
