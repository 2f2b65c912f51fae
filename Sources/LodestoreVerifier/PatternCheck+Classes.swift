extension PatternCheck {
  /// The meaning of a member of a class, or of an escape.
  enum Member {
    case scalar(UInt32)
    case set
  }

  /// Reads the rest of a class after its `[`: members, the operators `&&` and `--`, and nested
  /// classes, up to `]`.
  mutating func readClass(depth: Int) -> Bool {
    if let isKnown = readPOSIXClass() { return isKnown }
    guard depth < Self.deepestClass else { return false }
    _ = take("^")
    var isEmpty = true
    var operatorCount = 0
    while let scalar = peek() {
      position += 1
      switch scalar {
      case "]": return !isEmpty
      case "[":
        guard readClass(depth: depth + 1) else { return false }
        isEmpty = false
      case "&" where take("&"), "-" where peek() == "-" && !isEmpty && take("-"):
        operatorCount += 1
        guard !isEmpty, operatorCount <= Self.deepestClass else { return false }
        isEmpty = true
      case _ where ignoresBlanks && scalar.properties.isPatternWhitespace: break
      default:
        guard readMember(scalar) else { return false }
        isEmpty = false
      }
    }
    return false
  }

  /// Reads a scalar, a range of two scalars, or an escape.
  private mutating func readMember(_ scalar: Unicode.Scalar) -> Bool {
    guard let first = readBound(scalar) else { return false }
    guard case .scalar(let lower) = first else { return true }
    // A hyphen before the end of the class or before another operator is a literal.
    guard peek() == "-", position + 1 < scalars.count,
      !"]-[".unicodeScalars.contains(scalars[position + 1])
    else { return true }
    position += 1
    guard let next = peek() else { return false }
    position += 1
    guard case .scalar(let upper)? = readBound(next) else { return false }
    return lower <= upper
  }

  private mutating func readBound(_ scalar: Unicode.Scalar) -> Member? {
    guard scalar == "\\" else { return .scalar(scalar.value) }
    return take("b") ? .scalar(8) : readCommonEscape()
  }

  /// Reads `:alpha:]` after the `[`.
  ///
  /// Returns `nil` if there is no such class, and false if its name is unknown.
  private mutating func readPOSIXClass() -> Bool? {
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
    return PatternNames.isProperty(name)
  }

  /// Reads an escape that is also allowed in classes, after its backslash; `nil` if there is no
  /// such escape.
  mutating func readCommonEscape() -> Member? {
    guard let scalar = peek() else { return nil }
    position += 1
    switch scalar {
    case "d", "D", "w", "W", "s", "S", "h", "H", "v", "V": return .set
    case "p", "P": return readProperty() ? .set : nil
    case "t": return .scalar(0x09)
    case "n": return .scalar(0x0a)
    case "r": return .scalar(0x0d)
    case "f": return .scalar(0x0c)
    case "a": return .scalar(0x07)
    case "e": return .scalar(0x1b)
    case "x":
      guard take("{") else { return readHexadecimal(2...2).flatMap(Self.scalar) }
      guard let value = readHexadecimal(1...6), take("}") else { return nil }
      return Self.scalar(value)
    case "u":
      guard let high = readHexadecimal(4...4) else { return nil }
      guard high & 0xffff_f800 == 0xd800 else { return .scalar(high) }
      guard high < 0xdc00, take("\\u"), let low = readHexadecimal(4...4),
        (0xdc00...0xdfff).contains(low)
      else { return nil }
      return .scalar(0x10000 + (high & 0x3ff) << 10 + low & 0x3ff)
    case "U": return readHexadecimal(8...8).flatMap(Self.scalar)
    case "0"..."9", "a"..."z", "A"..."Z": return nil
    default: return .scalar(scalar.value)
    }
  }

  private static func scalar(_ value: UInt32) -> Member? {
    Unicode.Scalar(value) == nil ? nil : .scalar(value)
  }

  private mutating func readHexadecimal(_ counts: ClosedRange<Int>) -> UInt32? {
    var value: UInt32 = 0
    var count = 0
    while count < counts.upperBound, let scalar = peek(), scalar.isASCII,
      let digit = Character(scalar).hexDigitValue
    {
      value = value << 4 | UInt32(digit)
      count += 1
      position += 1
    }
    return counts.contains(count) ? value : nil
  }

  /// Reads the property after `\p`: a letter, or a name in braces.
  private mutating func readProperty() -> Bool {
    var name = ""
    if take("{") {
      while let scalar = peek(), scalar != "}" {
        name.unicodeScalars.append(scalar)
        position += 1
      }
      guard take("}") else { return false }
    } else if let scalar = peek() {
      name = String(scalar)
      position += 1
    }
    return PatternNames.isProperty(name)
  }
}

/// The names in patterns that Format.md lists.
enum PatternNames {
  /// Whether a name, optionally after `^`, is the name of a property.
  static func isProperty(_ name: String) -> Bool {
    let name = name.hasPrefix("^") ? String(name.dropFirst()) : name
    var key = name.lowercased().filter { !" -_".contains($0) }
    for prefix in ["generalcategory=", "gc="] where key.hasPrefix(prefix) {
      key = String(key.dropFirst(prefix.count))
    }
    return properties.contains(key)
  }

  static func isLineEnd(_ scalar: Unicode.Scalar) -> Bool {
    (0x0a...0x0d).contains(scalar.value) || [0x85, 0x2028, 0x2029].contains(scalar.value)
  }

  private static let properties: Set<String> = Set(
    """
    any ascii assigned alphabetic alpha uppercase upper lowercase lower whitespace wspace space emoji
    ideographic ideo word blank alnum xdigit hexdigit graph print cntrl
    l letter lc casedletter m mark n number p punctuation s symbol z separator c other
    digit punct
    lu uppercaseletter ll lowercaseletter lt titlecaseletter lm modifierletter lo otherletter
    mn nonspacingmark mc spacingmark me enclosingmark nd decimalnumber nl letternumber no othernumber
    pc connectorpunctuation pd dashpunctuation ps openpunctuation pe closepunctuation
    pi initialpunctuation pf finalpunctuation po otherpunctuation sm mathsymbol sc currencysymbol
    sk modifiersymbol so othersymbol zs spaceseparator zl lineseparator zp paragraphseparator
    cc control cf format cs surrogate co privateuse cn unassigned
    """.split { " \n".contains($0) }.map(String.init))
}
