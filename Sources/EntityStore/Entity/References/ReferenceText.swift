internal import LodestoreEssentials
internal import LodestoreFormat
internal import LodestoreJSON

/// The text form of a reference whose key has several attributes: a JSON array with one element for
/// each.
///
/// Each key has exactly one text, because indexes, unique keys and conditions compare the texts.
/// Booleans, integers and finite doubles are JSON values. A date is ISO 8601 text if this text
/// reads back as the same date, and the number of seconds since 2001 otherwise. All other values
/// are strings: texts and URLs themselves, UUIDs in capitals, decimals in digits, data in Base64,
/// and `inf`, `-inf` and `nan`.
enum ReferenceText {
  static func text(_ values: [Value]) -> String {
    var writer = JSONWriter()
    writer.beginArray()
    for value in values { write(value, to: &writer) }
    writer.endArray()
    return writer.text
  }

  private static func write(_ value: Value, to writer: inout JSONWriter) {
    switch value {
    case .null, .document: writer.null()
    case .bool(let flag): writer.bool(flag)
    case .integer(let number): writer.integer(number)
    case .unsigned(let number): writer.unsigned(number)
    case .double(let number): write(number, to: &writer)
    case .date(let seconds):
      let text = ISO8601Text.text(Date(timeIntervalSinceReferenceDate: seconds))
      if let text, date(text) == seconds {
        writer.string(text)
      } else {
        write(seconds, to: &writer)
      }
    case .uuid(let uuid): writer.string(uuid.text)
    case .decimal(let decimal): writer.string(decimal.text)
    case .string(let text): writer.string(text)
    case .data(let bytes): writer.string(Data(bytes).base64EncodedString())
    }
  }

  private static func write(_ number: Double, to writer: inout JSONWriter) {
    // The writer refuses only numbers that are not finite, before it writes anything.
    do { try writer.double(number) } catch { writer.string(number.description) }
  }

  private static func date(_ text: String) -> Double? {
    ISO8601Text.date(text)?.timeIntervalSinceReferenceDate
  }

  // MARK: Reading

  /// Returns the values in `text`; `nil` when the text is not an array of values of `types`.
  static func values(_ text: String, _ types: [AttributeType]) -> [Value]? {
    guard case .array(let elements)? = try? JSONValue(parsing: text), elements.count == types.count
    else { return nil }
    var values: [Value] = []
    values.reserveCapacity(elements.count)
    for (element, type) in zip(elements, types) {
      guard let value = value(element, type), value.fits(type) else { return nil }
      values.append(value)
    }
    return values
  }

  private static func value(_ element: JSONValue, _ type: AttributeType) -> Value? {
    switch (type, element) {
    case (.bool, .bool(let flag)): .bool(flag)
    case (.double, _), (.float, _): number(element).map { .double($0) }
    case (.date, .string(let text)): (date(text) ?? Double(text)).map { .date($0) }
    case (.date, _): number(element).map { .date($0) }
    case (.uuid, .string(let text)): UUIDBytes(text: text).map { .uuid($0) }
    case (.decimal, .string(let text)): DecimalValue(text: text).map { .decimal($0) }
    case (.data, .string(let text)): Data(base64Encoded: text).map { .data(Array($0)) }
    case (.string, .string(let text)), (.url, .string(let text)): .string(text)
    case (_, .integer(let number)): .integer(number)
    case (_, .unsigned(let number)): .integer(unsigned: number)
    default: nil
    }
  }

  private static func number(_ element: JSONValue) -> Double? {
    if case .string(let text) = element { Double(text) } else { element.doubleValue }
  }
}
