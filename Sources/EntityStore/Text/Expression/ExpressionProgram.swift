/// A regular expression compiled to instructions for ``ExpressionMachine``.
struct ExpressionProgram: Sendable {
  /// The maximum number of instructions of a program.
  ///
  /// A counted repetition such as `a{100}` becomes 100 copies of its instructions.
  static let longest = 20_000

  enum Instruction: Sendable {
    /// Consumes a scalar of the text and continues with the next instruction, as do the next two
    /// cases.
    case scalar(UInt32)
    case caselessScalar(UInt32)
    case set(Int)
    case assertion(ExpressionAssertion)
    /// Continues at both instructions.
    case split(Int, Int)
    case jump(Int)
    case match
  }

  private(set) var instructions: [Instruction] = []
  let sets: [CompiledScalarSet]
  private(set) var hasAssertions = false
  private(set) var isCaseless = false

  init(_ root: ExpressionNode, sets: [ScalarSet]) throws(PatternError) {
    self.sets = sets.map(CompiledScalarSet.init)
    try emit(Self.withoutIdleAnchors(root))
    try add(.match)
  }

  /// Returns whether `instruction` consumes `scalar`, whose simple folding is `fold`.
  @inline(__always)
  func consumes(_ instruction: Instruction, _ scalar: UInt32, fold: UInt32) -> Bool {
    switch instruction {
    case .scalar(let value): value == scalar
    case .caselessScalar(let value): value == fold
    case .set(let number): sets[number].contains(scalar)
    case .assertion, .split, .jump, .match: false
    }
  }

  /// Returns the expression without anchors such as a leading `^`, which are always true because
  /// the whole text must match.
  private static func withoutIdleAnchors(_ root: ExpressionNode) -> ExpressionNode {
    var nodes: ArraySlice<ExpressionNode>
    switch root {
    case .sequence(let sequence): nodes = sequence[...]
    case .assertion: nodes = [root]
    default: return root
    }
    while case .assertion(let assertion)? = nodes.first,
      assertion == .textStart || assertion == .lineStart
    {
      nodes.removeFirst()
    }
    while case .assertion(let assertion)? = nodes.last,
      assertion == .textEnd || assertion == .textEndOrLastLineEnd || assertion == .lineEnd
    {
      nodes.removeLast()
    }
    return .sequence(Array(nodes))
  }

  private mutating func add(_ instruction: Instruction) throws(PatternError) {
    guard instructions.count < Self.longest else {
      throw PatternError(
        "a regular expression is too large: written out it has more than \(Self.longest) steps")
    }
    instructions.append(instruction)
  }

  private mutating func emit(_ node: ExpressionNode) throws(PatternError) {
    switch node {
    case .scalar(let value): try add(.scalar(value))
    case .caselessScalar(let value):
      isCaseless = true
      try add(.caselessScalar(value))
    case .set(let number): try add(.set(number))
    case .assertion(let assertion):
      hasAssertions = true
      try add(.assertion(assertion))
    case .sequence(let parts):
      for part in parts { try emit(part) }
    case .choice(let alternatives): try emit(choice: alternatives)
    case .repeated(let node, let atLeast, let atMost): try emit(repeated: node, atLeast, atMost)
    }
  }

  private mutating func emit(choice alternatives: [ExpressionNode]) throws(PatternError) {
    var jumps: [Int] = []
    for (index, alternative) in alternatives.enumerated() {
      let isLast = index == alternatives.count - 1
      let split = instructions.count
      if !isLast { try add(.split(split + 1, 0)) }
      try emit(alternative)
      if !isLast {
        jumps.append(instructions.count)
        try add(.jump(0))
        instructions[split] = .split(split + 1, instructions.count)
      }
    }
    for jump in jumps { instructions[jump] = .jump(instructions.count) }
  }

  private mutating func emit(
    repeated node: ExpressionNode, _ atLeast: Int, _ atMost: Int?
  ) throws(PatternError) {
    for _ in 0..<atLeast {
      let start = instructions.count
      try emit(node)
      // The repeated node compiled to no instructions, so there is nothing to repeat.
      if instructions.count == start { return }
    }
    guard let atMost else {
      let split = instructions.count
      try add(.split(split + 1, 0))
      try emit(node)
      try add(.jump(split))
      instructions[split] = .split(split + 1, instructions.count)
      return
    }
    var splits: [Int] = []
    for _ in atLeast..<atMost {
      splits.append(instructions.count)
      try add(.split(instructions.count + 1, 0))
      try emit(node)
    }
    for split in splits { instructions[split] = .split(split + 1, instructions.count) }
  }
}
