extension ExpressionParser {
  /// The meaning of an escape, in or outside a class.
  enum Escape {
    case literal(UInt32)
    case set(ScalarSet)
  }

  /// Parses an escape outside a class, after the backslash.
  mutating func readEscape(_ start: Int) throws(PatternError) {
    guard let scalar = peek() else {
      throw error("the backslash", start, "escapes nothing; write two for one backslash")
    }
    switch scalar {
    case "b", "B", "A", "z", "Z":
      position += 1
      let assertions: [Unicode.Scalar: ExpressionAssertion] = [
        "b": .wordBoundary, "B": .notWordBoundary, "A": .textStart, "z": .textEnd,
        "Z": .textEndOrLastLineEnd,
      ]
      if let assertion = assertions[scalar] { append(.assertion(assertion)) }
    case "R":
      position += 1
      let single = ScalarSet.property(.lineEnd)
      append(set: single)
      appendLineEnd()
    case "Q":
      position += 1
      while peek() != nil, !take("\\E") {
        append(literal: scalars[position].value)
        position += 1
      }
    case "E": throw error("the \\E", start, "ends no \\Q")
    case "1"..."9", "k":
      throw error(
        "a backreference", start, "is not supported: it cannot be matched in linear time")
    default:
      switch try readCommonEscape(start) {
      case .literal(let value): append(literal: value)
      case .set(let set): append(set: set)
      }
    }
  }

  /// Replaces the set appended last by a choice of CR LF and the set.
  private mutating func appendLineEnd() {
    let single = ExpressionNode.set(sets.count - 1)
    replaceLast(with: .choice([.sequence([.scalar(0x0d), .scalar(0x0a)]), single]))
  }

  /// Parses an escape that is also allowed in classes, after the backslash.
  mutating func readCommonEscape(_ start: Int) throws(PatternError) -> Escape {
    guard let scalar = peek() else {
      throw error("the backslash", start, "escapes nothing; write two for one backslash")
    }
    position += 1
    switch scalar {
    case "d": return .set(.property(.categories([.decimalNumber])))
    case "D": return .set(.complement(.property(.categories([.decimalNumber]))))
    case "w": return .set(.property(.word))
    case "W": return .set(.complement(.property(.word)))
    case "s": return .set(.property(.whiteSpace))
    case "S": return .set(.complement(.property(.whiteSpace)))
    case "h": return .set(.property(.blank))
    case "H": return .set(.complement(.property(.blank)))
    case "v": return .set(.property(.lineEnd))
    case "V": return .set(.complement(.property(.lineEnd)))
    case "p": return .set(try readProperty(start))
    case "P": return .set(.complement(try readProperty(start)))
    case "t": return .literal(0x09)
    case "n": return .literal(0x0a)
    case "r": return .literal(0x0d)
    case "f": return .literal(0x0c)
    case "a": return .literal(0x07)
    case "e": return .literal(0x1b)
    case "x":
      if take("{") {
        let value = try readHexadecimal(1...6, start)
        guard take("}") else { throw error("the \\x{", start, "is not closed") }
        return .literal(value)
      }
      return .literal(try readHexadecimal(2...2, start))
    case "u": return .literal(try readUTF16(start))
    case "U": return .literal(try readHexadecimal(8...8, start))
    case "0"..."9", "a"..."z", "A"..."Z":
      throw error("the escape \\\(scalar)", start, "is not supported")
    default: return .literal(scalar.value)
    }
  }

  /// Parses a scalar in hexadecimal digits.
  private mutating func readHexadecimal(
    _ counts: ClosedRange<Int>, _ start: Int, allowsSurrogate: Bool = false
  ) throws(PatternError) -> UInt32 {
    var value: UInt32 = 0
    var count = 0
    while count < counts.upperBound, let scalar = peek(), scalar.isASCII,
      let digit = Character(scalar).hexDigitValue
    {
      value = value << 4 | UInt32(digit)
      count += 1
      position += 1
    }
    guard counts.contains(count), allowsSurrogate || Unicode.Scalar(value) != nil else {
      throw error("the escape", start, "is no scalar in hexadecimal digits")
    }
    return value
  }

  /// Parses four hexadecimal digits, or two times four for a surrogate pair.
  private mutating func readUTF16(_ start: Int) throws(PatternError) -> UInt32 {
    let high = try readHexadecimal(4...4, start, allowsSurrogate: true)
    guard high & 0xfffff800 == 0xd800 else { return high }
    guard high < 0xdc00, take("\\u") else {
      throw error("the escape", start, "is half a surrogate pair")
    }
    let low = try readHexadecimal(4...4, start, allowsSurrogate: true)
    guard (0xdc00...0xdfff).contains(low) else {
      throw error("the escape", start, "is half a surrogate pair")
    }
    return 0x10000 + (high & 0x3ff) << 10 + low & 0x3ff
  }

  /// Parses a letter or a name in braces, after `\p`.
  private mutating func readProperty(_ start: Int) throws(PatternError) -> ScalarSet {
    var name = ""
    if take("{") {
      while let scalar = peek(), scalar != "}" {
        name.unicodeScalars.append(scalar)
        position += 1
      }
      guard take("}") else { throw error("the property", start, "is not closed") }
    } else if let scalar = peek() {
      name = String(scalar)
      position += 1
    }
    return try property(named: name, start)
  }

  /// Returns the set of the property `name`, which may start with `^` for its complement.
  func property(named name: String, _ start: Int) throws(PatternError) -> ScalarSet {
    let isNegated = name.hasPrefix("^")
    guard let property = ScalarProperty(name: isNegated ? String(name.dropFirst()) : name) else {
      throw error(
        "the property", start,
        "is not known; there are the general categories such as Lu, and alpha, digit and the like")
    }
    return isNegated ? .complement(.property(property)) : .property(property)
  }
}
