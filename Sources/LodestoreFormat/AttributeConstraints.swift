/// What the values of an attribute must be beyond having its type; null is always allowed.
///
/// See Format.md, "Catalogue".
package struct AttributeConstraints: Sendable, Hashable {
  /// The lowest value, of the attribute's type; null for none.
  package var minimum: Value = .null
  /// The highest value, of the attribute's type; null for none.
  package var maximum: Value = .null
  /// The fewest Unicode scalars of text, or bytes of data.
  package var minLength: Int?
  /// The most Unicode scalars of text, or bytes of data.
  package var maxLength: Int?
  /// A regular expression that the whole text matches.
  package var pattern: String?

  package init() {}

  package var isEmpty: Bool { self == AttributeConstraints() }
  package var hasRange: Bool { minimum != .null || maximum != .null }
  package var hasLength: Bool { minLength != nil || maxLength != nil }

  /// How a value is not in the range.
  package enum RangeBreach: Sendable {
    case tooLow, tooHigh, notANumber
  }

  /// How `value`, which has the type of the bounds, is not between them; `nil` when it is.
  package func breach(of value: Value) -> RangeBreach? {
    if !Self.isInOrder(value, value) { return .notANumber }
    if minimum != .null, !Self.isInOrder(minimum, value) { return .tooLow }
    if maximum != .null, !Self.isInOrder(value, maximum) { return .tooHigh }
    return nil
  }

  /// What makes them useless for attributes of `type`, as a clause; `nil` for nothing.
  ///
  /// Whether the pattern can be read is left to those who match with it.
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

  /// Whether `a` is not above `b`; false for not-a-number.
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
  /// Whether values are numbers or dates, which have a least and a greatest.
  package var hasOrder: Bool { isNumber || self == .date }

  /// Whether values are sequences of scalars or bytes.
  package var hasLength: Bool { self == .string || self == .url || self == .data }
}

extension DecimalValue {
  /// Below zero where `a` is less than `b`, above zero where it is greater; `nil` where one is
  /// not a number.
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
