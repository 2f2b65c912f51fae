import Foundation
import LodestoreBytes
import LodestoreFormat

/// The order that keys must have, defined without keys, as the reference for ``KeyOrderTests``.
enum ValueOrder: Int {
  case ascending = -1
  case same = 0
  case descending = 1

  init<T: Comparable>(_ a: T, _ b: T) { self = a < b ? .ascending : a == b ? .same : .descending }

  init<S: Sequence<UInt8>>(bytes a: S, _ b: S) {
    self =
      a.lexicographicallyPrecedes(b)
      ? .ascending : b.lexicographicallyPrecedes(a) ? .descending : .same
  }

  init(_ a: [Value], _ b: [Value]) {
    for (left, right) in zip(a, b) {
      self.init(left, right)
      if self != .same { return }
    }
    self.init(a.count, b.count)
  }

  init(_ a: Value, _ b: Value) {
    switch (a, b) {
    case (.integer(let a), .integer(let b)): self.init(a, b)
    case (.unsigned(let a), .unsigned(let b)): self.init(a, b)
    case (.integer(let a), .unsigned(let b)): self = a < 0 ? .ascending : .init(UInt64(a), b)
    case (.unsigned(let a), .integer(let b)): self = b < 0 ? .descending : .init(a, UInt64(b))
    case (.bool(let a), .bool(let b)): self.init(a ? 1 : 0, b ? 1 : 0)
    case (.double(let a), .double(let b)), (.date(let a), .date(let b)):
      self = a.isNaN || b.isNaN ? .init(a.isNaN ? 1 : 0, b.isNaN ? 1 : 0) : .init(a, b)
    // A text's order is that of its composed form. Swift's `<` (Swift 6.3) gives "ae\u{301}" and
    // "a\u{e9}\0" no order at all.
    case (.string(let a), .string(let b)):
      self.init(
        bytes: a.precomposedStringWithCanonicalMapping.utf8,
        b.precomposedStringWithCanonicalMapping.utf8)
    case (.data(let a), .data(let b)): self.init(bytes: a, b)
    case (.uuid(let a), .uuid(let b)): self.init(bytes: a.bytes, b.bytes)
    case (.decimal(let a), .decimal(let b)): self.init(a, b)
    default: self.init(Self.rank(a), Self.rank(b))
    }
  }

  private init(_ a: DecimalValue, _ b: DecimalValue) {
    let (left, right) = (Self.rank(a), Self.rank(b))
    if left != right || a.isNaN || a.significand == 0 {
      self.init(left, right)
    } else {
      self = a.isNegative ? Self.magnitudes(b, a) : Self.magnitudes(a, b)
    }
  }

  /// Compares by arithmetic, unlike keys, which compare digits: the number with the greater
  /// exponent is scaled up.
  private static func magnitudes(_ a: DecimalValue, _ b: DecimalValue) -> ValueOrder {
    if a.exponent < b.exponent {
      return magnitudes(b, a) == .ascending
        ? .descending : magnitudes(b, a) == .same ? .same : .ascending
    }
    var scaled = a.significand
    for _ in 0..<(Int(a.exponent) - Int(b.exponent)) {
      let (product, overflows) = scaled.multipliedReportingOverflow(by: 10)
      if overflows { return .descending }
      scaled = product
    }
    return ValueOrder(scaled, b.significand)
  }

  private static func rank(_ value: DecimalValue) -> Int {
    value.isNaN ? 3 : value.significand == 0 ? 1 : value.isNegative ? 0 : 2
  }

  private static func rank(_ value: Value) -> Int {
    switch value {
    case .null: 0
    case .data: 1
    case .string: 2
    case .integer, .unsigned: 3
    case .double: 4
    case .bool: 5
    case .uuid: 6
    case .date: 7
    case .decimal: 8
    case .document: 9
    }
  }
}

/// The bytes of the tuple, which is never cut.
func key(_ values: [Value]) throws(FormatError) -> [UInt8] {
  var encoder = KeyEncoder()
  for value in values { try encoder.append(value) }
  return Array(encoder.bytes)
}

func decoded(_ bytes: [UInt8]) throws -> [Value] {
  try bytes._withBytes { buffer in
    var decoder = KeyDecoder(buffer)
    var values: [Value] = []
    while !decoder.isAtEnd { values.append(try decoder.next()) }
    return values
  }
}

/// Values at which an encoding changes its form, or whose order other implementations got wrong.
enum EdgeValues {
  static let all: [Value] =
    [.null, .bool(false), .bool(true)] + integers + doubles.map(Value.double)
    + doubles.map(Value.date) + strings.map(Value.string) + data.map(Value.data)
    + uuids.map(Value.uuid) + decimals.map(Value.decimal)

  static let integers: [Value] = {
    var numbers: Set<Value> = [.integer(0), .integer(.min), .integer(.min + 1), .unsigned(.max)]
    for width in 0..<64 {
      for delta in -1...1 {
        numbers.insert(.integer(unsigned: (1 << width) &+ UInt64(truncatingIfNeeded: delta)))
        if width < 63 { numbers.insert(.integer(-(1 << width) + Int64(delta))) }
      }
    }
    return Array(numbers)
  }()

  static let doubles: [Double] = [
    0, -0.0, 1, -1, 1.5, -1.5, .infinity, -.infinity, .greatestFiniteMagnitude,
    -.greatestFiniteMagnitude, .leastNormalMagnitude, -.leastNormalMagnitude,
    .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .leastNormalMagnitude.nextDown, 1.0.nextUp,
    1.0.nextDown, Double(Float(0.1)), 0.1, .nan, -.nan, .signalingNaN,
    Double(bitPattern: 0x7ff8_0000_0000_0001), Double(bitPattern: 0xffff_ffff_ffff_ffff),
    Double(bitPattern: 0xfff0_0000_0000_0001),
  ]

  static let strings = [
    "", "\0", "\0\0", "\0\u{1}", "\u{1}", "a", "a\0", "a\0a", "a\0\u{ff}", "a\u{1}", "ab", "b", "A",
    "Ångström", "A\u{30a}ngstro\u{308}m", "é", "e\u{301}", "e", "ez", "\u{7f}", "\u{80}", "\u{7ff}",
    "\u{800}", "\u{ffff}", "\u{10000}", "\u{10ffff}", "1234567", "12345678", "123456789",
    "1234567\0", "12345678\0", "123456789012345\0", "\0234567890123456", "12345678901234567890",
    String(repeating: "x", count: 300), String(repeating: "x", count: 300) + "\0",
  ]

  static let data: [[UInt8]] =
    [[], [0], [0, 0], [0, 0xff], [0, 1], [1], [0xff], [0xff, 0], [0xff, 0xff], [0xfe]]
    + [[UInt8](repeating: 0, count: 9), [UInt8](repeating: 0xff, count: 9)]

  static let uuids = [
    UUIDBytes(high: 0, low: 0), UUIDBytes(high: 0, low: 1), UUIDBytes(high: 0, low: .max),
    UUIDBytes(high: 1, low: 0), UUIDBytes(high: 1 << 63, low: 0), UUIDBytes(high: .max, low: .max),
  ]

  static let decimals: [DecimalValue] = {
    let significands: [UInt128] = [
      0, 1, 2, 9, 10, 11, 15, 19, 99, 100, 101, 123_456_789, UInt128(UInt64.max), .max, .max - 1,
      .max / 10,
    ]
    var values = [DecimalValue.nan]
    for exponent: Int16 in [-16_384, -400, -39, -2, -1, 0, 1, 2, 38, 400, 16_344] {
      for significand in significands {
        for isNegative in [false, true] {
          values.append(
            DecimalValue(isNegative: isNegative, exponent: exponent, significand: significand))
        }
      }
    }
    return Array(Set(values))
  }()
}

extension SeededGenerator {
  /// A random value of any indexable kind; difficult values are more frequent than by chance.
  mutating func value() -> Value {
    let bits = next() >> UInt64.random(in: 0..<64, using: &self)
    switch Int.random(in: 0..<10, using: &self) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &self))
    case 2: return .integer(Int64(truncatingIfNeeded: bits))
    case 3: return .integer(0 &- Int64(truncatingIfNeeded: bits))
    case 4: return .integer(unsigned: bits)
    case 5: return Bool.random(using: &self) ? .double(double()) : .date(double())
    case 6: return .string(string())
    case 7: return .data(bytes(upTo: 12))
    case 8: return .uuid(UUIDBytes(high: bits, low: next()))
    default: return .decimal(decimal())
    }
  }

  mutating func double() -> Double {
    switch Int.random(in: 0..<3, using: &self) {
    case 0: Double(bitPattern: next())
    case 1: Double(Int.random(in: -3...3, using: &self)) / 2
    default: EdgeValues.doubles.randomElement(using: &self) ?? 0
    }
  }

  mutating func string() -> String {
    let alphabet = [
      "\0", "\u{1}", "a", "b", "é", "e\u{301}", "e", "\u{ff}", "\u{1ef}", "\u{10ffff}", "😀", "zzzz",
    ]
    let length = Int.random(in: 0...6, using: &self)
    return (0..<length).map { _ in alphabet.randomElement(using: &self) ?? "" }.joined()
  }

  mutating func bytes(upTo limit: Int) -> [UInt8] {
    (0..<Int.random(in: 0...limit, using: &self)).map { _ in
      [0, 1, 0xfe, 0xff, UInt8.random(in: 0...255, using: &self)].randomElement(using: &self) ?? 0
    }
  }

  mutating func decimal() -> DecimalValue {
    let wide = UInt128(next()) << 64 | UInt128(next())
    let significand = wide >> UInt128(Int.random(in: 0..<128, using: &self))
    let exponents: ClosedRange<Int16> =
      Bool.random(using: &self) ? -5...5 : -16_384...(16_383 - 39)
    return DecimalValue(
      isNegative: Bool.random(using: &self), exponent: Int16.random(in: exponents, using: &self),
      significand: significand)
  }
}
