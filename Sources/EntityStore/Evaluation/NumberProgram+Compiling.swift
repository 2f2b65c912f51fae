internal import LodestoreFormat

extension NumberProgram {
  /// Compiles an expression; `nil` if it is not made of numbers and dates in the record's own
  /// slots.
  init?(_ operand: BoundOperand, _ layout: RecordLayout) {
    var compiler = Compiler(layout: layout)
    guard let kind = compiler.compile(operand, into: 0) else { return nil }
    self.kind = kind
    instructions = compiler.instructions
  }

  private struct Compiler {
    let layout: RecordLayout
    var instructions: ContiguousArray<Instruction> = []

    /// Appends the instructions that compute `operand` into `register`.
    mutating func compile(_ operand: BoundOperand, into register: Int) -> Kind? {
      guard register < NumberProgram.registerCount else { return nil }
      let left = UInt8(register)
      switch operand {
      case .value(let value): return constant(value, left)
      case .attribute(let attribute, let steps): return steps.isEmpty ? load(attribute, left) : nil
      case .arithmetic(let op, let a, let b):
        guard let x = compile(a, into: register), let y = compile(b, into: register + 1) else {
          return nil
        }
        return arithmetic(op, x, y, left)
      case .negative(let inner):
        instructions.append(Instruction(operation: .constant, left: left))
        guard let kind = compile(inner, into: register + 1) else { return nil }
        return arithmetic(.subtract, .integer, kind, left)
      case .cast(let inner, let type):
        guard let kind = compile(inner, into: register) else { return nil }
        return cast(kind, to: type, left)
      case .call(.length, let arguments):
        guard arguments.count == 1, let argument = arguments.first else { return nil }
        return length(argument, left)
      case .call(let function, let arguments):
        guard arguments.count == 1, let argument = arguments.first,
          let kind = compile(argument, into: register)
        else { return nil }
        return call(function, kind, left)
      default: return nil
      }
    }

    private mutating func constant(_ value: Value, _ left: UInt8) -> Kind? {
      let (kind, bits): (Kind, UInt64)
      switch value {
      case .bool(let flag): (kind, bits) = (.integer, flag ? 1 : 0)
      case .integer(let number): (kind, bits) = (.integer, UInt64(bitPattern: number))
      case .double(let number): (kind, bits) = (.double, number.bitPattern)
      case .date(let seconds): (kind, bits) = (.date, seconds.bitPattern)
      default: return nil
      }
      instructions.append(Instruction(operation: .constant, left: left, constant: bits))
      return kind
    }

    private mutating func load(_ attribute: BoundAttribute, _ left: UInt8) -> Kind? {
      if attribute.isRecordID { return nil }
      guard let index = layout.slotIndex(ofAttribute: attribute.number) else {
        return constant(attribute.initial, left)
      }
      let slot = layout.slots[index]
      guard let kind = WordSlot.Kind(slot.type) else { return nil }
      let operation: Instruction.Operation =
        kind == .uint64 ? .unsignedSlot : kind.isInteger ? .integerSlot : .doubleSlot
      instructions.append(
        Instruction(
          operation: operation, kind: kind, left: left, nullBit: NullBit(of: slot),
          position: slot.position))
      return kind == .date ? .date : kind.isInteger ? .integer : .double
    }

    private mutating func length(_ argument: BoundOperand, _ left: UInt8) -> Kind? {
      guard case .attribute(let attribute, let steps) = argument, steps.isEmpty,
        let index = layout.slotIndex(ofAttribute: attribute.number)
      else { return nil }
      let slot = layout.slots[index]
      guard slot.type == .string || slot.type == .url else { return nil }
      instructions.append(
        Instruction(
          operation: .length, left: left, nullBit: NullBit(of: slot), position: slot.position))
      return .integer
    }

    private mutating func arithmetic(
      _ op: ArithmeticOperator, _ x: Kind, _ y: Kind, _ left: UInt8
    ) -> Kind? {
      if x == .integer, y == .integer, let operation = Self.ofIntegers(op) {
        append(operation, left)
        return .integer
      }
      guard let operation = Self.ofDoubles(op) else { return nil }
      var result: Kind = .double
      switch (x, y, op) {
      case (.date, .date, .subtract): break
      // Two dates can only be subtracted, which gives seconds. Other operators on two dates give
      // null for every record; returning `nil` leaves them to ``ConditionEvaluator``.
      case (.date, .date, _): return nil
      case (.date, _, .add), (.date, _, .subtract), (_, .date, .add): result = .date
      // Other operators on a date and a number also give null, and are left to
      // ``ConditionEvaluator``.
      case (.date, _, _), (_, .date, _): return nil
      default: break
      }
      if x == .integer { append(.toDouble, left) }
      if y == .integer { append(.toDouble, left + 1) }
      append(operation, left)
      return result
    }

    /// Returns the operation on two integers.
    ///
    /// Returns `nil` for powers, whose results are doubles, and for shifts, which are rare.
    private static func ofIntegers(_ op: ArithmeticOperator) -> Instruction.Operation? {
      switch op {
      case .add: .addIntegers
      case .subtract: .subtractIntegers
      case .multiply: .multiplyIntegers
      case .divide: .divideIntegers
      case .remainder: .remainderOfIntegers
      case .and: .and
      case .or: .or
      case .exclusiveOr: .exclusiveOr
      case .power, .shiftLeft, .shiftRight: nil
      }
    }

    /// Returns the operation on two doubles, or `nil` for a bitwise operator, whose result is
    /// always null.
    private static func ofDoubles(_ op: ArithmeticOperator) -> Instruction.Operation? {
      switch op {
      case .add: .addDoubles
      case .subtract: .subtractDoubles
      case .multiply: .multiplyDoubles
      case .divide: .divideDoubles
      case .remainder: .remainderOfDoubles
      case .power: .power
      case .and, .or, .exclusiveOr, .shiftLeft, .shiftRight: nil
      }
    }

    private mutating func cast(_ kind: Kind, to type: CastType, _ left: UInt8) -> Kind? {
      switch (kind, type) {
      case (.integer, .integer), (.double, .double), (.date, .date): return kind
      case (.double, .integer):
        append(.toInteger, left)
        return .integer
      case (.integer, .double):
        append(.toDouble, left)
        return .double
      case (.double, .date): return .date
      case (.integer, .date):
        append(.toDouble, left)
        return .date
      default: return nil
      }
    }

    private mutating func call(_ function: OperandFunction, _ kind: Kind, _ left: UInt8) -> Kind? {
      if kind == .date { return nil }
      let isInteger = kind == .integer
      switch function {
      case .abs: append(isInteger ? .magnitudeOfInteger : .magnitude, left)
      case .floor: if !isInteger { append(.floor, left) }
      case .ceiling: if !isInteger { append(.ceiling, left) }
      case .trunc: if !isInteger { append(.truncation, left) }
      case .sqrt:
        if isInteger { append(.toDouble, left) }
        append(.squareRoot, left)
        return .double
      default: return nil
      }
      return kind
    }

    /// Appends an operation on `left` and the next register, which holds a second operand.
    private mutating func append(_ operation: Instruction.Operation, _ left: UInt8) {
      // An instruction with one operand also reads its right register, whose number must be valid.
      let right = min(left + 1, UInt8(NumberProgram.registerCount - 1))
      instructions.append(Instruction(operation: operation, left: left, right: right))
    }
  }
}
