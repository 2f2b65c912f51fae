internal import LodestoreFormat

/// Maps the values of a fixed-width attribute to `Int64` in their order.
///
/// Signed integers are mapped to themselves, unsigned ones with their highest bit flipped.
/// Floating-point numbers and dates are in total order: −0 comes right before 0. Not-a-number is
/// outside the infinities, so no interval of numbers contains it.
enum OrderedNumber {
  @inline(__always)
  static func key(_ number: Double) -> Int64 {
    let bits = Int64(bitPattern: number.bitPattern)
    return bits ^ Int64(bitPattern: UInt64(bitPattern: bits &>> 63) &>> 1)
  }

  @inline(__always)
  static func key(_ number: UInt64) -> Int64 { Int64(bitPattern: number ^ (1 << 63)) }

  static func double(_ key: Int64) -> Double {
    let bits = key ^ Int64(bitPattern: UInt64(bitPattern: key &>> 63) &>> 1)
    return Double(bitPattern: UInt64(bitPattern: bits))
  }

  /// Returns the value that `key` stands for in an attribute of `type`.
  static func value(_ key: Int64, _ type: AttributeType) -> Value {
    switch type {
    case .bool: .bool(key != 0)
    case .uint64: .integer(unsigned: UInt64(bitPattern: key) ^ (1 << 63))
    case .float, .double: .double(double(key))
    case .date: .date(double(key))
    default: .integer(key)
    }
  }

  /// Returns all keys that an attribute of `type` can have, except not-a-number.
  static func all(_ type: AttributeType) -> NumberInterval {
    switch type {
    case .bool: NumberInterval(low: 0, high: 1)
    case .int8: NumberInterval(low: -128, high: 127)
    case .int16: NumberInterval(low: -32_768, high: 32_767)
    case .int32: NumberInterval(low: Int64(Int32.min), high: Int64(Int32.max))
    case .uint8: NumberInterval(low: 0, high: 255)
    case .uint16: NumberInterval(low: 0, high: 65_535)
    case .uint32: NumberInterval(low: 0, high: Int64(UInt32.max))
    case .float, .double, .date: NumberInterval(low: key(-.infinity), high: key(.infinity))
    default: NumberInterval(low: .min, high: .max)
    }
  }
}

extension NumberInterval {
  /// Creates the interval of values for which the comparison with `constant` is true.
  ///
  /// The result is `nil` if an attribute of `type` cannot be compared with such a constant.
  init?(_ operator: Comparison.Operator, _ constant: Value, _ type: AttributeType) {
    switch type {
    case .bool:
      guard let flag = Self.flag(constant) else { return nil }
      self.init(`operator`, Int128(flag), type)
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .recordID:
      switch constant {
      case .integer(let number): self.init(`operator`, Int128(number), type)
      case .unsigned(let number): self.init(`operator`, Int128(number), type)
      case .double(let number): self.init(`operator`, double: number, integers: type)
      case .decimal(let number): self.init(`operator`, double: number.nearestDouble, integers: type)
      default: return nil
      }
    case .float, .double:
      switch constant {
      case .double(let number): self.init(`operator`, number, type)
      case .integer(let number): self.init(`operator`, integer: Int128(number), type)
      case .unsigned(let number): self.init(`operator`, integer: Int128(number), type)
      case .decimal(let number): self.init(`operator`, number.nearestDouble, type)
      default: return nil
      }
    case .date:
      guard case .date(let seconds) = constant else { return nil }
      self.init(`operator`, seconds, type)
    default: return nil
    }
  }

  private static func flag(_ constant: Value) -> Int? {
    switch constant {
    case .bool(let flag): flag ? 1 : 0
    case .integer(0): 0
    case .integer(1): 1
    default: nil
    }
  }

  /// Compares an integer attribute with an integer, exactly.
  private init(_ operator: Comparison.Operator, _ constant: Int128, _ type: AttributeType) {
    let all = OrderedNumber.all(type)
    let bias: Int128 = type == .uint64 ? 1 << 63 : 0
    var low = Int128(all.low)
    var high = Int128(all.high)
    let key = constant - bias
    switch `operator` {
    case .equal:
      low = max(low, key)
      high = min(high, key)
    case .less: high = min(high, key - 1)
    case .lessOrEqual: high = min(high, key)
    case .greater: low = max(low, key + 1)
    case .greaterOrEqual: low = max(low, key)
    default: high = low - 1
    }
    guard low <= high, let low = Int64(exactly: low), let high = Int64(exactly: high) else {
      self = .empty
      return
    }
    self.init(low: low, high: high)
  }

  /// Compares an integer attribute with a number that may have a fraction.
  private init(_ operator: Comparison.Operator, double: Double, integers type: AttributeType) {
    guard !double.isNaN else {
      self = .empty
      return
    }
    let clamped = min(max(double, -1e30), 1e30)
    let below = Int128(clamped.rounded(.down))
    let isWhole = clamped.rounded(.down) == clamped
    switch `operator` {
    case .equal:
      guard isWhole else {
        self = .empty
        return
      }
      self.init(.equal, below, type)
    case .less: self.init(isWhole ? .less : .lessOrEqual, below, type)
    case .greaterOrEqual: self.init(isWhole ? .greaterOrEqual : .greater, below, type)
    default: self.init(`operator`, below, type)
    }
  }

  /// Compares a floating-point attribute or a date with a double.
  private init(_ operator: Comparison.Operator, _ constant: Double, _ type: AttributeType) {
    guard !constant.isNaN else {
      self = .empty
      return
    }
    let all = OrderedNumber.all(type)
    // −0 and 0 are equal, but have two keys.
    let low = constant == 0 ? -1 : OrderedNumber.key(constant)
    let high = constant == 0 ? 0 : low
    switch `operator` {
    case .equal: self.init(low: low, high: high)
    case .less: self.init(low: all.low, high: low - 1)
    case .lessOrEqual: self.init(low: all.low, high: high)
    case .greater: self.init(low: high + 1, high: all.high)
    case .greaterOrEqual: self.init(low: low, high: all.high)
    default: self = .empty
    }
  }

  /// Compares a floating-point attribute with an integer that a double may not hold exactly.
  private init(_ operator: Comparison.Operator, integer: Int128, _ type: AttributeType) {
    let nearest = Double(integer)
    let rounded = Int128(nearest)
    if rounded == integer {
      self.init(`operator`, nearest, type)
      return
    }
    // No double lies between the integer and `rounded`, the double nearest to it.
    let isAbove = rounded > integer
    switch `operator` {
    case .less, .lessOrEqual: self.init(isAbove ? .less : .lessOrEqual, nearest, type)
    case .greater, .greaterOrEqual: self.init(isAbove ? .greaterOrEqual : .greater, nearest, type)
    default: self = .empty
    }
  }
}
