internal import LodestoreFormat

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The state of an aggregate; null and not-a-number are left out.
struct GroupTotal {
  private var count = 0
  private var integers: Int128 = 0
  private var doubles = 0.0
  private var decimals = Decimal.zero
  private var hasDouble = false
  private var hasDecimal = false
  private var extreme = Value.null

  mutating func add(_ value: DynamicValue, _ function: GroupTerm.Function) throws {
    if value.isNull { return }
    switch function {
    case .count: count += 1
    case .sum, .average: add(value)
    case .min: try keep(value, -1)
    case .max: try keep(value, 1)
    }
  }

  /// Adds the number with `word` to a count, a sum or an average.
  @inline(__always)
  mutating func add(_ word: UInt64, _ kind: WordSlot.Kind, _ function: GroupTerm.Function) {
    switch kind {
    case .float, .double, .date:
      let number = OrderedWord.double(word)
      guard function != .count else { break }
      if number.isNaN { return }
      hasDouble = true
      doubles += number
    case .bool, .uint64: integers += Int128(word)
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
      integers += Int128(OrderedWord.integer(word))
    }
    count += 1
  }

  private mutating func add(_ value: DynamicValue) {
    if case .decimal(let stored) = value, let decimal = Decimal(stored), !decimal.isNaN {
      hasDecimal = true
      decimals += decimal
      count += 1
      return
    }
    switch value.number {
    case .integer(let number)?:
      // The sum of 2^64 numbers of 64 bits fits.
      integers += number
      count += 1
    case .double(let number)? where !number.isNaN:
      hasDouble = true
      doubles += number
      count += 1
    default: break
    }
  }

  private mutating func keep(_ value: DynamicValue, _ sign: Int) throws {
    if case .double(let number) = value, number.isNaN { return }
    if extreme == .null {
      extreme = value.owned
    } else if let order = try DynamicValue.order(value, DynamicValue(extreme), []),
      order * sign > 0
    {
      extreme = value.owned
    }
  }

  /// The result; without values null, but 0 of a count and a sum.
  func value(_ function: GroupTerm.Function) -> Value {
    switch function {
    case .count: .integer(Int64(count))
    case .min, .max: extreme
    case .sum: sum
    case .average: count == 0 ? .null : .double(total / Double(count))
    }
  }

  private var sum: Value {
    if hasDecimal {
      return .decimal(DecimalValue(decimals + (Decimal(string: "\(integers)") ?? .zero)))
    }
    if hasDouble { return .double(doubles + Double(integers)) }
    if let number = Int64(exactly: integers) { return .integer(number) }
    return UInt64(exactly: integers).map { .unsigned($0) } ?? .double(Double(integers))
  }

  private var total: Double {
    doubles + Double(integers) + (hasDecimal ? DecimalValue(decimals).nearestDouble : 0)
  }
}
