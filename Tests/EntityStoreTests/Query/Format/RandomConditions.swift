import LodestoreFormat

@testable import EntityStore

/// Random conditions in the form that the parser returns, of every kind of node but closures.
///
/// Forms that the parser would fold or write in another way do not occur: constants under CAST,
/// lists of constants as `.list`, groups of fewer than two conditions.
struct RandomConditions {
  private var random: SeededNumbers
  /// The variables that the SUBQUERYs around the present position declare.
  private var scope: [String] = []

  init(salt: UInt64) { random = SeededNumbers(salt: salt) }

  /// A condition of at most `depth` levels.
  mutating func condition(depth: Int = 6) -> ConditionTree {
    if depth <= 2 { return random.oneIn(4) ? .constant(random.oneIn(2)) : leaf(depth) }
    switch random.below(8) {
    case 0, 1: return .all(conditions(depth))
    case 2, 3: return .any(conditions(depth))
    case 4: return .not(condition(depth: depth - 1))
    case 5: return .constant(random.oneIn(2))
    default: return leaf(depth)
    }
  }

  private mutating func conditions(_ depth: Int) -> [ConditionTree] {
    (0..<(2 + random.below(3))).map { _ in condition(depth: depth - 1) }
  }

  private mutating func leaf(_ depth: Int) -> ConditionTree {
    let quantifier: Comparison.Quantifier? =
      random.oneIn(4) ? .any : random.oneIn(4) ? .all : nil
    let comparison = pick(Comparison.Operator.allCases)
    let options = random.oneIn(3) ? TextOptions(rawValue: UInt8(random.below(8))) : []
    let right = comparison == .between ? bounds(depth - 1) : operand(depth: depth - 1)
    return .comparison(
      Comparison(
        operand(depth: depth - 1), comparison, right, options: options, quantifier: quantifier))
  }

  private mutating func bounds(_ depth: Int) -> Operand {
    if random.oneIn(5) { return path() }
    if depth <= 1 || random.oneIn(2) { return .values([value(), value()]) }
    return .list([path(), operand(depth: depth - 1)])
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[random.below(elements.count)]
  }
}

// MARK: - Operands

extension RandomConditions {
  /// An operand of at most `depth` levels.
  mutating func operand(depth: Int = 4) -> Operand {
    if depth <= 1 { return simple() }
    switch random.below(10) {
    case 0, 1, 2: return simple()
    case 3, 4:
      return .arithmetic(
        pick(ArithmeticOperator.allCases), operand(depth: depth - 1), operand(depth: depth - 1))
    case 5: return .negative(operand(depth: depth - 1))
    case 6: return call(depth)
    case 7:
      let inner = operand(depth: depth - 1)
      switch inner {
      case .value, .values: return .cast(path(), pick(CastType.allCases))
      default: return .cast(inner, pick(CastType.allCases))
      }
    case 8 where random.oneIn(2):
      return .conditional(
        condition(depth: depth - 1), operand(depth: depth - 1), operand(depth: depth - 1))
    case 8: return subquery(depth)
    default: return .list([path()] + (0..<random.below(3)).map { _ in operand(depth: depth - 1) })
    }
  }

  private mutating func simple() -> Operand {
    switch random.below(6) {
    case 0, 1: .path(path())
    case 2: .values((0..<random.below(5)).map { _ in value() })
    case 3: random.oneIn(3) ? .variable(pick(["unbound", "later", "IN", "größe"])) : .path(path())
    default: .value(value())
    }
  }

  private mutating func call(_ depth: Int) -> Operand {
    let function = pick(OperandFunction.allCases)
    return .call(function, function == .now ? [] : [operand(depth: depth - 1)])
  }

  private mutating func subquery(_ depth: Int) -> Operand {
    let collection = operand(depth: depth - 1)
    let variable = pick(["x", "y", "item", "AND"])
    scope.append(variable)
    let inner = condition(depth: depth - 1)
    scope.removeLast()
    return .subquery(
      collection, variable: variable, inner, (0..<random.below(3)).map { _ in step() })
  }

  private mutating func path() -> Operand { .path(path()) }

  /// A key path, also of the variables around it.
  mutating func path() -> ValuePath {
    let steps = (0..<random.below(4)).map { _ in step() }
    if !scope.isEmpty, random.oneIn(2) { return ValuePath(.variable(pick(scope)), steps) }
    return ValuePath(.record, random.oneIn(6) ? steps : [.member(name())] + steps)
  }

  private mutating func step() -> ValuePath.Step {
    switch random.below(10) {
    case 0: .element(pick([0, 1, 7, .max]))
    case 1: .first
    case 2: .last
    case 3: .size
    case 4: .aggregate(pick(CollectionOperator.allCases))
    default: .member(name())
    }
  }

  private mutating func name() -> String {
    pick([
      "stars", "name", "license", "type", "_private", "a1", "größe", "名前", "in", "SELF", "And",
      "count", "size", "first", "cast", "ternary", "fetch", "UTI", "uti-equals", "now", "length",
      "TRUEPREDICATE", "first name", "", "@count", "1st", "a.b", "\"", "\\", "#in", "e\u{301}",
      "\u{301}", "\0", "😀", "‮",
    ])
  }
}

// MARK: - Constants

extension RandomConditions {
  /// A constant of any type, often at the edge of its range.
  mutating func value() -> Value {
    switch random.below(12) {
    case 0: .null
    case 1: .bool(random.oneIn(2))
    case 2: .integer(pick([0, 1, -1, 42, .min, .max, -7_000]))
    case 3: .unsigned(pick([UInt64(Int64.max) + 1, .max, 1 << 63 + 12_345]))
    case 4: .double(double())
    case 5: .date(date())
    case 6: .uuid(UUIDBytes(high: random.next(), low: random.next()))
    case 7: .decimal(decimal())
    case 8: .data((0..<random.below(6)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    case 9: document()
    default: .string(string())
    }
  }

  private mutating func double() -> Double {
    if random.oneIn(3) { return anyDouble() }
    return pick([
      0, -0.0, 1, -1, 0.1, 1e16, 1e100, -2.5e-7, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
      .infinity, -.infinity, .nan, 123_456_789.123_456_78, 9_007_199_254_740_992,
    ])
  }

  private mutating func date() -> Double {
    if random.oneIn(4) { return anyDouble() }
    return pick([
      0, -0.0, 725_760_000, 0.1, -978_307_200.5, 1e-20, -.leastNonzeroMagnitude, 3.3e12, -6.4e10,
      1e300, .infinity, -.infinity, .nan, 725_760_000.123,
    ])
  }

  /// A double with random bits.
  ///
  /// All NaNs are replaced by one, because their texts are equal.
  private mutating func anyDouble() -> Double {
    let number = Double(bitPattern: random.next())
    return number.isNaN ? .nan : number
  }

  private mutating func decimal() -> DecimalValue {
    if random.oneIn(8) { return .nan }
    let significand = UInt128(random.next()) << UInt128(random.below(60))
    let exponent = Int16(random.oneIn(3) ? random.below(32_000) - 16_384 : random.below(40) - 20)
    let value = DecimalValue(
      isNegative: random.oneIn(2), exponent: exponent, significand: significand)
    return DecimalValue.exponents.contains(value.exponent) ? value : .nan
  }

  private mutating func document() -> Value {
    let text = pick([
      "null", "true", "[]", "{}", "1", "1.0", "-0.5e-300", "18446744073709551615", "\"it's\"",
      #"{"a":1,"b":[1,2.5,{"c":"\"\\\n"}],"é":null}"#, #"["\u0000","😀",-9223372036854775808]"#,
    ])
    return Value(text: text, as: .json) ?? .null
  }

  private mutating func string() -> String {
    if random.oneIn(2) {
      return pick([
        "", "Kit", "it's", "say \"so\"", "back\\slash", "line\nfeed\ttab\r\n", "\0", "\u{1}7",
        "\u{7F}", "\u{85}", "e\u{301}", "é", "😀👨‍👩‍👧", "\u{2028}\u{202E}\u{FEFF}", "%@ %K", "$x",
        "\\n", "\\u0041", "' \" '", "{ 1, 2 }", "AND", String(repeating: "long ", count: 60),
      ])
    }
    var text = String.UnicodeScalarView()
    for _ in 0..<random.below(12) {
      let range: UInt32 = random.oneIn(3) ? 0x11_0000 : random.oneIn(2) ? 0x3000 : 0x80
      if let scalar = Unicode.Scalar(UInt32(random.below(Int(range)))) { text.append(scalar) }
    }
    return String(text)
  }
}
