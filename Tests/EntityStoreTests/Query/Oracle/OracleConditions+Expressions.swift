import Foundation

@testable import EntityStore
@testable import LodestoreFormat

// Conditions that are checked on each record: texts, documents, expressions.

extension OracleConditions {
  private static func path(_ steps: ValuePath.Step...) -> Operand {
    .path(ValuePath(.record, steps))
  }

  mutating func textTest() -> ConditionTree {
    let names = Self.attributes.filter { $0.kind == .text }.map(\.name)
    return textTest(pick(names))
  }

  mutating func textTest(_ name: String) -> ConditionTree {
    let path = Self.path(.member(name))
    var options = random.oneIn(3) ? TextOptions(rawValue: UInt8(random.below(4))) : []
    switch random.below(12) {
    case 0...3:
      return .comparison(Comparison(path, .beginsWith, .value(text()), options: options))
    case 4: return .comparison(Comparison(path, .endsWith, .value(text()), options: options))
    case 5: return .comparison(Comparison(path, .contains, .value(text()), options: options))
    case 6, 7:
      let pattern = pick(["a*", "*b", "?", "a?", "caf?", "x*y", "*", "", "?*", "ab*", "*e\u{301}"])
      return .comparison(Comparison(path, .like, .value(.string(pattern)), options: options))
    case 8:
      let pattern = pick(["a.*", "[ab]+", "caf(e|é)", "", ".", "x.y", "[^a]*"])
      return .comparison(Comparison(path, .matches, .value(.string(pattern))))
    case 9:
      return .comparison(Comparison(path, .in, .values([text(), text(), .null]), options: options))
    case 10:
      options = [.normalized]
      return .comparison(Comparison(path, pick([.equal, .less]), .value(text()), options: options))
    default:
      let symbol = pick([Comparison.Operator.equal, .less, .lessOrEqual, .greater, .notEqual])
      return .comparison(Comparison(path, symbol, .value(text()), options: options))
    }
  }

  private mutating func text() -> Value {
    .string(pick(Array(Specimen.texts.prefix(27)) + ["a", "b", "x", "e", "z", "cafe", "xx"]))
  }

  mutating func recordID() -> ConditionTree {
    let path = Self.path(.member("_id"))
    let known = values["_id"] ?? [.integer(1)]
    switch random.below(6) {
    case 0: return .comparison(Comparison(path, .equal, .value(pick(known))))
    case 1:
      let list = (0..<random.below(30)).map { _ in pick(known) } + [.integer(0), .integer(-1)]
      return .comparison(Comparison(path, .in, .values(list)))
    case 2:
      return .comparison(Comparison(path, .between, .values([pick(known), pick(known)])))
    case 3: return .comparison(Comparison(path, .notEqual, .value(pick(known))))
    case 4:
      return .comparison(Comparison(path, .less, .value(pick([.double(20.5), .integer(-1)]))))
    default:
      return .comparison(
        Comparison(
          path, pick([.less, .greater, .lessOrEqual, .greaterOrEqual]), .value(pick(known))))
    }
  }

  mutating func json() -> ConditionTree {
    let number = Self.path(.member("json"), .member("n"))
    switch random.below(8) {
    case 0, 1:
      let symbol = pick([
        Comparison.Operator.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
      ])
      let constant: Value = pick([.integer(1), .double(2.5), .string("a"), .null, .integer(-3)])
      return .comparison(Comparison(number, symbol, .value(constant)))
    case 2:
      return .comparison(Comparison(number, .in, .values([.integer(1), .string("a"), .null])))
    case 3:
      return .comparison(
        Comparison(number, .between, .values([.integer(-3), .double(Double(random.below(4)))])))
    case 4:
      return .comparison(
        Comparison(
          Self.path(.member("json"), .member("tags"), pick([.first, .last, .element(1)])),
          pick([.equal, .beginsWith, .less]), .value(text()),
          options: TextOptions(rawValue: UInt8(random.below(4)))))
    case 5:
      return .comparison(
        Comparison(
          Self.path(.member("json"), .member("deep"), .member("a"), .element(random.below(3))),
          pick([.equal, .less]), .value(.integer(Int64(random.below(3))))))
    case 6:
      return .comparison(
        Comparison(
          Self.path(.member("json"), .member("tags"), .size), pick([.equal, .greater]),
          .value(.integer(Int64(random.below(4))))))
    default:
      let function = pick([CollectionOperator.sum, .min, .max, .avg])
      return .comparison(
        Comparison(
          Self.path(.member("json"), .member("items"), .aggregate(function), .member("p")),
          pick([.equal, .less, .greaterOrEqual]), .value(.integer(Int64(random.below(5))))))
    }
  }

  mutating func quantified() -> ConditionTree {
    let quantifier = pick([Comparison.Quantifier.any, .all])
    let options = TextOptions(rawValue: UInt8(random.below(4)))
    let tree: ConditionTree
    switch random.below(4) {
    case 0:
      tree = .comparison(
        Comparison(
          Self.path(.member("json"), .member("tags")),
          pick([.equal, .beginsWith, .contains, .notEqual]), .value(text()), options: options,
          quantifier: quantifier))
    case 1:
      tree = .comparison(
        Comparison(
          Self.path(.member("json"), .member("items"), .member("p")),
          pick([.equal, .less, .greater]), .value(.integer(Int64(random.below(5)))),
          quantifier: quantifier))
    case 2:
      tree = .comparison(
        Comparison(
          Self.path(.member("place"), .member("inner"), .member("name")),
          pick([.equal, .in]), .values([text(), text()]), quantifier: quantifier))
    default:
      tree = .comparison(
        Comparison(.value(.string("a")), .in, Self.path(.member("json"), .member("tags"))))
    }
    return random.oneIn(4) ? .not(tree) : tree
  }

  mutating func subquery() -> ConditionTree {
    func element(_ steps: ValuePath.Step...) -> Operand {
      .path(ValuePath(.variable("x"), steps))
    }
    let isItem = random.oneIn(2)
    let collection =
      isItem
      ? Self.path(.member("json"), .member("items")) : Self.path(.member("place"), .member("inner"))
    var test: ConditionTree =
      isItem
      ? .comparison(
        Comparison(
          element(.member("p")), pick([.less, .equal]), .value(.integer(Int64(random.below(5))))))
      : .comparison(
        Comparison(element(.member("name")), pick([.equal, .beginsWith]), .value(text())))
    if random.oneIn(3) {
      test = .all([
        test, .comparison(Comparison(Self.path(.member("flag")), .equal, .value(.bool(true)))),
      ])
    }
    return .comparison(
      Comparison(
        .subquery(collection, variable: "x", test, [pick([.aggregate(.count), .size])]),
        pick([.equal, .greater, .less]), .value(.integer(Int64(random.below(3))))))
  }

  mutating func arithmetic() -> ConditionTree {
    let name = pick(["int", "small", "big", "ratio", "level", "code"])
    let path = Self.path(.member(name))
    var operand = Operand.arithmetic(
      pick(ArithmeticOperator.allCases), path,
      random.oneIn(2)
        ? .value(pick([.integer(2), .integer(0), .double(0.5), .integer(.max)]))
        : Self.path(.member(pick(["small", "int", "level"]))))
    if random.oneIn(3) { operand = .negative(operand) }
    return .comparison(
      Comparison(
        operand, pick([.less, .equal, .greaterOrEqual, .notEqual]),
        .value(pick([.integer(0), .integer(4), .double(1.5), .null]))))
  }

  mutating func twoAttributes() -> ConditionTree {
    let numbers = ["int", "small", "big", "ratio", "single", "level", "extra", "_id"]
    let pair =
      random.oneIn(3)
      ? [pick(["name", "label", "mark"]), pick(["name", "label", "mark"])]
      : [pick(numbers), pick(numbers)]
    return .comparison(
      Comparison(
        Self.path(.member(pair[0])),
        pick([.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]),
        Self.path(.member(pair[1]))))
  }

  mutating func function() -> ConditionTree {
    switch random.below(4) {
    case 0:
      return .comparison(
        Comparison(
          .call(.length, [Self.path(.member("name"))]), pick([.less, .equal]),
          .value(.integer(Int64(random.below(4))))))
    case 1:
      return .comparison(
        Comparison(
          .call(pick([.uppercase, .lowercase]), [Self.path(.member("name"))]),
          pick([.equal, .beginsWith]), .value(text())))
    case 2:
      return .comparison(
        Comparison(
          .call(pick([.abs, .sqrt]), [Self.path(.member(pick(["int", "ratio"])))]), .greater,
          .value(.integer(Int64(random.below(5))))))
    default:
      return .comparison(
        Comparison(
          .call(.count, [Self.path(.member("json"), .member("tags"))]), .equal,
          .value(.integer(Int64(random.below(4))))))
    }
  }

  mutating func conditional() -> ConditionTree {
    .comparison(
      Comparison(
        .conditional(
          textTest(), Self.path(.member("int")), .value(.integer(Int64(random.below(4))))),
        pick([.less, .equal, .greater]), .value(.integer(Int64(random.below(10))))))
  }

  // MARK: Orders

  /// A condition with lists of values for leading attributes of an index, and an order by further
  /// attributes or by all.
  ///
  /// Sometimes the first attribute has no condition.
  mutating func severalRanges() -> (ConditionTree, [SortTerm]) {
    let names = pick(Self.compounds)
    let listed = 1 + random.below(names.count)
    let isBehindFirst = names.count > 1 && random.oneIn(4)
    var parts = names.prefix(listed).dropFirst(isBehindFirst ? 1 : 0).map { name in
      membership(name, count: 1 + random.below(4))
    }
    if isBehindFirst, parts.isEmpty { parts.append(lookup(names[1])) }
    if random.oneIn(3), listed < names.count { parts.append(lookup(names[listed])) }
    if random.oneIn(4) { parts.append(leaf()) }
    let isDescending = random.oneIn(2)
    let ordered = names.dropFirst(random.oneIn(4) ? 0 : listed) + (random.oneIn(4) ? ["_id"] : [])
    let order = ordered.map {
      SortTerm(ValuePath(attribute: $0), isDescending: isDescending)
    }
    return (.all(of: parts), order)
  }

  /// A random sort term that is an expression, not an attribute.
  private mutating func computedTerm() -> SortTerm {
    let number = Self.path(.member(pick(["int", "small", "big", "ratio", "level"])))
    let operand =
      random.oneIn(3)
      ? Operand.call(.length, [Self.path(.member("name"))])
      : .arithmetic(
        pick([.add, .subtract, .multiply, .divide, .and]), number,
        random.oneIn(2)
          ? .value(pick([.integer(3), .double(0.5), .integer(.max)]))
          : Self.path(.member(pick(["small", "int"]))))
    return SortTerm(
      operand, isDescending: random.oneIn(2), nullsFirst: random.oneIn(5) ? random.oneIn(2) : nil)
  }

  mutating func order() -> [SortTerm] {
    let count = random.below(4)
    let isCompound = random.oneIn(2)
    let names =
      isCompound
      ? pick(Self.compounds)
      : (0..<count).map { _ in pick(Self.attributes.map(\.name) + ["_id", "json.n"]) }
    let isDescending = random.oneIn(2)
    let isMixed = random.oneIn(3)
    let computed = random.oneIn(6) ? [computedTerm()] : []
    return computed
      + names.prefix(max(count, isCompound ? 1 : 0)).map { name in
        let steps = name.split(separator: ".").map { ValuePath.Step.member(String($0)) }
        let isText = Self.attributes.contains { $0.name == name && $0.kind == .text }
        return SortTerm(
          ValuePath(.record, steps),
          isDescending: isMixed ? random.oneIn(2) : isDescending,
          nullsFirst: random.oneIn(5) ? random.oneIn(2) : nil,
          options: isText && random.oneIn(4) ? TextOptions(rawValue: UInt8(random.below(4))) : [])
      }
  }
}
