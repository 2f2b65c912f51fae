extension ExpressionParser {
  private enum Operation { case intersection, difference }

  /// Parses a class after the `[` at `start`, with `&&`, `--` and nested classes, up to `]`.
  mutating func readClass(_ start: Int, depth: Int) throws(PatternError) -> ScalarSet {
    if let set = try readPOSIXClass(start) { return set }
    guard depth < Self.deepestClass else {
      throw error("the class", start, "is nested deeper than \(Self.deepestClass)")
    }
    let isNegated = take("^")
    var result: (set: ScalarSet, operation: Operation)?
    var members = ClassMembers()
    var operatorCount = 0
    while true {
      guard let scalar = peek() else { throw error("the class", start, "is not closed") }
      let memberStart = position
      position += 1
      switch scalar {
      case "]":
        guard !members.isEmpty else {
          throw error("the class", start, "has an empty side; write \\] for a bracket")
        }
        let set = Self.combined(result, members.set(isCaseless: flags.isCaseless))
        return isNegated ? .complement(set) : set
      case "[": members.sets.append(try readClass(memberStart, depth: depth + 1))
      case "&" where take("&"), "-" where peek() == "-" && !members.isEmpty && take("-"):
        guard !members.isEmpty else {
          throw error("the operator", memberStart, "has nothing before it")
        }
        operatorCount += 1
        guard operatorCount <= Self.deepestClass else {
          throw error("the class", start, "has more than \(Self.deepestClass) operators")
        }
        let set = Self.combined(result, members.set(isCaseless: flags.isCaseless))
        result = (set, scalar == "&" ? .intersection : .difference)
        members = ClassMembers()
      case _ where flags.ignoresBlanks && scalar.properties.isPatternWhitespace: break
      default: try readMember(scalar, memberStart, into: &members)
      }
    }
  }

  private static func combined(
    _ left: (set: ScalarSet, operation: Operation)?, _ right: ScalarSet
  ) -> ScalarSet {
    switch left {
    case nil: right
    case (let set, .intersection)?: .intersection(set, right)
    case (let set, .difference)?: .difference(set, right)
    }
  }

  /// Parses a scalar, a range of two scalars, or an escape.
  private mutating func readMember(
    _ scalar: Unicode.Scalar, _ start: Int, into members: inout ClassMembers
  ) throws(PatternError) {
    guard let lower = try readBound(scalar, start, into: &members) else { return }
    // A hyphen before the end of the class or before another operator stands for itself.
    guard peek() == "-", position + 1 < scalars.count,
      !"]-[".unicodeScalars.contains(scalars[position + 1])
    else {
      members.ranges.append(lower...lower)
      return
    }
    position += 1
    let upperStart = position
    guard let next = peek() else { throw error("the range", start, "has no end") }
    position += 1
    let setCount = members.sets.count
    guard let upper = try readBound(next, upperStart, into: &members), lower <= upper else {
      throw error(
        "the range", start,
        members.sets.count > setCount ? "ends in more than one scalar" : "ends before it starts")
    }
    members.ranges.append(lower...upper)
  }

  /// Parses a scalar.
  ///
  /// Returns `nil` for an escape of a set, which is added to `members`.
  private mutating func readBound(
    _ scalar: Unicode.Scalar, _ start: Int, into members: inout ClassMembers
  ) throws(PatternError) -> UInt32? {
    guard scalar == "\\" else { return scalar.value }
    if take("b") { return 0x08 }
    switch try readCommonEscape(start) {
    case .literal(let value): return value
    case .set(let set):
      members.sets.append(set)
      return nil
    }
  }

  /// Parses `:alpha:]` after the `[`; returns `nil`, without moving, if none exists.
  private mutating func readPOSIXClass(_ start: Int) throws(PatternError) -> ScalarSet? {
    let before = position
    guard take(":") else { return nil }
    var name = ""
    while let scalar = peek(), scalar.isASCII, scalar == "^" || scalar.properties.isAlphabetic {
      name.unicodeScalars.append(scalar)
      position += 1
    }
    guard !name.isEmpty, take(":]") else {
      position = before
      return nil
    }
    return try property(named: name, start)
  }
}

/// The members of a class, up to its end or the next operator.
private struct ClassMembers {
  var ranges: [ClosedRange<UInt32>] = []
  var sets: [ScalarSet] = []

  var isEmpty: Bool { ranges.isEmpty && sets.isEmpty }

  func set(isCaseless: Bool) -> ScalarSet {
    let all = ScalarSet.union(sets + [isCaseless ? .withFolds(ranges) : .ranges(ranges)])
    return isCaseless ? .caseless(all) : all
  }
}
