internal import LodestoreBytes
internal import LodestoreEssentials
internal import LodestoreFormat

/// The state of an aggregate, which ignores null and not-a-number.
struct GroupTotal {
  private var count = 0
  private var integers: Int128 = 0
  private var doubles = CompensatedSum()
  private var decimals = Decimal.zero
  private var hasDouble = false
  private var hasDecimal = false
  private var extreme = Value.null
  /// The lowest or highest value, in the form of an index key's element.
  ///
  /// This replaces ``extreme`` when the query reads index entries instead of records.
  private var extremeElement: [UInt8] = []

  mutating func add(_ value: DynamicValue, _ function: GroupTerm.Function) throws {
    if value.isNull { return }
    switch function {
    case .count: count += 1
    case .sum, .average: add(value)
    case .min: try keep(value, -1)
    case .max: try keep(value, 1)
    }
  }

  /// Adds the number whose sort word is `word` to a count, a sum or an average.
  @inline(__always)
  mutating func add(_ word: UInt64, _ kind: WordSlot.Kind, _ function: GroupTerm.Function) {
    switch kind {
    case .float, .double, .date:
      let number = OrderedWord.double(word)
      guard function != .count else { break }
      if number.isNaN { return }
      hasDouble = true
      doubles.add(number)
    case .bool, .uint64: integers += Int128(word)
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
      integers += Int128(OrderedWord.integer(word))
    }
    count += 1
  }

  /// Adds the value of an element of an index key; null and not-a-number are ignored.
  @inline(__always)
  mutating func add(element: ByteView, _ function: GroupTerm.Function) throws {
    if KeyDecoder.isNull(element) { return }
    switch function {
    case .count: count &+= 1
    case .sum, .average:
      if let integer = KeyDecoder.integer(element) {
        integers &+= integer
        count &+= 1
      } else if let number = KeyDecoder.double(element) {
        add(number)
      } else {
        var decoder = KeyDecoder(element)
        add(DynamicValue(try decoder.next()))
      }
    case .min: if isExtreme(element, -1) { keep(element) }
    case .max: if isExtreme(element, 1) { keep(element) }
    }
  }

  @inline(__always)
  private func isExtreme(_ element: ByteView, _ sign: Int) -> Bool {
    extremeElement.isEmpty || extremeElement._withBytes { compareKeys(element, $0) * sign > 0 }
  }

  @inline(never)
  private mutating func keep(_ element: ByteView) {
    if KeyDecoder.isNaN(element) { return }
    extremeElement.removeAll(keepingCapacity: true)
    extremeElement.append(contentsOf: element)
  }

  @inline(__always)
  private mutating func add(_ number: Double) {
    if number.isNaN { return }
    hasDouble = true
    doubles.add(number)
    count &+= 1
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
      // The sum of up to 2^64 integers of 64 bits fits into 128 bits.
      integers += number
      count += 1
    case .double(let number)?: add(number)
    default: break
    }
  }

  private mutating func keep(_ value: DynamicValue, _ sign: Int) throws {
    switch value {
    case .double(let number) where number.isNaN, .date(let number) where number.isNaN: return
    case .decimal(let number) where number.isNaN: return
    default: break
    }
    if extreme == .null {
      extreme = value.owned
    } else if let order = try DynamicValue.order(value, DynamicValue(extreme), []),
      order * sign > 0
    {
      extreme = value.owned
    }
  }

  // MARK: Merging parts

  /// Adds the state of an aggregate over other records.
  mutating func merge(_ other: GroupTotal, _ function: GroupTerm.Function) throws {
    count += other.count
    integers += other.integers
    if other.hasDouble {
      hasDouble = true
      doubles.merge(other.doubles)
    }
    if other.hasDecimal {
      hasDecimal = true
      decimals += other.decimals
    }
    let sign = function == .min ? -1 : 1
    if other.extreme != .null { try keep(DynamicValue(other.extreme), sign) }
    try other.extremeElement._withBytes { element in
      if !element.isEmpty { try add(element: element, function) }
    }
  }

  /// Writes the state as document values, for ``init(reading:)``.
  func write(to writer: inout DocumentWriter) {
    writer.write(Int64(count))
    writer.write(UInt64(truncatingIfNeeded: integers))
    writer.write(Int64(integers >> 64))
    writer.write(hasDouble)
    if hasDouble { doubles.write(to: &writer) }
    writer.write(hasDecimal)
    if hasDecimal { writer.write(DecimalValue(decimals)) }
    extreme.write(to: &writer)
    extremeElement._withBytes { writer.write(data: $0) }
  }

  init(reading reader: inout DocumentReader) throws {
    count = Int(try reader.int64())
    let low = try reader.uint64()
    integers = Int128(try reader.int64()) << 64 | Int128(low)
    hasDouble = try reader.bool()
    if hasDouble { doubles = try CompensatedSum(reading: &reader) }
    hasDecimal = try reader.bool()
    if hasDecimal { decimals = Decimal(try reader.decimal()) ?? .nan }
    extreme = try Value(reading: &reader)
    extremeElement = Array(try reader.data())
  }

  init() {}

  /// The memory that the state takes in addition to its own size, in bytes.
  var heldByteCount: Int { extreme.heldByteCount + extremeElement.count }

  // MARK: Results

  /// Returns the result of the aggregate.
  ///
  /// Without values a count or sum is 0, and other results are null.
  func value(_ function: GroupTerm.Function) -> Value {
    switch function {
    case .count: .integer(Int64(count))
    case .min, .max: extremeElement.isEmpty ? extreme : decodedExtreme
    case .sum: sum
    case .average: count == 0 ? .null : .double(total / Double(count))
    }
  }

  private var decodedExtreme: Value {
    extremeElement._withBytes { element in
      var decoder = KeyDecoder(element)
      // Decoding fails only in a damaged file, since ``KeyDecoder/endOfElement(in:at:)`` checks the
      // length alone.
      return (try? decoder.next()) ?? .null
    }
  }

  private var sum: Value {
    if hasDecimal {
      return .decimal(DecimalValue(decimals + (Decimal(string: "\(integers)") ?? .zero)))
    }
    if hasDouble { return .double(doubles.value + Double(integers)) }
    if let number = Int64(exactly: integers) { return .integer(number) }
    return UInt64(exactly: integers).map { .unsigned($0) } ?? .double(Double(integers))
  }

  private var total: Double {
    doubles.value + Double(integers) + (hasDecimal ? DecimalValue(decimals).nearestDouble : 0)
  }
}

/// A sum of binary numbers that keeps the low bits of small numbers added to large ones.
///
/// The result therefore hardly depends on the order in which a plan finds the records. The method
/// is Neumaier's form of Kahan's summation.
private struct CompensatedSum {
  private var sum = 0.0
  private var compensation = 0.0

  @inline(__always)
  mutating func add(_ number: Double) {
    let next = sum + number
    compensation += abs(sum) >= abs(number) ? (sum - next) + number : (number - next) + sum
    sum = next
  }

  mutating func merge(_ other: CompensatedSum) {
    add(other.sum)
    compensation += other.compensation
  }

  func write(to writer: inout DocumentWriter) {
    writer.write(sum)
    writer.write(compensation)
  }

  init(reading reader: inout DocumentReader) throws(FormatError) {
    sum = try reader.double()
    compensation = try reader.double()
  }

  init() {}

  /// The sum.
  ///
  /// With infinite numbers there is nothing to compensate.
  var value: Double { sum.isFinite ? sum + compensation : sum }
}
