/// What a derived attribute makes of the values of related records.
///
/// See Format.md, "Derived attributes".
package struct DerivedAggregate {
  private let kind: DerivationDescription.Kind
  private let type: AttributeType
  private var count: Int64 = 0
  /// How many values were not null.
  private var presentCount: Int64 = 0
  private var integer: Int128 = 0
  private var double: Double = 0
  /// `nil` once it cannot be told exactly.
  private var decimal: DecimalValue? = .zero
  private var extreme: Value = .null
  /// The sum of the magnitudes, which says how far a sum of floating point numbers may be off.
  package private(set) var magnitude: Double = 0

  /// - Parameter type: of the derived attribute.
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

  /// The value of the derived attribute; `nil` where it does not fit its type.
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
  /// Whether `stored` may stand for `expected`, which is the ``result``.
  ///
  /// A sum of doubles is kept by differences, so its last digits may differ; sums of floats are not
  /// kept so.
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
  /// Whether two values are equal as derived values: zeros are, and all that are not numbers; texts
  /// are by their bytes.
  package func isSame(as other: Value) -> Bool {
    switch (self, other) {
    case (.double(let a), .double(let b)), (.date(let a), .date(let b)):
      a == b || a.isNaN && b.isNaN
    // Texts that are canonically equivalent are equal in Swift.
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
  /// The number, or the one not-a-number that derived attributes have: ∞ − ∞ has a sign on some
  /// processors.
  fileprivate var withPlainNaN: Double { isNaN ? .nan : self }
}

extension Value {
  /// The value as a minimum or maximum: one zero and one not-a-number stand for all that are equal.
  package var asExtreme: Value {
    switch self {
    case .double(let number): .double(number == 0 ? 0 : number.withPlainNaN)
    case .date(let number): .date(number == 0 ? 0 : number.withPlainNaN)
    default: self
    }
  }

  /// Whether it is before `other` in the order of indexes, or equal there with lower bytes.
  ///
  /// So the minimum does not depend on the order in which texts come that are canonically
  /// equivalent.
  package func isLess(than other: Value) throws(FormatError) -> Bool {
    if try precedes(other) { return true }
    guard case .string(let text) = self, case .string(let otherText) = other,
      try !other.precedes(self)
    else { return false }
    return text.utf8.lexicographicallyPrecedes(otherText.utf8)
  }

  /// Whether it is before `other` in the order of indexes.
  package func precedes(_ other: Value) throws(FormatError) -> Bool {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): return a < b
    case (.double(let a), .double(let b)), (.date(let a), .date(let b)):
      // Not-a-number is last.
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

  /// The exact sum; `nil` where it has more digits than a decimal holds.
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

  /// The significand for a lower exponent.
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
