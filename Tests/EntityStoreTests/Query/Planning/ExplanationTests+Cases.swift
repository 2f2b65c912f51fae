@testable import EntityStore

extension ExplanationTests {
  static let cases: [Case] = [
    Case("TRUEPREDICATE"), Case("FALSEPREDICATE"), Case("number == 5"),
    Case("number IN { 1, 2, 3, 70000 }"), Case("number < 50"), Case("number >= 19990"),
    Case("number BETWEEN { 10, 20 }"), Case("number > 5 AND number < 9"),
    Case("share == 3"),
    Case("kind == 'c' AND share > 90"), Case("kind IN { 'a', 'b' } AND share IN { 0, 1 }"),
    Case("kind == 'c'"), Case("name BEGINSWITH 'name 0004'"), Case("name LIKE 'name 0004?'"),
    Case("name BEGINSWITH[c] 'NAME 0004'"), Case("rating == NULL"), Case("rating != NULL"),
    Case("note == 'note 1'"), Case("number == 5 AND note == 'note 1'"),
    Case("number == 5 OR name == 'name 00007'"), Case("number == 5 OR note == 'note 1'"),
    Case("share == 3 AND rating == 1.5"), Case("_id == 5"), Case("_id IN { 1, 2, 99999999 }"),
    Case("_id < 100"), Case("NOT number == 5"),
    Case("json.n == 3"), Case("name > 'name 19000'", by: [.ascending(\.name)]),
    Case("TRUEPREDICATE", by: [.descending(\.name)], limit: 10),
    Case("note == 'note 1'", by: [.ascending(\.share)], limit: 5),
    Case("kind == 'c'", by: [.descending(\.share)], limit: 5),
    Case("TRUEPREDICATE", by: [.ascending(\.note), .descending(\.number)]),
    Case("TRUEPREDICATE", by: [.ascending(\.note)], limit: 7),
  ]
}
