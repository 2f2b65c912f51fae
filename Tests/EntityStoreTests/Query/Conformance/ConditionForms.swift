import EntityStore
import Foundation

/// A form of condition: how the article on queries writes it in each of the three ways, and an
/// example of each that is run.
struct ConditionForm {
  /// The row's name.
  let name: String
  /// The three columns, in Markdown; empty where the way does not know the form.
  let lines: String
  let predicate: String
  let format: String
  let condition: Condition<Piece>?
  let swift: Predicate<Piece>?
  let sentence: String?
  /// The number of records that the condition finds among 1,000.
  let count: Int

  init(
    _ name: String, _ count: Int, lines: (String, Condition<Piece>)? = nil,
    predicate: (String, Predicate<Piece>)? = nil, format: (String, String)? = nil
  ) {
    self.name = name
    self.count = count
    self.lines = lines?.0 ?? ""
    condition = lines?.1
    self.predicate = predicate?.0 ?? ""
    swift = predicate?.1
    self.format = format?.0 ?? ""
    sentence = format?.1
  }
}

extension ConditionForm {
  static var all: [ConditionForm] { comparisons + texts + structure + values + functions }

  private static var comparisons: [ConditionForm] {
    let list = [3, 4]
    return [
      ConditionForm(
        "equality", 1, lines: ("`$0.a == x`", Condition { $0.number == 7 }),
        predicate: ("`$0.a == x`", #Predicate { $0.number == 7 }),
        format: ("`a == x`, `a = x`", "number == 7")),
      ConditionForm(
        "inequality", 999, lines: ("`$0.a != x`", Condition { $0.number != 7 }),
        predicate: ("`$0.a != x`", #Predicate { $0.number != 7 }),
        format: ("`a != x`, `a <> x`", "number != 7")),
      ConditionForm(
        "order", 7, lines: ("`$0.a < x`, `<=`, `>`, `>=`", Condition { $0.number < 7 }),
        predicate: ("the same", #Predicate { $0.number < 7 }),
        format: ("`<`, `<=` `=<`, `>`, `>=` `=>`", "number < 7")),
      ConditionForm(
        "null", 10, lines: ("`$0.a == nil`, `!= nil`", Condition { $0.grade == nil }),
        predicate: ("the same, `if let`", #Predicate { $0.grade == nil }),
        format: ("`a == NULL`, `a != NIL`", "grade == NULL")),
      ConditionForm(
        "range", 5,
        lines: ("`$0.a.isIn(1...5)`, `1..<5`, `1...`, `..<5`", Condition { $0.number.isIn(1...5) }),
        predicate: ("`(1...5).contains($0.a)`", #Predicate { (1...5).contains($0.number) }),
        format: ("`a BETWEEN {1, 5}`", "number BETWEEN {1, 5}")),
      ConditionForm(
        "one of a list", 2, lines: ("`$0.a.isIn(list)`", Condition { $0.number.isIn(list) }),
        predicate: ("`list.contains($0.a)`", #Predicate { list.contains($0.number) }),
        format: ("`a IN {1, 2}`, `a IN %@`", "number IN {3, 4}")),
      ConditionForm(
        "two attributes", 500, lines: ("`$0.a < $0.b`", Condition { $0.number < $0.other }),
        predicate: ("`$0.a < $0.b`", #Predicate { $0.number < $0.other }),
        format: ("`a < b`", "number < other")),
    ]
  }

  private static var texts: [ConditionForm] {
    [
      ConditionForm(
        "beginning", 10,
        lines: ("`$0.a.hasPrefix(\"x\")`", Condition { $0.name.hasPrefix("n100") }),
        predicate: ("`$0.a.starts(with: \"x\")`", #Predicate { $0.name.starts(with: "n100") }),
        format: ("`a BEGINSWITH \"x\"`", "name BEGINSWITH 'n100'")),
      ConditionForm(
        "end", 1, lines: ("`$0.a.hasSuffix(\"x\")`", Condition { $0.name.hasSuffix("1007") }),
        format: ("`a ENDSWITH \"x\"`", "name ENDSWITH '1007'")),
      ConditionForm(
        "part of a text", 1,
        lines: ("`$0.a.contains(\"x\")`", Condition { $0.name.contains("1007") }),
        predicate: ("`$0.a.contains(\"x\")`", #Predicate { $0.name.contains("1007") }),
        format: ("`a CONTAINS \"x\"`", "name CONTAINS '1007'")),
      ConditionForm(
        "wildcards", 10, lines: ("`$0.a.isLike(\"x*\")`", Condition { $0.name.isLike("n100?") }),
        format: ("`a LIKE \"x*\"`", "name LIKE 'n100?'")),
      ConditionForm(
        "regular expression", 10,
        lines: ("`$0.a.matches(\"x+\")`", Condition { $0.name.matches("n100.") }),
        predicate: ("`$0.a.contains(/x/)`", #Predicate { $0.name.contains(/n100./) }),
        format: ("`a MATCHES \"x+\"`", "name MATCHES 'n100.'")),
      ConditionForm(
        "without case or marks", 10,
        lines: (
          "`$0.a.hasPrefix(\"x\", .caseInsensitive)`",
          Condition { $0.name.hasPrefix("N100", .caseInsensitive) }
        ),
        format: ("`BEGINSWITH[cd]` and all others", "name BEGINSWITH[c] 'N100'")),
    ]
  }

  private static var structure: [ConditionForm] {
    [
      ConditionForm(
        "AND", 1,
        lines: (
          "lines, `allOf`; `if`, `switch`, `for`",
          Condition {
            $0.number == 8
            $0.isSeen
          }
        ),
        predicate: ("`&&`, `if`, `? :`", #Predicate { $0.number == 8 && $0.isSeen }),
        format: ("`AND`, `&&`", "number == 8 AND isSeen == TRUE")),
      ConditionForm(
        "OR", 2, lines: ("`anyOf`", Condition { anyOf($0.number == 8, $0.name == "n1009") }),
        predicate: ("`\\|\\|`", #Predicate { $0.number == 8 || $0.name == "n1009" }),
        format: ("`OR`, `\\|\\|`", "number == 8 OR name == 'n1009'")),
      ConditionForm(
        "NOT", 7, lines: ("`!`, `not`, `noneOf`", Condition { !($0.number >= 7) }),
        predicate: ("`!`", #Predicate { !($0.number >= 7) }),
        format: ("`NOT`, `!`", "NOT number >= 7")),
      ConditionForm(
        "always", 1_000, lines: ("`Pod.all`, `Condition.all`", .all),
        predicate: ("`true`", #Predicate { _ in true }),
        format: ("`TRUEPREDICATE`", "TRUEPREDICATE")),
      ConditionForm(
        "never", 0, lines: ("`Condition.none`", .none),
        predicate: ("`false`", #Predicate { _ in false }),
        format: ("`FALSEPREDICATE`", "FALSEPREDICATE")),
    ]
  }

  private static var values: [ConditionForm] {
    let id = RecordID<Piece>(rawValue: 7)
    return [
      ConditionForm(
        "record id", 1,
        lines: ("`$0.id == id`, `$0.id.isIn(ids)`", Condition { $0.id == id }),
        predicate: ("`$0.id == id`", #Predicate { $0.id == id }),
        format: ("`_id == 7`, `SELF IN %@`", "_id == 7")),
      ConditionForm(
        "id of another record", 1,
        lines: ("`$0.group == id`, `$0.group.isIn(ids)`", Condition { $0.group == id }),
        predicate: ("`$0.group == id`", #Predicate { $0.group == id }),
        format: ("`group == 7`, `group IN %@`", "group == 7")),
      ConditionForm(
        "in JSON, `[String: JSONValue]`", 1,
        lines: ("`$0.a[\"type\"] == \"MIT\"`, `$0.a[0]`", Condition { $0.json["type"] == "t7" }),
        predicate: ("by a computed property", #Predicate { $0.type == "t7" }),
        format: ("`a.type == \"MIT\"`, `a[0]`, `a[FIRST]`, `a[LAST]`", "json.type == 't7'")),
      ConditionForm(
        "in a `Codable` value", 1,
        lines: ("`$0.spec[\"swift\"] == \"5\"`", Condition { $0.spec["swift"] == "7" }),
        predicate: ("`$0.spec.swift == \"5\"`", #Predicate { $0.spec.swift == "7" }),
        format: ("`spec.swift == \"5\"`", "spec.swift == '7'")),
      ConditionForm(
        "element of a collection", 1,
        lines: ("`$0.tags.contains(\"x\")`", Condition { $0.tags.contains("x7") }),
        predicate: ("`$0.tags.contains(\"x\")`", #Predicate { $0.tags.contains("x7") }),
        format: ("`\"x\" IN tags`, `ANY tags == \"x\"`", "'x7' IN tags")),
      ConditionForm(
        "quantifiers", 1,
        predicate: (
          "`contains(where:)`, `allSatisfy`",
          #Predicate { piece in piece.tags.contains(where: { tag in tag == "x7" }) }
        ),
        format: ("`ANY SOME ALL NONE`", "ANY tags == 'x7'")),
      ConditionForm(
        "collection operators", 1_000,
        lines: ("`$0.a.count > 2`", Condition { $0.tags.count > 1 }),
        predicate: ("`count`, `min()`, `max()`", #Predicate { $0.tags.count > 1 }),
        format: ("`@count @sum @min @max @avg`, `a[SIZE]`", "tags.@count > 1")),
      ConditionForm(
        "sub-collections", 1,
        predicate: (
          "`filter { … }`",
          #Predicate { piece in piece.tags.filter { tag in tag == "x7" }.count > 0 }
        ),
        format: (
          "`SUBQUERY(a, $x, $x.b > 3).@count > 0`", "SUBQUERY(tags, $x, $x == 'x7').@count > 0"
        )),
    ]
  }

  private static var functions: [ConditionForm] {
    let now = Date(timeIntervalSinceReferenceDate: 7)
    return [
      ConditionForm(
        "arithmetic", 1,
        predicate: ("`+ - * / %`, unary `-`", #Predicate { $0.number + $0.number == 14 }),
        format: (
          "`+ - * / % **`, `abs:() floor:() ceiling:() trunc:() sqrt:() modulus:by:()`",
          "number + number == 14"
        )),
      ConditionForm(
        "bits of an integer", 500,
        lines: ("`$0.a & 4 != 0`, `\\|`, `^`", Condition { $0.number & 4 != 0 }),
        format: (
          "`a & 4 != 0`, `\\|`, `bitwiseAnd:with:() bitwiseOr:with:() bitwiseXor:with:() leftshift:by:() "
            + "rightshift:by:() onesComplement:()`", "number & 4 != 0"
        )),
      ConditionForm(
        "conversions of constants", 1,
        format: (
          "`CAST(\"2024-01-01\", \"date\")` and `integer double decimal string uuid data json`",
          "number == CAST('7', 'integer')"
        )),
      ConditionForm(
        "optionals", 1,
        predicate: ("`??`, `!`, `?.`, `flatMap`", #Predicate { ($0.grade ?? 0) == 7 }),
        format: ("`TERNARY(a == NULL, 0, a)`", "TERNARY(grade == NULL, 0, grade) == 7")),
      ConditionForm(
        "text functions", 1,
        lines: (
          "`$0.a.uppercased()`, `lowercased()`, `folded()`, `length`",
          Condition { $0.name.uppercased() == "N1007" }
        ),
        format: (
          "`uppercase:() lowercase:() canonical:() length:()`", "uppercase:(name) == 'N1007'"
        )),
      ConditionForm(
        "a date, the present", 7, lines: ("`$0.a < date`", Condition { $0.date < now }),
        predicate: ("the same, captured", #Predicate { $0.date < now }),
        format: ("`a < now()`, `%@`", "date < CAST(7, 'date')")),
      ConditionForm(
        "part of a date", 60,
        lines: ("`$0.a[.month] == 5`, `$0.a[startOf: .day]`", Condition { $0.date[.minute] == 1 }),
        format: ("`month:(a) == 5`, `startOfDay:(a, \"+02:00\")`", "minute:(date) == 1")),
      ConditionForm(
        "computed properties", 1,
        predicate: ("`$0.fullName == \"x\"`", #Predicate { $0.fullName == "n1007!" })),
    ]
  }
}
