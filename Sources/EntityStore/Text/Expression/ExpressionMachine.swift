internal import LodestoreBytes
internal import LodestoreFormat

/// Runs the program of a regular expression over a text, in O(program × text) for any pattern.
///
/// All instructions at which a match may be, the program's threads, advance together from scalar to
/// scalar.
struct ExpressionMachine: ~Copyable {
  private static let none = UTF8Scalar.invalid - 1

  private let program: ExpressionProgram
  private let text: ByteView
  /// The consuming instructions of the threads at the current offset.
  ///
  /// ``isMatch`` shows whether a thread has reached ``ExpressionProgram/Instruction/match``.
  private var current: [Int32] = []
  private var following: [Int32] = []
  private var isMatch = false
  /// For each instruction the offset at which it was visited last, plus 1.
  private var visits: [Int]
  private var stack: [Int32] = []

  init(_ program: ExpressionProgram, _ text: ByteView) {
    self.program = program
    self.text = text
    visits = [Int](repeating: 0, count: program.instructions.count)
  }

  mutating func matchesWholeText() -> Bool {
    var offset = 0
    var scalar = next(at: 0)
    follow(0, Surroundings(before: Self.none, after: scalar.value, offset: 0))
    while offset < text.count {
      swap(&current, &following)
      following.removeAll(keepingCapacity: true)
      if current.isEmpty { return false }
      isMatch = false
      offset += scalar.length
      let value = scalar.value == UTF8Scalar.invalid ? 0xfffd : scalar.value
      scalar = next(at: offset)
      let surroundings = Surroundings(before: value, after: scalar.value, offset: offset)
      let fold = program.isCaseless ? TextFolding.simpleFold(value) : value
      for thread in current
      where program.consumes(program.instructions[Int(thread)], value, fold: fold) {
        follow(thread + 1, surroundings)
      }
    }
    return isMatch
  }

  private func next(at offset: Int) -> (value: UInt32, length: Int) {
    guard offset < text.count else { return (Self.none, 0) }
    let (scalar, length) = UTF8Scalar.decode(text, at: offset)
    return (scalar, length)
  }

  /// Adds the threads that are reached from `start` without consuming a scalar.
  private mutating func follow(_ start: Int32, _ surroundings: borrowing Surroundings) {
    stack.append(start)
    while let thread = stack.popLast() {
      let index = Int(thread)
      guard visits[index] != surroundings.offset + 1 else { continue }
      visits[index] = surroundings.offset + 1
      switch program.instructions[index] {
      case .scalar, .caselessScalar, .set: following.append(thread)
      case .match: isMatch = true
      case .jump(let target): stack.append(Int32(truncatingIfNeeded: target))
      case .split(let first, let second):
        stack.append(Int32(truncatingIfNeeded: second))
        stack.append(Int32(truncatingIfNeeded: first))
      case .assertion(let assertion):
        if holds(assertion, surroundings) { stack.append(thread + 1) }
      }
    }
  }

  /// An offset between two scalars, with the scalars around it.
  private struct Surroundings: ~Copyable {
    var before: UInt32
    var after: UInt32
    var offset: Int
  }

  private func holds(_ assertion: ExpressionAssertion, _ position: borrowing Surroundings) -> Bool {
    let isAtEnd = position.offset == text.count
    let isInCRLF = position.before == 0x0d && position.after == 0x0a
    switch assertion {
    case .textStart: return position.offset == 0
    case .textEnd: return isAtEnd
    case .textEndOrLastLineEnd:
      return isAtEnd || (!isInCRLF && isLastLineEnd(position.after, position.offset))
    case .lineStart:
      return position.offset == 0 || (!isAtEnd && !isInCRLF && LineEnd.contains(position.before))
    case .lineEnd: return isAtEnd || (!isInCRLF && LineEnd.contains(position.after))
    case .wordBoundary: return isWord(position.before) != isWord(position.after)
    case .notWordBoundary: return isWord(position.before) == isWord(position.after)
    }
  }

  private func isLastLineEnd(_ value: UInt32, _ offset: Int) -> Bool {
    guard LineEnd.contains(value) else { return false }
    let rest = text.count - offset
    let isCRLF = value == 0x0d && rest == 2 && text[offset + 1] == 0x0a
    return isCRLF || rest == next(at: offset).length
  }

  private func isWord(_ value: UInt32) -> Bool {
    if value < 0x80 {
      return value == 0x5f || (0x30...0x39).contains(value) || (value | 0x20) &- 0x61 < 26
    }
    return Unicode.Scalar(value).map { ScalarProperty.word.contains($0) } ?? false
  }
}
