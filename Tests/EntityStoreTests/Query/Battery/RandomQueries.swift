/// Random queries of the same kind as the battery's, from a seed; the planner was not tuned for
/// these queries.
struct RandomQueries {
  let count: Int
  private var numbers: BatteryNumbers

  /// - Parameter count: of the sightings.
  init(seed: Int, count: Int) {
    self.count = count
    numbers = BatteryNumbers(seed: seed)
  }

  mutating func next() -> BatteryQuery {
    let condition = condition()
    switch numbers.below(10) {
    case 0: return BatteryQuery(.count, condition)
    case 1: return BatteryQuery(aggregate(), condition)
    case 2:
      let isSummed = numbers.below(2) == 0
      return BatteryQuery(
        .groups(
          pick(["low", "cat", "state", "skew", "flag", "corr"]),
          sum: isSummed ? pick(["seq", "rnd", "noidx"]) : nil),
        condition)
    case 3:
      return BatteryQuery(.distinct(pick(["low", "cat", "state", "flag", "corr"])), condition)
    case 4: return BatteryQuery(.ids, condition, order: order(), limit: limit())
    default:
      let limit = limit()
      let isDeep = limit != nil && numbers.below(6) == 0
      return BatteryQuery(
        .rows, condition, order: order(), limit: limit, offset: isDeep ? numbers.below(500) : 0)
    }
  }

  private mutating func pick<Element>(_ list: [Element]) -> Element {
    list[numbers.below(list.count)]
  }

  private mutating func aggregate() -> BatteryQuery.Answer {
    switch numbers.below(4) {
    case 0: .sum(pick(["seq", "rnd", "skew", "noidx", "ts"]))
    case 1: .average("amount")
    case 2: .minimum(pick(["ts", "rnd", "nul", "score", "cat", "noidx"]))
    default: .maximum(pick(["ts", "rnd", "nul", "score", "cat", "noidx"]))
    }
  }

  private mutating func limit() -> Int? { pick([nil, 1, 10, 10, 50, 300]) }

  private mutating func order() -> String {
    guard numbers.below(2) == 0 else { return "" }
    var names: [String] = []
    for _ in 0...numbers.below(2) {
      let name = pick([
        "seq", "ts", "rnd", "corr", "skew", "low", "cat", "nul", "score", "amount", "name",
      ])
      guard !names.contains(where: { $0.hasSuffix(name) }) else { continue }
      names.append((numbers.below(2) == 0 ? "-" : "") + name)
    }
    return names.joined(separator: ",")
  }

  private mutating func condition() -> BatteryCondition {
    let terms = (0..<pick([0, 1, 1, 1, 2, 2, 3])).map { _ in term() }
    if terms.count == 1 { return terms[0] }
    if terms.count == 2, numbers.below(4) == 0 { return terms[0] || terms[1] }
    if terms.count == 3, numbers.below(3) == 0 { return (terms[0] || terms[1]) && terms[2] }
    return .all(terms.flatMap(\.conjuncts))
  }

  private mutating func term() -> BatteryCondition {
    switch numbers.below(14) {
    case 0: return range("seq", of: count)
    case 1: return range("rnd", of: count)
    case 2: return range("noidx", of: count)
    case 3: return range("nul", of: count)
    case 4: return range("ts", of: 10 * count)
    case 5: return range("_id", of: count)
    case 6: return range("corr", of: count / 1_000 + 1)
    case 7:
      let value = BatteryLiteral.int(Int(1 / (1 - numbers.fraction())))
      return pick([BatteryField("skew") == value, BatteryField("skew") >= value])
    case 8:
      let low = BatteryField("low")
      let value = BatteryLiteral.text(pick(Sighting.lows))
      let other = BatteryLiteral.text(pick(Sighting.lows))
      return pick([low == value, low == value, low.isIn([value, other]), low != value])
    case 9: return BatteryField("state") == .text(pick(["pending", "late", "done"]))
    case 10:
      let digits = Sighting.padded(numbers.below(1_000), to: 3)
      let cat = BatteryField("cat")
      return pick([
        cat == .text("c" + digits), cat == .text("c" + digits), cat.begins("c" + digits.prefix(2)),
        cat >= .text("c" + digits), cat.isIn([.text("c" + digits), "c500", "c017"]),
      ])
    case 11:
      let amount = BatteryLiteral.double(Double(numbers.below(16_000)) / 4)
      return BatteryField("flag") == .bool(numbers.below(3) != 0)
        && BatteryField("amount") >= amount
    case 12:
      let nul = BatteryField("nul")
      let score = BatteryField("score")
      return pick([nul.isNull, nul.isNotNull, score.isNull, score.isNotNull])
    default:
      let number = Sighting.padded(numbers.below(count), to: 7)
      let name = BatteryField("name")
      return pick([
        name.begins("name " + number.prefix(5)), name.like("name " + number.prefix(4) + "*1"),
        name == .text("name " + number), name.contains(String(number.suffix(3))),
      ])
    }
  }

  private mutating func range(_ name: String, of limit: Int) -> BatteryCondition {
    let field = BatteryField(name)
    let low = numbers.below(limit)
    // The width of the range has a random order of magnitude.
    var width = limit
    for _ in 0..<numbers.below(6) { width /= 10 }
    let high = low + width
    return switch numbers.below(6) {
    case 0: field == .int(low)
    case 1: field < .int(width)
    case 2: field >= .int(limit - width)
    case 3: field.isIn([.int(low), .int(high), .int(low / 2)])
    case 4: !(field < .int(low) || field > .int(high))
    default: field.isIn(low...high)
    }
  }
}
