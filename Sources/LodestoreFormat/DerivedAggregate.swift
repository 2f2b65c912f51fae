/// Accumulates values of related records into the value of a derived attribute.
///
/// See Format.md, "Derived attributes".
package struct DerivedAggregate {
  private let kind: DerivationDescription.Kind
  private let type: AttributeType
  private var count: Int64 = 0
  /// The number of values that were not null.
  private var presentCount: Int64 = 0
  private var integer: Int128 = 0
  private var double: Double = 0
  /// The exact sum; `nil` once it has more digits than a decimal holds.
  private var decimal: DecimalValue? = .zero
  private var extreme: Value = .null
  /// The sum of the magnitudes, from which the possible error of a floating-point sum is
  /// calculated.
  package private(set) var magnitude: Double = 0

  /// - Parameter type: The type of the derived attribute.
  package init(_ kind: DerivationDescription.Kind, type: AttributeType) {
    self.kind = kind
    self.type = type
  }

  /// Adds the value of one related record.
  package mutating func add(_ value: Value) throws(FormatError) {
    count += 1
    guard value != .null else { return }
    presentCount += 1
    switch kind {
    case .sum, .average:
      switch value {
      case .integer(let number):
        integer += Int128(number)
        double += Double(number)
      case .unsigned(let number):
        integer += Int128(number)
        double += Double(number)
      case .double(let number):
        double += number
        magnitude += number.magnitude
      case .decimal(let number):
        decimal = decimal?.adding(number)
        double += number.nearestDouble
      default: break
      }
    case .minimum, .maximum: try take(value.asExtreme)
    case .copy: extreme = value
    default: break
    }
  }

  private mutating func take(_ value: Value) throws(FormatError) {
    if extreme == .null {
      extreme = value
    } else if try kind == .minimum ? value.isLess(than: extreme) : extreme.isLess(than: value) {
      extreme = value
    }
  }

  /// The value of the derived attribute; `nil` if it does not fit the attribute's type.
  package var result: Value? {
    switch kind {
    case .count: return .integer(count)
    case .average:
      return presentCount == 0 ? .null : .double((double / Double(presentCount)).withPlainNaN)
    case .minimum, .maximum, .copy: return extreme
    case .sum:
      let sum: Value
      switch type {
      case .double: sum = .double(double.withPlainNaN)
      case .float: sum = .double(Double(Float(double)).withPlainNaN)
      case .decimal:
        guard let decimal else { return nil }
        sum = .decimal(decimal)
      default:
        if let number = Int64(exactly: integer) {
          sum = .integer(number)
        } else if let number = UInt64(exactly: integer) {
          sum = .unsigned(number)
        } else {
          return nil
        }
      }
      return sum.fits(type) ? sum : nil
    default: return nil
    }
  }
}

extension DerivedAggregate {
  /// Whether `stored` is an acceptable value if the ``result`` is `expected`.
  ///
  /// The store updates a sum of doubles by differences, so its last digits may differ. Sums of
  /// floats are recomputed and must be equal.
  package func admits(_ stored: Value, for expected: Value) -> Bool {
    if stored.isSame(as: expected) { return true }
    switch (kind, stored, expected) {
    case (.minimum, _, _), (.maximum, _, _): return stored.isEqualInIndex(to: expected)
    case (.sum, .double(let a), .double(let b)) where type == .double:
      return (a - b).magnitude <= magnitude * 1e-6
    default: return false
    }
  }
}

extension Value {
  /// Whether two derived values are equal.
  ///
  /// The two zeros are equal, and so are all not-a-number values. Texts are compared by their
  /// bytes.
  package func isSame(as other: Value) -> Bool {
    switch (self, other) {
    case (.double(let a), .double(let b)), (.date(let a), .date(let b)):
      a == b || a.isNaN && b.isNaN
    // Swift's `==` also accepts texts that are only canonically equivalent.
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    default: self == other
    }
  }

  fileprivate func isEqualInIndex(to other: Value) -> Bool {
    guard self != .null, other != .null else { return false }
    var key = KeyEncoder()
    var otherKey = KeyEncoder()
    guard (try? key.append(self)) != nil, (try? otherKey.append(other)) != nil else { return false }
    return key.bytes.elementsEqual(otherKey.bytes)
  }
}

extension Double {
  /// The number, with every not-a-number replaced by the one that derived attributes use.
  ///
  /// ∞ − ∞ has a sign on some processors.
  fileprivate var withPlainNaN: Double { isNaN ? .nan : self }
}

extension Value {
  /// The value as a minimum or maximum.
  ///
  /// Both zeros have one form, and every not-a-number has one form.
  package var asExtreme: Value {
    switch self {
    case .double(let number): .double(number == 0 ? 0 : number.withPlainNaN)
    case .date(let number): .date(number == 0 ? 0 : number.withPlainNaN)
    default: self
    }
  }

  /// Whether the value comes before `other` in index order, or is equal there and has lower bytes.
  ///
  /// The second condition makes the minimum of canonically equivalent texts independent of the
  /// order of the records.
  package func isLess(than other: Value) throws(FormatError) -> Bool {
    if try precedes(other) { return true }
    guard case .string(let text) = self, case .string(let otherText) = other,
      try !other.precedes(self)
    else { return false }
    return text.utf8.lexicographicallyPrecedes(otherText.utf8)
  }

  /// Whether the value comes before `other` in index order.
  package func precedes(_ other: Value) throws(FormatError) -> Bool {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): return a < b
    case (.double(let a), .double(let b)), (.date(let a), .date(let b)):
      // Not-a-number comes last.
      return a < b || b.isNaN && !a.isNaN
    default:
      var key = KeyEncoder()
      var otherKey = KeyEncoder()
      try key.append(self)
      try otherKey.append(other)
      return key.bytes.lexicographicallyPrecedes(otherKey.bytes)
    }
  }
}

extension DecimalValue {
  package static let zero = DecimalValue(isNegative: false, exponent: 0, significand: 0)

  /// The exact sum; `nil` if it has more digits than a decimal holds.
  package func adding(_ other: DecimalValue) -> DecimalValue? {
    if isNaN || other.isNaN { return .nan }
    if significand == 0 { return other }
    if other.significand == 0 { return self }
    let lowest = min(exponent, other.exponent)
    guard let a = scaled(to: lowest), let b = other.scaled(to: lowest) else { return nil }
    if isNegative == other.isNegative {
      let (sum, overflow) = a.addingReportingOverflow(b)
      return overflow
        ? nil : DecimalValue(isNegative: isNegative, exponent: lowest, significand: sum)
    }
    return a >= b
      ? DecimalValue(isNegative: isNegative, exponent: lowest, significand: a - b)
      : DecimalValue(isNegative: other.isNegative, exponent: lowest, significand: b - a)
  }

  package var negated: DecimalValue {
    isNaN
      ? self : DecimalValue(isNegative: !isNegative, exponent: exponent, significand: significand)
  }

  /// The significand rescaled to a lower exponent; `nil` if it overflows.
  private func scaled(to lower: Int16) -> UInt128? {
    var result = significand
    for _ in 0..<(Int(exponent) - Int(lower)) {
      let (product, overflow) = result.multipliedReportingOverflow(by: 10)
      if overflow { return nil }
      result = product
    }
    return result
  }
}
