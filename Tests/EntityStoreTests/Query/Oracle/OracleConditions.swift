import Foundation

@testable import EntityStore
@testable import LodestoreFormat

/// Random valid conditions on `Specimen`: every operator on every type of attribute, alone and in
/// combinations that indexes can answer.
struct OracleConditions {
  enum Kind: CaseIterable { case number, text, bool, date, decimal, uuid, data }

  static let attributes: [(name: String, kind: Kind)] = [
    ("serial", .number), ("int", .number), ("small", .number), ("big", .number),
    ("ratio", .number), ("single", .number), ("flag", .bool), ("name", .text), ("label", .text),
    ("date", .date), ("amount", .decimal), ("token", .uuid), ("blob", .data), ("url", .text),
    ("group", .number), ("code", .number), ("owner", .number), ("level", .number), ("mark", .text),
    ("extra", .number),
  ]

  /// Attributes of each index of several columns.
  static let compounds = [
    ["small", "int"], ["flag", "ratio"], ["label", "int", "name"], ["group", "code"],
    ["level", "label"], ["owner", "label"],
  ]

  var random: SeededNumbers
  /// The values that occur in the records, by attribute.
  let values: [String: [Value]]

  init(salt: UInt64, values: [String: [Value]]) {
    random = SeededNumbers(salt: salt)
    self.values = values
  }

  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[random.below(elements.count)]
  }

  mutating func condition(depth: Int = 3) -> ConditionTree {
    if depth <= 1 { return leaf() }
    switch random.below(10) {
    case 0, 1: return .all(many(depth))
    case 2, 3: return .any(many(depth))
    case 4: return .not(condition(depth: depth - 1))
    case 5: return compound()
    case 6: return .any((0...random.below(3)).map { _ in compound() } + [lookup()])
    default: return leaf()
    }
  }

  private mutating func many(_ depth: Int) -> [ConditionTree] {
    (0..<(2 + random.below(3))).map { _ in condition(depth: depth - 1) }
  }

  mutating func leaf() -> ConditionTree {
    switch random.below(20) {
    case 0: return .constant(random.oneIn(2))
    case 1...8: return lookup()
    case 9, 10: return textTest()
    case 11: return recordID()
    case 12: return json()
    case 13: return quantified()
    case 14: return subquery()
    case 15: return arithmetic()
    case 16: return twoAttributes()
    case 17: return function()
    case 18: return .not(lookup())
    default: return conditional()
    }
  }

  // MARK: Conditions that an index can look up

  /// A condition with equality on leading attributes of an index, and another comparison on the
  /// next attribute.
  private mutating func compound() -> ConditionTree {
    let names = pick(Self.compounds)
    let fixed = random.below(names.count)
    var parts = names.prefix(fixed).map { name in
      random.oneIn(4) ? membership(name, count: 1 + random.below(4)) : equality(name)
    }
    parts.append(lookup(names[fixed]))
    if random.oneIn(2), let kind = Self.attributes.first(where: { $0.name == names[0] })?.kind,
      kind == .text
    {
      parts.append(textTest(names[0]))
    }
    if random.oneIn(3) { parts.append(leaf()) }
    parts.shuffle(using: &random)
    return .all(of: parts)
  }

  private mutating func lookup() -> ConditionTree { lookup(pick(Self.attributes).name) }

  /// A condition on one attribute of a kind that most indexes know.
  mutating func lookup(_ name: String) -> ConditionTree {
    let path = Operand.path(ValuePath(attribute: name))
    switch random.below(12) {
    case 0: return .comparison(Comparison(path, pick([.equal, .notEqual]), .value(.null)))
    case 1: return membership(name, count: random.below(5))
    case 2: return membership(name, count: 20 + random.below(40))
    case 3:
      return .comparison(
        Comparison(path, .between, .values([constant(name), constant(name)])))
    case 4, 5: return equality(name)
    case 6:
      let symbol = pick([Comparison.Operator.equal, .less, .lessOrEqual, .greater, .greaterOrEqual])
      return .comparison(Comparison(.value(constant(name)), symbol, path))
    case 7: return .all(of: [order(name), order(name)])
    default: return order(name)
    }
  }

  private mutating func equality(_ name: String) -> ConditionTree {
    let value = random.oneIn(8) ? Value.null : constant(name)
    return .comparison(Comparison(.path(ValuePath(attribute: name)), .equal, .value(value)))
  }

  private mutating func order(_ name: String) -> ConditionTree {
    let symbol = pick([
      Comparison.Operator.less, .lessOrEqual, .greater, .greaterOrEqual, .equal, .notEqual,
    ])
    return .comparison(
      Comparison(.path(ValuePath(attribute: name)), symbol, .value(constant(name))))
  }

  mutating func membership(_ name: String, count: Int) -> ConditionTree {
    var list = (0..<count).map { _ in constant(name) }
    if random.oneIn(4) { list.append(.null) }
    return .comparison(Comparison(.path(ValuePath(attribute: name)), .in, .values(list)))
  }

  /// A value that occurs, or a neighbour of one.
  mutating func constant(_ name: String) -> Value {
    let known = values[name] ?? []
    if !known.isEmpty, !random.oneIn(4) { return pick(known) }
    switch Self.attributes.first(where: { $0.name == name })?.kind {
    case .number: return number()
    case .text: return .string(pick(Specimen.texts + ["az", "caf", "\u{e9}", "https://"]))
    case .bool: return .bool(random.oneIn(2))
    case .date: return .date(pick(Specimen.doubles + [4, 6, 7e8]))
    case .decimal:
      return random.oneIn(2)
        ? .integer(Int64(random.below(4)) - 1)
        : .decimal(DecimalValue(Decimal(random.below(40)) / 10))
    case .uuid: return .uuid(UUIDBytes(high: random.next(), low: UInt64(random.below(3))))
    case .data, nil: return .data((0..<random.below(3)).map { _ in pick([0, 1, 255]) })
    }
  }

  private mutating func number() -> Value {
    if random.oneIn(2) { return .integer(Int64(random.below(24)) - 2) }
    return pick([
      .integer(.min), .integer(.max), .unsigned(1 << 63), .unsigned(.max), .double(2.5),
      .double(-0.0), .double(.nan), .double(.infinity), .double(-.infinity), .double(1e30),
      .double(0.1), .integer(9_007_199_254_740_993), .double(0x1p63), .double(-0x1p63),
      .integer(128),
    ])
  }
}
