import EntityStore
import Foundation

/// Predicates by name, for tables.
struct PredicateCases<E: Entity> {
  private(set) var all: [(name: String, predicate: Predicate<E>)] = []

  mutating func add(_ name: String, _ predicate: Predicate<E>) { all.append((name, predicate)) }
}

extension AllTypes {
  /// Not-a-number as a variable, because the compiler warns about a comparison with the literal.
  fileprivate static var notANumber: Double { 0.0 / Double(AllTypes().int) }

  /// A property that is no attribute, and whose type does not reveal its content.
  fileprivate var anything: any Sendable { bool ? int : string }
}

extension PredicateCases<AllTypes> {
  /// Comparisons of attributes with constants and with each other.
  static func comparisons() -> Self {
    var cases = Self()
    let small = Int8(3), big = UInt64.max - 1, half = Float(0.5), odd = AllTypes.notANumber
    let infinite = Double.infinity, zero = -0.0, text = "cafe\u{301}", none: String? = nil
    let date = Date(timeIntervalSinceReferenceDate: 5), data = Data([1, 2])
    let noDate = Date(timeIntervalSinceReferenceDate: .nan)
    let uuid = UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2))
    let url = AllTypes.url("https://example.org/a"), number = Decimal(12) / 10,
      noNumber = Decimal.nan
    let relative = URL(string: "a", relativeTo: AllTypes.url("https://example.org/")) ?? url
    let stage = Stage.released, maybeStage: Stage? = .draft, noStage: Stage? = nil
    let json = JSONValue.integer(1), place = Place(name: "a", tags: [:], inner: [])
    let film = RecordID<Film>(rawValue: 3), noFilm: RecordID<Film>? = nil
    let films = [film, RecordID(rawValue: 1)]
    let someInt16: Int16? = 3, someBool: Bool? = true, list = ["a"]
    cases.add("==", #Predicate { $0.int == 3 })
    cases.add("!=", #Predicate { $0.int != 3 })
    cases.add("<", #Predicate { $0.int < 3 })
    cases.add("<=", #Predicate { $0.int <= 3 })
    cases.add(">", #Predicate { $0.int > 3 })
    cases.add(">=", #Predicate { $0.int >= 3 })
    cases.add("literal on the left ==", #Predicate { 3 == $0.int })
    cases.add("literal on the left <", #Predicate { 3 < $0.int })
    cases.add("literal on the left >=", #Predicate { 3 >= $0.int })
    cases.add("int8", #Predicate { $0.int8 <= small })
    cases.add("int16", #Predicate { $0.int16 > -2 })
    cases.add("int32", #Predicate { $0.int32 != 0 })
    cases.add("int64", #Predicate { $0.int64 < 9_223_372_036_854_775_807 })
    cases.add("uint8", #Predicate { $0.uint8 >= 200 })
    cases.add("uint16", #Predicate { $0.uint16 == 3 })
    cases.add("uint32", #Predicate { $0.uint32 < 3 })
    cases.add("uint64", #Predicate { $0.uint64 >= big })
    cases.add("uint", #Predicate { $0.uint > 9_223_372_036_854_775_808 })
    cases.add("float", #Predicate { $0.float == half })
    cases.add("float <", #Predicate { $0.float < 0.1 })
    cases.add("double", #Predicate { $0.double <= 0.5 })
    cases.add("double NaN ==", #Predicate { $0.double == odd })
    cases.add("double NaN !=", #Predicate { $0.double != odd })
    cases.add("double NaN <", #Predicate { $0.double < odd })
    cases.add("not <", #Predicate { !($0.double < 0.5) })
    cases.add("not >= NaN", #Predicate { !($0.double >= odd) })
    cases.add("infinity", #Predicate { $0.double < infinite })
    cases.add("-0.0", #Predicate { $0.double == zero })
    cases.add("-0.0 <", #Predicate { $0.double < zero })
    cases.add("text ==", #Predicate { $0.string == text })
    cases.add("text !=", #Predicate { $0.string != text })
    cases.add("text <", #Predicate { $0.string < text })
    cases.add("text >=", #Predicate { $0.string >= text })
    cases.add("empty text", #Predicate { $0.string == "" })
    cases.add("line break", #Predicate { $0.string == "\r\n" })
    cases.add("optional text ==", #Predicate { $0.optionalString == text })
    cases.add("optional text !=", #Predicate { $0.optionalString != text })
    cases.add("optional text == nil variable", #Predicate { $0.optionalString == none })
    cases.add("== nil", #Predicate { $0.optionalString == nil })
    cases.add("!= nil", #Predicate { $0.optionalString != nil })
    cases.add("nil ==", #Predicate { nil == $0.optionalDecimal })
    cases.add("optional int16", #Predicate { $0.optionalInt16 == 3 })
    cases.add("optional int16 != variable", #Predicate { $0.optionalInt16 != someInt16 })
    cases.add("optional uint64", #Predicate { $0.optionalUInt64 == big })
    cases.add("optional float", #Predicate { $0.optionalFloat == half })
    cases.add("optional double", #Predicate { $0.optionalDouble != odd })
    cases.add("id", #Predicate { $0.film == film })
    cases.add("id !=", #Predicate { $0.film != film })
    cases.add("id <", #Predicate { $0.film < film })
    cases.add("id >=", #Predicate { $0.film >= film })
    cases.add("id in", #Predicate { films.contains($0.film) })
    cases.add("number of id", #Predicate { $0.film.rawValue >= 3 })
    cases.add("optional id", #Predicate { $0.optionalFilm == film })
    cases.add("optional id != nil", #Predicate { $0.optionalFilm != nil })
    cases.add("optional id == nil variable", #Predicate { $0.optionalFilm == noFilm })
    cases.add("date", #Predicate { $0.date < date })
    cases.add("date ==", #Predicate { $0.date == date })
    cases.add("date NaN", #Predicate { $0.date != noDate })
    cases.add("date <= NaN", #Predicate { $0.date <= noDate })
    cases.add("optional date", #Predicate { $0.optionalDate == date })
    cases.add("data", #Predicate { $0.data == data })
    cases.add("optional data", #Predicate { $0.optionalData != data })
    cases.add("uuid", #Predicate { $0.uuid == uuid })
    cases.add("uuid <", #Predicate { $0.uuid < uuid })
    cases.add("optional uuid", #Predicate { $0.optionalUUID == uuid })
    cases.add("url", #Predicate { $0.url == url })
    cases.add("url !=", #Predicate { $0.url != url })
    cases.add("relative url", #Predicate { $0.url == relative })
    cases.add("optional url", #Predicate { $0.optionalURL == url })
    cases.add("decimal ==", #Predicate { $0.decimal == number })
    cases.add("decimal !=", #Predicate { $0.decimal != number })
    cases.add("decimal <", #Predicate { $0.decimal < number })
    cases.add("decimal <=", #Predicate { $0.decimal <= number })
    cases.add("decimal >", #Predicate { $0.decimal > number })
    cases.add("decimal >=", #Predicate { $0.decimal >= number })
    cases.add("decimal NaN ==", #Predicate { $0.decimal == noNumber })
    cases.add("decimal NaN <", #Predicate { $0.decimal < noNumber })
    cases.add("decimal > NaN", #Predicate { $0.decimal > noNumber })
    cases.add("optional decimal", #Predicate { $0.optionalDecimal == number })
    cases.add("enumeration", #Predicate { $0.stage == stage })
    cases.add("enumeration !=", #Predicate { $0.stage != stage })
    cases.add("optional enumeration", #Predicate { $0.optionalStage == maybeStage })
    cases.add("optional enumeration nil", #Predicate { $0.optionalStage != noStage })
    cases.add("raw value", #Predicate { $0.stage.rawValue == "draft" })
    cases.add("integer raw value", #Predicate { $0.grade.rawValue > 0 })
    cases.add("enumeration == nil", #Predicate { $0.optionalGrade == nil })
    cases.add("json", #Predicate { $0.json == json })
    cases.add("json == nil", #Predicate { $0.optionalJSON == nil })
    cases.add("document", #Predicate { $0.place == place })
    cases.add("document == nil", #Predicate { $0.optionalPlace == nil })
    cases.add("document list", #Predicate { $0.list == list })
    cases.add("bool", #Predicate { $0.bool })
    cases.add("not bool", #Predicate { !$0.bool })
    cases.add("bool ==", #Predicate { $0.bool == true })
    cases.add("bool != false", #Predicate { $0.bool != false })
    cases.add("false ==", #Predicate { false == $0.bool })
    cases.add("optional bool == true", #Predicate { $0.optionalBool == true })
    cases.add("optional bool != true", #Predicate { $0.optionalBool != true })
    cases.add("optional bool == false", #Predicate { $0.optionalBool == false })
    cases.add("optional bool == variable", #Predicate { $0.optionalBool == someBool })
    cases.add("two attributes ==", #Predicate { $0.int == $0.int })
    cases.add("two floats", #Predicate { $0.double == $0.double })
    cases.add("two decimals", #Predicate { $0.decimal == $0.decimal })
    cases.add("two texts", #Predicate { $0.string < $0.string })
    cases.add("two optionals", #Predicate { $0.optionalString == $0.optionalString })
    cases.add("two stages", #Predicate { $0.stage == $0.stage })
    cases.add("condition == constant", #Predicate { ($0.int > 3) == false })
    cases.add("two conditions", #Predicate { ($0.int > 3) == ($0.bool) })
    cases.add("condition != attribute", #Predicate { ($0.int > 3) != $0.bool })
    return cases
  }

  /// Logic, ranges, lists and texts.
  static func lists() -> Self {
    var cases = Self()
    let closed = 1...5, half = 1..<5, from = 3..., upTo = ..<3, through = ...3, empty = 3..<3
    let words = "a"..."cafe\u{301}", decimals = Decimal(0)...Decimal(2), below = ..<Decimal(2)
    let times =
      Date(timeIntervalSinceReferenceDate: 0)..<Date(timeIntervalSinceReferenceDate: 10)
    let numbers = [1, 3, 5], set: Set<Int> = [3, 7], names: Set<String> = ["a", "caf\u{e9}", ""]
    let none: [Int] = [], optionals: [Int16?] = [3, nil], doubles = [0.0, .nan, .infinity]
    let stages: [Stage] = [.draft, .yanked], stageSet: Set<Stage> = [.released]
    let amounts: Set<Decimal> = [1, Decimal(12) / 10]
    let urls = [AllTypes.url("https://example.org/a")], part = "b", sentence = "a cafe\u{301} b"
    let json: [JSONValue] = [.null, .integer(1)], yes = true, no = false, limit = 3
    cases.add("&&", #Predicate { $0.int > 0 && $0.bool })
    cases.add("||", #Predicate { $0.int > 3 || $0.bool })
    cases.add("three", #Predicate { $0.int > 0 && $0.bool && $0.string != "" })
    cases.add("nested", #Predicate { ($0.int > 0 || $0.bool) && !($0.string == "" || $0.int < 3) })
    cases.add("not not", #Predicate { !(!($0.int == 3)) })
    cases.add("constant &&", #Predicate { yes && $0.bool })
    cases.add("constant ||", #Predicate { $0.bool || yes })
    cases.add("constant", #Predicate { _ in no })
    cases.add("folded", #Predicate { $0.int > limit * 2 - 4 / 2 + 7 % 4 })
    cases.add("folded minus", #Predicate { $0.int > -limit })
    cases.add("constants alone", #Predicate { $0.bool && limit == 3 })
    cases.add("closed range", #Predicate { (1...5).contains($0.int) })
    cases.add("range", #Predicate { (1..<5).contains($0.int) })
    cases.add("captured closed range", #Predicate { closed.contains($0.int) })
    cases.add("captured range", #Predicate { half.contains($0.int) })
    cases.add("from", #Predicate { from.contains($0.int) })
    cases.add("up to", #Predicate { upTo.contains($0.int) })
    cases.add("through", #Predicate { through.contains($0.int) })
    cases.add("empty range", #Predicate { empty.contains($0.int) })
    cases.add("not in range", #Predicate { !half.contains($0.int) })
    cases.add("range of doubles", #Predicate { (0.0...0.5).contains($0.double) })
    cases.add("range of texts", #Predicate { words.contains($0.string) })
    cases.add("range of dates", #Predicate { times.contains($0.date) })
    cases.add("range of decimals", #Predicate { decimals.contains($0.decimal) })
    cases.add("decimals up to", #Predicate { below.contains($0.decimal) })
    cases.add("range of attributes", #Predicate { ($0.int...$0.int).contains(3) })
    cases.add("range with default", #Predicate { (2...4).contains($0.optionalInt16 ?? 3) })
    cases.add("array", #Predicate { numbers.contains($0.int) })
    cases.add("array literal", #Predicate { [1, 3, 5].contains($0.int) })
    cases.add("set", #Predicate { set.contains($0.int) })
    cases.add("set of texts", #Predicate { names.contains($0.string) })
    cases.add("empty array", #Predicate { none.contains($0.int) })
    cases.add("not in array", #Predicate { !numbers.contains($0.int) })
    cases.add("array of optionals", #Predicate { optionals.contains($0.optionalInt16) })
    cases.add("array of doubles", #Predicate { doubles.contains($0.double) })
    cases.add("array of stages", #Predicate { stages.contains($0.stage) })
    cases.add("set of stages", #Predicate { stageSet.contains($0.stage) })
    cases.add("set of decimals", #Predicate { amounts.contains($0.decimal) })
    cases.add("array of urls", #Predicate { urls.contains($0.url) })
    cases.add("array of json", #Predicate { json.contains($0.json) })
    cases.add("array with default", #Predicate { names.contains($0.optionalString ?? "a") })
    cases.add("array without default", #Predicate { names.contains($0.optionalString ?? "z") })
    cases.add("starts", #Predicate { $0.string.starts(with: "a") })
    cases.add("starts with nothing", #Predicate { $0.string.starts(with: "") })
    cases.add("starts with a part of a character", #Predicate { $0.string.starts(with: "cafe") })
    cases.add("contains", #Predicate { $0.string.contains("b") })
    cases.add("contains captured", #Predicate { $0.string.contains(part) })
    cases.add("contains nothing", #Predicate { $0.string.contains("") })
    cases.add("contains accent", #Predicate { $0.string.contains("\u{e9}") })
    cases.add("contains plain letter", #Predicate { $0.string.contains("e") })
    cases.add("contains half a line break", #Predicate { $0.string.contains("\n") })
    cases.add("text contains attribute", #Predicate { sentence.contains($0.string) })
    cases.add("attribute contains attribute", #Predicate { $0.string.contains($0.stage.rawValue) })
    cases.add("text starts with attribute", #Predicate { sentence.starts(with: $0.string) })
    cases.add("contains with default", #Predicate { ($0.optionalString ?? "b").contains("b") })
    cases.add("starts with default", #Predicate { ($0.optionalString ?? "").starts(with: "a") })
    cases.add("regex", #Predicate { $0.string.contains(/[ab]c/) })
    return cases
  }

  /// Optionals, conditionals, arithmetic, collections, casts: predicates that partly or wholly
  /// become code.
  static func expressions() -> Self {
    var cases = Self()
    let part = "b", key = "k", captured: Int? = 3, missing: Int? = nil, index = 0
    cases.add("?.", #Predicate { $0.optionalString?.contains(part) ?? false })
    cases.add("?. true", #Predicate { $0.optionalString?.contains(part) ?? true })
    cases.add("?. == true", #Predicate { $0.optionalString?.contains("b") == true })
    cases.add("?. != true", #Predicate { $0.optionalString?.starts(with: "a") != true })
    cases.add("?. == false", #Predicate { $0.optionalString?.starts(with: "a") == false })
    cases.add("?. count", #Predicate { $0.optionalString?.count == 2 })
    cases.add("?? attribute", #Predicate { $0.optionalString?.contains("b") ?? $0.bool })
    cases.add("?? bool", #Predicate { $0.optionalBool ?? false })
    cases.add("?? true", #Predicate { $0.optionalBool ?? true })
    cases.add("?? other", #Predicate { $0.optionalBool ?? ($0.int > 3) })
    cases.add("?? and >", #Predicate { ($0.optionalInt16 ?? 0) > 2 })
    cases.add("?? and <", #Predicate { ($0.optionalInt16 ?? 0) < 2 })
    cases.add("?? and ==", #Predicate { ($0.optionalString ?? "") == "" })
    cases.add("?? and !=", #Predicate { ($0.optionalString ?? "") != "" })
    cases.add("?? and != other", #Predicate { ($0.optionalString ?? "x") != "" })
    cases.add("< and ??", #Predicate { 2 < ($0.optionalInt16 ?? 3) })
    cases.add("decimal ??", #Predicate { ($0.optionalDecimal ?? 0) < 1 })
    cases.add("decimal ?? other", #Predicate { ($0.optionalDecimal ?? 7) < 1 })
    cases.add("?? attributes", #Predicate { ($0.optionalString ?? $0.string) == "a" })
    cases.add(
      "if let", #Predicate { p in if let t = p.optionalString { t == "a" } else { false } })
    cases.add(
      "if let else",
      #Predicate { p in if let t = p.optionalString { t == "a" } else { p.int == 3 } })
    cases.add(
      "if let !=",
      #Predicate { p in if let n = p.optionalDouble { n != 0.5 && p.bool } else { false } })
    cases.add(
      "two if let",
      #Predicate { p in
        if let t = p.optionalString {
          if let n = p.optionalInt16 { t == "a" || n > 2 } else { false }
        } else {
          false
        }
      })
    cases.add(
      "if let with code",
      #Predicate { p in
        if let n = p.optionalInt16 { n > 0 && n % 2 == 1 } else { p.bool }
      })
    cases.add(
      "if let captured", #Predicate { p in if let captured { p.int == captured } else { p.bool } })
    cases.add(
      "if let missing", #Predicate { p in if let missing { p.int == missing } else { p.bool } })
    cases.add("captured == nil", #Predicate { missing == nil && $0.bool })
    cases.add("captured != nil", #Predicate { captured != nil ? $0.bool : $0.int == 3 })
    cases.add("captured ??", #Predicate { $0.int == (missing ?? 3) })
    cases.add("optional list", #Predicate { $0.optionalList?.contains(1) ?? false })
    cases.add("flatMap", #Predicate { $0.optionalString.flatMap { $0.count } == 1 })
    // swift-format-ignore: NeverForceUnwrap
    cases.add("! behind != nil", #Predicate { $0.optionalInt16 != nil && $0.optionalInt16! > 2 })
    // swift-format-ignore: NeverForceUnwrap
    cases.add("! behind == nil", #Predicate { $0.optionalInt16 == nil || $0.optionalInt16! > 2 })
    // swift-format-ignore: NeverForceUnwrap
    cases.add("!", #Predicate { $0.optionalInt16! > 2 })
    cases.add("ternary", #Predicate { $0.bool ? $0.int > 3 : $0.string == "" })
    cases.add("ternary of values", #Predicate { ($0.bool ? $0.int : 3) == 3 })
    cases.add("ternary of code", #Predicate { $0.string.isEmpty ? $0.int > 3 : $0.bool })
    cases.add("if else", #Predicate { if $0.int > 3 { $0.bool } else { $0.optionalString == nil } })
    cases.add("nested path", #Predicate { $0.place.name == "a" })
    cases.add("optional nested path", #Predicate { $0.optionalPlace?.name == "a" })
    cases.add("json path", #Predicate { $0.json.intValue == 1 })
    cases.add(
      "json in if let", #Predicate { p in if let j = p.optionalJSON { j.isNull } else { false } })
    cases.add("count", #Predicate { $0.string.count > 1 })
    cases.add("isEmpty", #Predicate { $0.string.isEmpty })
    cases.add("list isEmpty", #Predicate { !$0.list.isEmpty })
    cases.add("first", #Predicate { $0.list.first == "a" })
    cases.add("last", #Predicate { $0.list.last != "a" })
    cases.add("sum", #Predicate { $0.int8 / 2 + 1 > 2 })
    cases.add("difference", #Predicate { $0.double - 1 < $0.double * 2 })
    cases.add("division", #Predicate { $0.double / $0.double == 1 })
    cases.add("remainder", #Predicate { $0.int % 3 == 0 })
    cases.add("minus", #Predicate { -$0.double > 0 })
    cases.add("decimal sum", #Predicate { $0.decimal + 1 > 2 })
    cases.add("guarded division", #Predicate { $0.int != 0 && 12 / $0.int > 3 })
    cases.add("guarded by or", #Predicate { $0.int == 0 || 12 % $0.int == 0 })
    cases.add("contains where", #Predicate { $0.list.contains { $0 == "a" } })
    cases.add("contains element", #Predicate { $0.list.contains("a") })
    cases.add("allSatisfy", #Predicate { $0.list.allSatisfy { $0.count < 2 } })
    cases.add("filter", #Predicate { $0.list.filter { $0 != "a" }.count == 1 })
    cases.add("captured in closure", #Predicate { p in p.list.contains { $0 == p.string } })
    cases.add(
      "nested closures",
      #Predicate { p in p.place.inner.contains { i in i.tags.allSatisfy { $0.key == i.name } } })
    cases.add("max", #Predicate { ($0.list.max() ?? "") > "a" })
    cases.add("min", #Predicate { $0.list.min() == nil })
    cases.add("subscript", #Predicate { !$0.list.isEmpty && $0.list[0] == "a" })
    cases.add("subscript out of range", #Predicate { $0.list[index] == "a" })
    cases.add("range subscript", #Predicate { $0.list.count > 1 && $0.list[0..<2].contains("a") })
    cases.add("dictionary", #Predicate { $0.table[key] == 0.5 })
    cases.add("dictionary default", #Predicate { $0.table[key, default: 0.5] == 0.5 })
    cases.add("dictionary of captured", #Predicate { ($0.table["k"] ?? 1) < 1 })
    cases.add("as?", #Predicate { ($0.anything as? String) == "a" })
    cases.add("is", #Predicate { $0.anything is Int })
    return cases
  }
}
