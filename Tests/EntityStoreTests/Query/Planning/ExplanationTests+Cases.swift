@testable import EntityStore

extension ExplanationTests {
  static let cases: [Case] = [
    Case(
      "TRUEPREDICATE",
      "scan    all records of Trial",
      "order   by _id"),
    Case(
      "number == 5",
      "index   Trial.number at (5), about 1 entry",
      "check   nothing more: the entries say it all",
      "order   by _id"),
    Case(
      "number IN { 1, 2, 3, 70000 }",
      "index   Trial.number at 4 keys, about 3 entries",
      "check   nothing more: the entries say it all",
      "order   by _id"),
    Case(
      "number < 50",
      "index   Trial.number from (-9223372036854775808) to (49), about 50 entries",
      "check   nothing more: the entries say it all",
      "order   by _id"),
    Case(
      "number >= 19990",
      "index   Trial.number from (19990) to (9223372036854775807), about 10 entries",
      "check   nothing more: the entries say it all",
      "order   by _id"),
    Case(
      "number BETWEEN { 10, 20 }",
      "index   Trial.number from (10) to (20), about 10 entries",
      "check   nothing more: the entries say it all",
      "order   by _id"),
    Case(
      "number > 5 AND number < 9",
      "index   Trial.number from (6) to (8), about 3 entries",
      "check   nothing more: the entries say it all",
      "order   by _id"),
    Case(
      "share == 3",
      "index   Trial.share at (3), about 200 entries",
      "check   nothing more: the entries say it all",
      "order   by _id"),
    Case(
      "kind == 'c' AND share > 90",
      "index   Trial.kind+share from (c, 91) to (c, 9223372036854775807), about 200 entries",
      "check   nothing more: the entries say it all",
      "order   by _id"),
    Case(
      "kind IN { 'a', 'b' } AND share IN { 0, 1 }",
      "index   Trial.kind+share at 4 keys, about 400 entries",
      "check   nothing more: the entries say it all",
      "order   by _id"),
    Case(
      "kind == 'c'",
      "index   Trial.kind+share at (c), about 2000 entries",
      "check   nothing more: the entries say it all",
      "order   by _id"),
    Case(
      "name BEGINSWITH 'name 0004'",
      "index   Trial.name from (name 0004…) to (name 0005…), about 10 entries",
      "check   on each entry: name BEGINSWITH \"name 0004\"",
      "check   nothing more: the entries say it all",
      "order   by _id"),
    Case(
      "name LIKE 'name 0004?'",
      "index   Trial.name from (name 0004…) to (name 0005…), about 10 entries",
      "check   on each entry: name LIKE \"name 0004?\"",
      "check   nothing more: the entries say it all",
      "order   by _id"),
    Case(
      "name BEGINSWITH[c] 'NAME 0004'",
      "scan    all records of Trial",
      "check   on each record: name BEGINSWITH[c] \"NAME 0004\"",
      "order   by _id"),
    Case(
      "rating == NULL",
      "scan    all records of Trial",
      "check   on each record: rating == NULL",
      "order   by _id"),
    Case(
      "rating != NULL",
      "scan    all records of Trial",
      "check   on each record: NOT rating == NULL",
      "order   by _id"),
    Case(
      "note == 'note 1'",
      "scan    all records of Trial",
      "check   on each record: note == \"note 1\"",
      "order   by _id"),
    Case(
      "number == 5 AND note == 'note 1'",
      "index   Trial.number at (5), about 1 entry",
      "check   on each record: note == \"note 1\"",
      "order   by _id"),
    Case(
      "number == 5 OR name == 'name 00007'",
      "union   of 2 index ranges",
      "index   Trial.number at (5), about 1 entry",
      "index   Trial.name at (name 00007), about 1 entry",
      "check   nothing more: the entries say it all",
      "order   by _id"),
    Case(
      "number == 5 OR note == 'note 1'",
      "scan    all records of Trial",
      "check   on each record: number == 5 OR note == \"note 1\"",
      "order   by _id"),
    Case(
      "share == 3 AND rating == 1.5",
      "index   Trial.share at (3), about 200 entries",
      "check   on each record: rating == 1.5",
      "order   by _id"),
    Case(
      "_id == 5",
      "look up 1 record by _id",
      "order   by _id"),
    Case(
      "_id IN { 1, 2, 99999999 }",
      "look up 3 records by _id",
      "order   by _id"),
    Case(
      "_id < 100",
      "scan    _id 1 to 99",
      "order   by _id"),
    Case(
      "NOT number == 5",
      "scan    all records of Trial",
      "check   on each record: NOT number == 5",
      "order   by _id"),
    Case(
      "json.n == 3",
      "scan    all records of Trial",
      "check   on each record: json.n == 3",
      "order   by _id"),
    Case(
      "TRUEPREDICATE", by: [Trial.attributes.name.descending], limit: 10,
      "index   Trial.name, all of it, about 20000 entries",
      "check   nothing more: the entries say it all",
      "order   of the index, backwards",
      "limit   10"),
    Case(
      "note == 'note 1'", by: [Trial.attributes.share.ascending], limit: 5,
      "index   Trial.share, all of it, about 20000 entries",
      "check   on each record: note == \"note 1\"",
      "order   of the index",
      "limit   5",
      "else    after 4000 records without an end: scan all records of Trial"),
    Case(
      "kind == 'c'", by: [Trial.attributes.share.descending], limit: 5,
      "index   Trial.kind+share at (c), about 2000 entries",
      "check   nothing more: the entries say it all",
      "order   of the index, backwards",
      "limit   5"),
    Case(
      "TRUEPREDICATE", by: [Trial.attributes.note.ascending, Trial.attributes.number.descending],
      "scan    all records of Trial",
      "order   sorted by note, -number"),
    Case(
      "TRUEPREDICATE", by: [Trial.attributes.note.ascending], limit: 7,
      "scan    all records of Trial",
      "order   sorted by note, keeping the first 7",
      "limit   7"),
  ]
}
