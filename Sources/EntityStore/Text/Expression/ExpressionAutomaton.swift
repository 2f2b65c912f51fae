internal import LodestoreBytes

/// A deterministic automaton of a program for ASCII text, built in advance if it is small.
///
/// Each byte takes one table lookup.
struct ExpressionAutomaton: Sendable {
  private static let mostStates = 256
  private static let longestProgram = 2_000
  /// The maximum number of instructions that are followed while the automaton is built; beyond it
  /// none is built.
  private static let mostEffort = 200_000

  /// The class of each ASCII scalar.
  ///
  /// No instruction distinguishes scalars of the same class.
  private var classes = [UInt8](repeating: 0, count: 128)
  private var classCount = 0
  /// The next state for each state and class.
  ///
  /// State 0 is the one from which nothing matches.
  private var transitions: [UInt16] = []
  private var isAccepting: [Bool] = []

  /// Builds the automaton; `nil` for a program with assertions or too many states.
  init?(_ program: ExpressionProgram) {
    guard !program.hasAssertions, program.instructions.count <= Self.longestProgram else {
      return nil
    }
    let examples = makeClasses(program)
    var builder = StateBuilder(program: program)
    _ = builder.number(of: [])
    _ = builder.number(of: builder.closure([0]))
    var state = 0
    while state < builder.states.count {
      for example in examples {
        transitions.append(UInt16(truncatingIfNeeded: builder.next(state, example)))
      }
      isAccepting.append(builder.isAccepting(state))
      state += 1
      guard builder.states.count <= Self.mostStates, builder.effort <= Self.mostEffort else {
        return nil
      }
    }
  }

  /// Returns whether ASCII text matches as a whole, or `nil` for other text.
  func matches(_ text: ByteView) -> Bool? {
    classes._withBytes { classes in
      transitions.withUnsafeBytes { transitions in
        let transitions = ByteView(transitions)
        var state = 1
        for byte in text {
          if byte >= 0x80 { return nil }
          let transition = state &* classCount &+ Int(classes[Int(byte)])
          state = Int(transitions.loadUnaligned(fromByteOffset: transition &* 2, as: UInt16.self))
          if state == 0 { return false }
        }
        return isAccepting[state]
      }
    }
  }

  /// Divides ASCII into classes, and returns one scalar of each.
  private mutating func makeClasses(_ program: ExpressionProgram) -> [UInt32] {
    var examples: [UInt32] = []
    var known: [[Bool]: UInt8] = [:]
    for value in UInt32(0)..<128 {
      let fold = TextFolding.simpleFold(value)
      let signature = program.instructions.map { program.consumes($0, value, fold: fold) }
      if let number = known[signature] {
        classes[Int(value)] = number
      } else {
        let number = UInt8(truncatingIfNeeded: examples.count)
        known[signature] = number
        classes[Int(value)] = number
        examples.append(value)
      }
    }
    classCount = examples.count
    return examples
  }
}

private struct StateBuilder {
  let program: ExpressionProgram
  /// For each state of the automaton, the instructions of the program at which its threads are, in
  /// ascending order.
  private(set) var states: [[Int32]] = []
  private(set) var effort = 0
  private var numbers: [[Int32]: Int] = [:]

  init(program: ExpressionProgram) { self.program = program }

  mutating func number(of state: [Int32]) -> Int {
    if let number = numbers[state] { return number }
    numbers[state] = states.count
    states.append(state)
    return states.count - 1
  }

  func isAccepting(_ state: Int) -> Bool {
    states[state].contains {
      if case .match = program.instructions[Int($0)] { true } else { false }
    }
  }

  mutating func next(_ state: Int, _ scalar: UInt32) -> Int {
    let fold = TextFolding.simpleFold(scalar)
    effort += states[state].count + 1
    let consumed = states[state].filter {
      program.consumes(program.instructions[Int($0)], scalar, fold: fold)
    }
    return number(of: closure(consumed.map { $0 + 1 }))
  }

  /// Returns the consuming instructions that are reached from `starts` without consuming a scalar.
  mutating func closure(_ starts: [Int32]) -> [Int32] {
    var seen = Set<Int32>()
    var result: [Int32] = []
    var stack = starts
    while let thread = stack.popLast() {
      guard seen.insert(thread).inserted else { continue }
      effort += 1
      switch program.instructions[Int(thread)] {
      case .scalar, .caselessScalar, .set, .match: result.append(thread)
      case .jump(let target): stack.append(Int32(truncatingIfNeeded: target))
      case .split(let first, let second):
        stack.append(Int32(truncatingIfNeeded: first))
        stack.append(Int32(truncatingIfNeeded: second))
      case .assertion: break
      }
    }
    return result.sorted()
  }
}
