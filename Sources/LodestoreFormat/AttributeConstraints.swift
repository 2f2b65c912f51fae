/// Conditions on the values of an attribute beyond their type; null always fulfils them.
///
/// See Format.md, "Catalogue".
package struct AttributeConstraints: Sendable, Hashable {
  /// The lowest allowed value, of the attribute's type; null for no bound.
  package var minimum: Value = .null
  /// The highest allowed value, of the attribute's type; null for no bound.
  package var maximum: Value = .null
  /// The minimum number of Unicode scalars of text, or of bytes of data.
  package var minLength: Int?
  /// The maximum number of Unicode scalars of text, or of bytes of data.
  package var maxLength: Int?
  /// A regular expression that must match the whole text.
  package var pattern: String?

  package init() {}

  package var isEmpty: Bool { self == AttributeConstraints() }
  package var hasRange: Bool { minimum != .null || maximum != .null }
  package var hasLength: Bool { minLength != nil || maxLength != nil }

  /// The way in which a value is outside the range.
  package enum RangeBreach: Sendable {
    case tooLow, tooHigh, notANumber
  }

  /// Returns how `value` is outside the bounds; `nil` if it is within them.
  ///
  /// The value must have the type of the bounds.
  package func breach(of value: Value) -> RangeBreach? {
    if !Self.isInOrder(value, value) { return .notANumber }
    if minimum != .null, !Self.isInOrder(minimum, value) { return .tooLow }
    if maximum != .null, !Self.isInOrder(value, maximum) { return .tooHigh }
    return nil
  }

  /// Returns why these constraints cannot apply to attributes of `type`, as a clause; `nil` if they
  /// can.
  ///
  /// The pattern's syntax is not checked here, but when values are matched against the pattern.
  package func fault(for type: AttributeType) -> String? {
    if hasRange, !type.hasOrder { return "has a range, which \(type.name) has not" }
    if hasLength, !type.hasLength { return "has a limit of length, which \(type.name) has not" }
    if pattern != nil, type != .string { return "has a pattern, which is for string alone" }
    for bound in [minimum, maximum] where bound != .null {
      guard bound.fits(type) else { return "has a bound that is no \(type.name)" }
      guard Self.isInOrder(bound, bound) else { return "has a bound that is not a number" }
    }
    if minimum != .null, maximum != .null, !Self.isInOrder(minimum, maximum) {
      return "has a minimum above its maximum"
    }
    if let least = [minLength, maxLength].compactMap(\.self).min(), least < 0 {
      return "has a limit of length below zero"
    }
    if let minLength, let maxLength, minLength > maxLength {
      return "has a minLength above its maxLength"
    }
    return nil
  }

  /// Whether `a` is less than or equal to `b`; false if one is not-a-number.
  private static func isInOrder(_ a: Value, _ b: Value) -> Bool {
    switch (a, b) {
    case (.integer(let x), .integer(let y)): x <= y
    case (.unsigned(let x), .unsigned(let y)): x <= y
    case (.integer, .unsigned): true
    case (.double(let x), .double(let y)), (.date(let x), .date(let y)): x <= y
    case (.decimal(let x), .decimal(let y)): DecimalValue.order(x, y).map { $0 <= 0 } ?? false
    default: false
    }
  }
}

extension AttributeType {
  /// Whether values are numbers or dates, so that a range can bound them.
  package var hasOrder: Bool { isNumber || self == .date }

  /// Whether values are sequences of scalars or bytes, so that a length can bound them.
  package var hasLength: Bool { self == .string || self == .url || self == .data }
}

extension DecimalValue {
  /// Compares two numbers: negative if `a` is less, positive if it is greater, zero if they are
  /// equal; `nil` if one is not-a-number.
  package static func order(_ a: DecimalValue, _ b: DecimalValue) -> Int? {
    if a.isNaN || b.isNaN { return nil }
    if a == b { return 0 }
    var left = KeyEncoder()
    var right = KeyEncoder()
    left.append(a)
    right.append(b)
    return left.bytes.lexicographicallyPrecedes(right.bytes) ? -1 : 1
  }
}
