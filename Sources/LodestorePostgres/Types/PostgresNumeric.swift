internal import LodestoreBytes

/// A decimal number: ± significand × 10^exponent, without trailing zeros in the significand.
struct PostgresNumeric: Sendable, Hashable {
  var isNegative = false
  var isNaN = false
  var exponent = 0
  var significand: UInt128 = 0

  /// The largest number of digits.
  static let mostDigits = 38

  static let nan = PostgresNumeric(isNaN: true)

  /// Reads the binary form of `numeric`; throws the reason as a text.
  init(_ bytes: ByteView) throws(ValueRefusal) {
    var reader = MessageReader(bytes, "a numeric")
    let fields: (count: Int, weight: Int, sign: UInt16)
    do throws(PostgresError) {
      let count = Int(try reader.int16())
      let weight = Int(try reader.int16())
      let sign = UInt16(bitPattern: try reader.int16())
      _ = try reader.int16()
      fields = (count, weight, sign)
    } catch { throw .malformed }
    guard fields.count >= 0, reader.remaining == fields.count * 2 else { throw .malformed }
    let digits = bytes[(bytes.count - fields.count * 2)...]
    switch fields.sign {
    case 0, 0x4000: self.init(isNegative: fields.sign != 0)
    case 0xC000:
      self = .nan
      return
    case 0xD000, 0xF000: throw .refused("is infinite; a decimal has no infinity")
    default: throw .malformed
    }
    try setDigits(digits, weight: fields.weight)
  }

  /// Sets the significand and the exponent from groups of four digits.
  ///
  /// - Parameter weight: The number of groups before the decimal point, less one.
  private mutating func setDigits(_ bytes: ByteView, weight: Int) throws(ValueRefusal) {
    func group(_ position: Int) -> UInt16 {
      UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: position * 2, as: UInt16.self))
    }
    var count = bytes.count / 2
    for position in 0..<count where group(position) >= 10_000 { throw .malformed }
    while count > 0, group(count - 1) == 0 { count -= 1 }
    guard count > 0 else {
      isNegative = false
      return
    }
    // Zeros at the end of the last group are no digits of the number.
    var last = group(count - 1)
    var digits = 4
    while last % 10 == 0 {
      last /= 10
      digits -= 1
    }
    exponent = (weight - count + 1) * 4 + 4 - digits
    let scale: UInt128 =
      switch digits {
      case 1: 10
      case 2: 100
      case 3: 1_000
      default: 10_000
      }
    for position in 0..<count - 1 { try append(UInt128(group(position)), 10_000) }
    try append(UInt128(last), scale)
    guard significand < Self.limit else { throw Self.tooManyDigits }
  }

  init(isNegative: Bool = false, isNaN: Bool = false, exponent: Int = 0, significand: UInt128 = 0) {
    self.isNegative = isNegative
    self.isNaN = isNaN
    self.exponent = exponent
    self.significand = significand
  }

  private static let tooManyDigits = ValueRefusal.refused(
    "has more than \(mostDigits) digits; a decimal has at most \(mostDigits)")
  /// The first number with more digits: 10^38.
  private static let limit = (0..<mostDigits).reduce(UInt128(1)) { product, _ in product * 10 }

  private mutating func append(_ group: UInt128, _ scale: UInt128) throws(ValueRefusal) {
    let (product, isTooLarge) = significand.multipliedReportingOverflow(by: scale)
    let (sum, overflows) = product.addingReportingOverflow(group)
    if isTooLarge || overflows { throw Self.tooManyDigits }
    significand = sum
  }

  /// Appends the binary form of `numeric`; throws when the number is out of the server's range.
  func append(to bytes: inout [UInt8]) throws(ValueRefusal) {
    if isNaN {
      for field in [0, 0, 0xC000, 0] as [UInt16] { bytes.appendBigEndian(field) }
      return
    }
    // Groups of four digits begin at the decimal point.
    let shift = ((exponent % 4) + 4) % 4
    var rest = significand
    var groups: [UInt16] = []
    if rest > 0 {
      // The lowest group takes fewer digits, so that the product cannot overflow.
      let low: UInt128 = [10_000, 1_000, 100, 10][shift]
      let factor: UInt128 = [1, 10, 100, 1_000][shift]
      groups.append(UInt16((rest % low) * factor))
      rest /= low
    }
    while rest > 0 {
      groups.append(UInt16(rest % 10_000))
      rest /= 10_000
    }
    let weight = (exponent - shift) / 4 + groups.count - 1
    let places = Swift.max(0, -exponent)
    guard Int16(exactly: weight) != nil, places <= 16_383 else {
      throw .refused("is out of the range of numeric")
    }
    bytes.appendBigEndian(Int16(truncatingIfNeeded: groups.count))
    bytes.appendBigEndian(Int16(truncatingIfNeeded: groups.isEmpty ? 0 : weight))
    bytes.appendBigEndian(UInt16(isNegative ? 0x4000 : 0))
    bytes.appendBigEndian(Int16(truncatingIfNeeded: places))
    for group in groups.reversed() { bytes.appendBigEndian(group) }
  }

  /// The digits in plain notation, or in scientific notation where that would have many zeros.
  var text: String {
    if isNaN { return "NaN" }
    let sign = isNegative ? "-" : ""
    let digits = "\(significand)"
    if exponent == 0 { return sign + digits }
    guard (-mostZeros...mostZeros).contains(exponent) else { return "\(sign)\(digits)e\(exponent)" }
    if exponent > 0 { return sign + digits + String(repeating: "0", count: exponent) }
    let missing = Swift.max(0, 1 - exponent - digits.count)
    let all = String(repeating: "0", count: missing) + digits
    return "\(sign)\(all.dropLast(-exponent)).\(all.suffix(-exponent))"
  }

  private var mostZeros: Int { 40 }
}

/// The reason for which a value cannot be taken.
enum ValueRefusal: Error, Equatable {
  /// The bytes do not have the form of the type.
  case malformed
  case refused(String)

  var reason: String {
    switch self {
    case .malformed: "does not have the binary form of its type"
    case .refused(let reason): reason
    }
  }
}
