/// A mistake that people make, and the first error that the compiler must give.
struct Mistake: Sendable, CustomStringConvertible {
  let name: String
  /// Where the error stands.
  let line: Int
  let source: String
  /// A part of the error.
  let says: String

  init(_ name: String, line: Int, _ source: String, says: String) {
    self.name = name
    self.line = line
    self.source = source
    self.says = says
  }

  var description: String { name }
}

extension Mistake {
  static let all: [Mistake] = [
    Mistake(
      "a misspelt attribute", line: 2,
      """
      func f() { _ = Film.where {
       $0.episod == 4 } }
      """,
      says: "value of type 'Film.Attributes' has no member 'episod'"),
    Mistake(
      "a text compared with a number", line: 2,
      """
      func f() { _ = Film.where {
       $0.episode == "4" } }
      """,
      says:
        "binary operator '==' cannot be applied to operands of type 'Attribute<Film, Int>' and 'String'"
    ),
    Mistake(
      "a text compared with an optional number", line: 2,
      """
      func f() { _ = Film.where {
       $0.rating > "4" } }
      """,
      says:
        "cannot convert value of type 'Attribute<Film, Double?>' to expected argument type 'Attribute<Film, JSONValue>'"
    ),
    Mistake(
      "a number compared with a text", line: 2,
      """
      func f() { _ = Film.where {
       $0.title > 3 } }
      """,
      says:
        "cannot convert value of type 'Attribute<Film, String>' to expected argument type 'Attribute<Film, Int?>'"
    ),
    Mistake(
      "&& between conditions", line: 2,
      """
      func f() { _ = Film.where {
       $0.episode == 4 && $0.title == "x" } }
      """,
      says: "no exact matches in call to static method 'buildExpression'"),
    Mistake(
      "|| between conditions", line: 2,
      """
      func f() { _ = Film.where {
       $0.episode == 4 || $0.title == "x" } }
      """,
      says: "no exact matches in call to static method 'buildExpression'"),
    Mistake(
      "one equals sign", line: 2,
      """
      func f() { _ = Film.where {
       $0.episode = 4 } }
      """,
      says: "no exact matches in call to static method 'buildExpression'"),
    Mistake(
      "a number as a condition", line: 2,
      """
      func f() { _ = Film.where {
       $0.episode } }
      """,
      says:
        "'buildExpression' is unavailable: only a Bool is a condition by itself; compare this attribute with a value"
    ),
    Mistake(
      "a comparison of a key path", line: 2,
      """
      func f() { _ = Film.where(
       \\.episode == 4) }
      """,
      says: "cannot infer key path type from context"),
    Mistake(
      "a key path as a condition", line: 2,
      """
      func f() { _ = Film.all.where(
       \\.isSeen) }
      """,
      says:
        "key path value type 'Attribute<Film, Bool>' cannot be converted to contextual type 'Condition<Film>'"
    ),
    Mistake(
      "a misspelt attribute of an order", line: 2,
      """
      func f() { _ = Film.all.sorted(by:
       \\.episod) }
      """,
      says: "value of type 'Film.Attributes' has no member 'episod'"),
    Mistake(
      "an order with and without its direction", line: 2,
      """
      func f() { _ = Film.all.sorted(by:
       \\.title.descending, \\.episode) }
      """,
      says:
        "cannot convert value of type 'KeyPath<Film.Attributes, Attribute<Film, Int>>' to expected argument type 'KeyPath<Film.Attributes, SortKey<Film>>'"
    ),
    Mistake(
      "an order by a case", line: 2,
      """
      func f() { _ = Film.all.sorted(by:
       .ascending(\\.title)) }
      """,
      says: "type 'KeyPath<Film.Attributes, SortKey<Film>>' has no member 'ascending'"),
    Mistake(
      "a part of a number", line: 2,
      """
      func f() { _ = Film.where {
       $0.episode.contains("x") } }
      """,
      says:
        "referencing instance method 'contains' on 'Attribute' requires that 'Int' conform to 'Collection'"
    ),
    Mistake(
      "a case that is not there", line: 2,
      """
      func f() { _ = Film.where {
       $0.genre == .comedy } }
      """,
      says: "reference to member 'comedy' cannot be resolved without a contextual type"),
    Mistake(
      "a case that is not there, optional", line: 2,
      """
      func f() { _ = Film.where {
       $0.subgenre == .comedy } }
      """,
      says: "reference to member 'comedy' cannot be resolved without a contextual type"),
    Mistake(
      "a text in a range of numbers", line: 2,
      """
      func f() { _ = Film.where {
       $0.title.isIn(4...) } }
      """,
      says: "cannot convert value of type 'Int' to expected argument type 'String'"),
    Mistake(
      "a number in a list of texts", line: 2,
      """
      func f() { _ = Film.where {
       $0.episode.isIn(["a"]) } }
      """,
      says: "cannot convert value of type 'String' to expected element type 'Int'"),
    Mistake(
      "null for a required attribute", line: 2,
      """
      func f() { _ = Film.where {
       $0.title == nil } }
      """,
      says:
        "binary operator '==' cannot be applied to operands of type 'Attribute<Film, String>' and 'String'"
    ),
    Mistake(
      "a misspelt attribute of an update", line: 2,
      """
      func f(_ tx: inout WriteTransaction) throws { try tx.update(Film.all) {
       $0.episod = 4 } }
      """,
      says:
        "value of type 'AttributeUpdates<Film>' has no dynamic member 'episod' using key path from root type 'Film.Attributes'"
    ),
    Mistake(
      "a text for a number", line: 2,
      """
      func f(_ tx: inout WriteTransaction) throws { try tx.update(Film.all) {
       $0.episode = "4" } }
      """,
      says: "cannot assign value of type 'String' to type 'UpdatedAttribute<Film, Int>'"),
    Mistake(
      "+= in an update", line: 2,
      """
      func f(_ tx: inout WriteTransaction) throws { try tx.update(Film.all) {
       $0.episode += 1 } }
      """,
      says:
        "getter for 'subscript(dynamicMember:)' is unavailable: an update has no values to read: write $0.count.add(1) or $0.a = $0.b"
    ),
    Mistake(
      "an attribute plus one", line: 2,
      """
      func f(_ tx: inout WriteTransaction) throws { try tx.update(Film.all) {
       $0.episode = $0.episode + 1 } }
      """,
      says:
        "getter for 'subscript(dynamicMember:)' is unavailable: an update has no values to read: write $0.count.add(1) or $0.a = $0.b"
    ),
    Mistake(
      "a text added", line: 2,
      """
      func f(_ tx: inout WriteTransaction) throws { try tx.update(Film.all) {
       $0.title.add("x") } }
      """,
      says: "value of type 'String' has no member 'add'"),
    Mistake(
      "the id of a record changed", line: 2,
      """
      func f(_ tx: inout WriteTransaction) throws { try tx.update(Film.all) {
       $0.id.add(1) } }
      """,
      says: "value of type 'RecordID<Film>' has no member 'add'"),
    Mistake(
      "two equals signs in an update", line: 2,
      """
      func f(_ tx: inout WriteTransaction) throws { try tx.update(Film.all) {
       $0.episode == 1 } }
      """,
      says:
        "getter for 'subscript(dynamicMember:)' is unavailable: an update has no values to read: write $0.count.add(1) or $0.a = $0.b"
    ),
    Mistake(
      "a misspelt attribute of values", line: 2,
      """
      func f(_ tx: borrowing Snapshot) throws { _ = try tx.values(Film.all,
       \\.titl) }
      """,
      says: "value of type 'Film.Attributes' has no member 'titl'"),
    Mistake(
      "a misspelt attribute of groups", line: 1,
      """
      func f(_ tx: borrowing Snapshot) throws { _ = try tx.groups(Film.all, by:
       \\.gnre) }
      """,
      says: "generic parameter 'Key' could not be inferred"),
    Mistake(
      "a sum of texts", line: 2,
      """
      func f(_ tx: borrowing Snapshot) throws { _ = try tx.aggregate(Film.all,
       .sum(\\.title)) }
      """,
      says:
        "cannot convert value of type 'KeyPath<Film.Attributes, Attribute<Film, String>>' to expected argument type 'KeyPath<Film.Attributes, Attribute<Film, V?>>'"
    ),
    Mistake(
      "an insert in a read", line: 2,
      """
      func f(_ store: Store) throws { try store.read {
       try $0.insert([1]) } }
      """,
      says: "value of type 'Snapshot' has no member 'insert'"),
    Mistake(
      "a delete in a read", line: 2,
      """
      func f(_ store: Store) throws { try store.read {
       try $0.delete(Film.all) } }
      """,
      says: "value of type 'Snapshot' has no member 'delete'"),
    Mistake(
      "a type in place of a query", line: 1,
      """
      func f(_ store: Store) throws { _ = try store.fetch(
       Film.self) }
      """,
      says: "'fetch' is unavailable: say which records: fetch(Film.all), fetch(Film.where { … })"),
    Mistake(
      "a type to delete", line: 1,
      """
      func f(_ tx: inout WriteTransaction) throws { try tx.delete(
       Film.self) }
      """,
      says: "'delete' is unavailable: say which records: delete(Film.all), delete(Film.where { … })"
    ),
    Mistake(
      "a number in place of an id", line: 1,
      """
      func f(_ store: Store) throws { _ = try store.fetch(
       5) }
      """,
      says: "'fetch' is unavailable: an id has the type of its entity: Film.ID(rawValue: 5)"),
    Mistake(
      "a key of another type", line: 2,
      """
      func f(_ store: Store) throws { _ = try store.fetch(Film.key(
       episode: "4")) }
      """,
      says: "cannot convert value of type 'String' to expected argument type 'Int'"),
    Mistake(
      "a key of another attribute", line: 1,
      """
      func f(_ store: Store) throws { _ = try store.fetch(Film.key(
       title: "4")) }
      """,
      says: "incorrect argument label in call (have 'title:', expected 'episode:')"),
    Mistake(
      "no await", line: 2,
      """
      func f(_ store: Store) async throws {
       try store.insert([Film]()) }
      """,
      says: "expression is 'async' but is not marked with 'await'"),
    Mistake(
      "a struct that is no entity", line: 3,
      """
      struct P { var a: Int }
      func f(_ store: Store) throws {
       _ = try store.insert(P(a: 3)) }
      """,
      says: "instance method 'insert' requires that 'P' conform to 'Entity'"),
    Mistake(
      "two attributes of two types", line: 2,
      """
      func f() { _ = Film.where {
       $0.episode == $0.title } }
      """,
      says:
        "cannot convert value of type 'Attribute<Film, String>' to expected argument type 'Attribute<Film, Int>'"
    ),
    Mistake(
      "an optional as a Boolean", line: 2,
      """
      func f(_ n: Int?) { _ = Film.where {
       if n { $0.episode == 1 } } }
      """,
      says: "optional type 'Int?' cannot be used as a boolean; test for '!= nil' instead"),
    Mistake(
      "a misspelt attribute by a named argument", line: 2,
      """
      func f() { _ = Film.where { film in
       film.episod == 1
       film.title == "x" } }
      """,
      says: "value of type 'Film.Attributes' has no member 'episod'"),
    Mistake(
      "one wrong type in ten lines", line: 8,
      """
      func f() { _ = Film.where {
       $0.episode == 1
       $0.title == "a"
       $0.rating > 3
       $0.genre == .drama
       $0.episode.isIn(1...3)
       $0.title.hasPrefix("x")
       $0.episode == 1.5
       $0.released < Date()
       $0.isSeen
       !$0.isSeen } }
      """,
      says:
        "binary operator '==' cannot be applied to operands of type 'Attribute<Film, Int>' and 'Double'"
    ),
    Mistake(
      "a text as a limit", line: 2,
      """
      func f() { _ = Film.all.limit(
       "3") }
      """,
      says: "cannot convert value of type 'String' to expected argument type 'Int'"),
    Mistake(
      "a query as a Boolean", line: 2,
      """
      func f() -> Bool { let q = Film.all
       if q.where { $0.episode == 1 } { return true }; return false }
      """,
      says: "cannot convert value of type 'Query<Film>' to expected condition type 'Bool'"),
    Mistake(
      "a member of a nested struct", line: 2,
      """
      func f() { _ = Film.where {
       $0.address.city == "Zug" } }
      """,
      says: "value of type 'Attribute<Film, Address>' has no member 'city'"),
    Mistake(
      "a function that is not there", line: 2,
      """
      func f() { _ = Film.where {
       $0.title.lowercase() == "x" } }
      """,
      says: "value of type 'Attribute<Film, String>' has no member 'lowercase'"),
  ]
}
