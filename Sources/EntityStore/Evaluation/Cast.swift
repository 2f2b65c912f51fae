internal import LodestoreFormat

/// Converts values of records for CAST; the result is null if a value cannot be converted.
enum Cast {
  static func value(_ value: DynamicValue, to type: CastType) -> DynamicValue {
    switch type {
    case .integer: return integer(value)
    case .double:
      if let number = value.number { return .double(number.double) }
      return value.string.flatMap(Double.init).map { .double($0) } ?? .null
    case .decimal: return decimal(value)
    case .string: return text(value).map { .string($0) } ?? .null
    case .date:
      if case .date = value { return value }
      if let number = value.number { return .date(number.double) }
      return read(value, .date)
    case .uuid:
      if case .uuid = value { return value }
      return read(value, .uuid)
    case .data:
      switch value {
      case .data, .bytes: return value
      default: return read(value, .data)
      }
    case .json: return value
    }
  }

  private static func integer(_ value: DynamicValue) -> DynamicValue {
    let number =
      value.number
      ?? value.string.flatMap { text in
        Int64(text).map { .integer(Int128($0)) } ?? Double(text).map { .double($0) }
      }
    switch number {
    case .integer?: return number.map { DynamicValue($0) } ?? .null
    case .double(let double)?:
      return Int64(exactly: double.rounded(.towardZero)).map { .integer($0) } ?? .null
    case nil: return .null
    }
  }

  private static func decimal(_ value: DynamicValue) -> DynamicValue {
    if case .decimal = value { return value }
    return (text(value).flatMap { DecimalValue(text: $0) }).map { .decimal($0) } ?? .null
  }

  private static func read(_ value: DynamicValue, _ type: AttributeType) -> DynamicValue {
    value.string.flatMap { Value(text: $0, as: type) }.map { DynamicValue($0) } ?? .null
  }

  private static func text(_ value: DynamicValue) -> String? {
    switch value {
    case .text, .string, .bool, .integer, .unsigned, .double, .decimal, .date, .uuid:
      KeyText.text(of: value.owned)
    case .null, .data, .bytes, .collection, .list: nil
    }
  }
}
