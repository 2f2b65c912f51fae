internal import LodestoreBytes
internal import LodestoreFormat
import LodestoreSystem

/// An expression of numbers and dates, compiled for one record layout.
///
/// Its instructions run over registers of 64 bits. The kind of each register is known when the
/// expression is compiled, so a run allocates and looks up nothing. The results are those of
/// ``Arithmetic``. A run returns ``Outcome/unknown`` if it cannot compute the result: an integer
/// beyond 64 bits, or a text that is not ASCII.
struct NumberProgram {
  enum Kind: UInt8 {
    case integer, double, date
  }

  enum Outcome {
    case value, null
    /// The result is not known, and ``ConditionEvaluator`` must evaluate the expression.
    case unknown
  }

  struct Instruction {
    enum Operation: UInt8 {
      case constant, integerSlot, unsignedSlot, doubleSlot, length
      case addIntegers, subtractIntegers, multiplyIntegers, divideIntegers, remainderOfIntegers
      case and, or, exclusiveOr
      case addDoubles, subtractDoubles, multiplyDoubles, divideDoubles, remainderOfDoubles, power
      case toDouble, toInteger
      case magnitudeOfInteger, magnitude, floor, ceiling, truncation, squareRoot
    }

    var operation: Operation
    var kind: WordSlot.Kind = .int64
    /// The register of the first operand, which also takes the result.
    var left: UInt8
    var right: UInt8 = 0
    var nullBit = NullBit()
    /// The position of the slot; for a text, its ordinal among the variable attributes.
    var position: Int32 = 0
    var constant: UInt64 = 0
  }

  /// The number of registers.
  ///
  /// Expressions that need more registers are evaluated by ``ConditionEvaluator``.
  static let registerCount = 8

  let kind: Kind
  let instructions: ContiguousArray<Instruction>

  /// Runs the program on a record of the layout.
  ///
  /// The record must have narrow offsets and at least the layout's fixed part. The result is left
  /// in the first register.
  @inline(__always)
  func run(
    _ record: ByteView, _ offsets: VariableOffsets, _ registers: UnsafeMutablePointer<UInt64>
  ) -> Outcome {
    for step in instructions {
      let left = registers + Int(step.left)
      switch step.operation {
      case .constant: left.pointee = step.constant
      case .integerSlot:
        if step.nullBit.isSet(in: record) { return .null }
        left.pointee = UInt64(bitPattern: step.kind.key(record, at: Int(step.position)))
      case .unsignedSlot:
        if step.nullBit.isSet(in: record) { return .null }
        let key = step.kind.key(record, at: Int(step.position))
        guard case .integer(let number) = OrderedNumber.value(key, .uint64) else { return .unknown }
        left.pointee = UInt64(bitPattern: number)
      case .doubleSlot:
        if step.nullBit.isSet(in: record) { return .null }
        let key = step.kind.key(record, at: Int(step.position))
        left.pointee = OrderedNumber.double(key).bitPattern
      case .length:
        if step.nullBit.isSet(in: record) { return .null }
        guard let text = offsets.text(Int(step.position), in: record),
          let count = CharacterCount.ofASCII(text)
        else { return .unknown }
        left.pointee = UInt64(count)
      case .addIntegers, .subtractIntegers, .multiplyIntegers, .divideIntegers,
        .remainderOfIntegers, .magnitudeOfInteger, .and, .or, .exclusiveOr:
        let outcome = Self.integers(step.operation, left, registers[Int(step.right)])
        guard case .value = outcome else { return outcome }
      case .toInteger:
        let number = Double(bitPattern: left.pointee).rounded(.towardZero)
        guard let integer = Int64(exactly: number) else { return .null }
        left.pointee = UInt64(bitPattern: integer)
      case .toDouble: left.pointee = Double(Int64(bitPattern: left.pointee)).bitPattern
      default:
        let x = Double(bitPattern: left.pointee)
        let y = Double(bitPattern: registers[Int(step.right)])
        left.pointee = Self.doubles(step.operation, x, y).bitPattern
      }
    }
    return .value
  }

  @inline(__always)
  private static func integers(
    _ operation: Instruction.Operation, _ left: UnsafeMutablePointer<UInt64>, _ right: UInt64
  ) -> Outcome {
    let x = Int64(bitPattern: left.pointee)
    let y = Int64(bitPattern: right)
    let (result, isTooLarge): (Int64, Bool)
    switch operation {
    case .addIntegers: (result, isTooLarge) = x.addingReportingOverflow(y)
    case .subtractIntegers: (result, isTooLarge) = x.subtractingReportingOverflow(y)
    case .multiplyIntegers: (result, isTooLarge) = x.multipliedReportingOverflow(by: y)
    case .divideIntegers:
      if y == 0 { return .null }
      (result, isTooLarge) = x.dividedReportingOverflow(by: y)
    case .remainderOfIntegers:
      if y == 0 { return .null }
      (result, isTooLarge) = x.remainderReportingOverflow(dividingBy: y)
    case .and: (result, isTooLarge) = (x & y, false)
    case .or: (result, isTooLarge) = (x | y, false)
    case .exclusiveOr: (result, isTooLarge) = (x ^ y, false)
    default: (result, isTooLarge) = x < 0 ? Int64(0).subtractingReportingOverflow(x) : (x, false)
    }
    if isTooLarge { return .unknown }
    left.pointee = UInt64(bitPattern: result)
    return .value
  }

  @inline(__always)
  private static func doubles(
    _ operation: Instruction.Operation, _ x: Double, _ y: Double
  ) -> Double {
    switch operation {
    case .addDoubles: x + y
    case .subtractDoubles: x - y
    case .multiplyDoubles: x * y
    case .divideDoubles: x / y
    case .remainderOfDoubles: x.truncatingRemainder(dividingBy: y)
    case .power: pow(x, y)
    case .magnitude: x.magnitude
    case .floor: x.rounded(.down)
    case .ceiling: x.rounded(.up)
    case .truncation: x.rounded(.towardZero)
    default: x.squareRoot()
    }
  }
}
