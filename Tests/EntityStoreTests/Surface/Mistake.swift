/// A program with one mistake, and the first error of the compiler.
struct Mistake: Sendable, CustomStringConvertible {
  /// A part of the first error: the attribute, the word, or the suggestion.
  let text: String
  /// A part of another first error, if the compiler reports two errors of the line in an order that
  /// changes from run to run.
  var otherText: String?
  /// The line of `source` at which the first error stands.
  let line: Int
  let source: String
  /// The part of the program that is wrong.
  let description: String

  /// `body` from the second line of a function on.
  private init(_ body: String, _ text: String, _ line: Int, in function: String, _ end: String) {
    self.text = text
    self.line = line
    source = "private func tried(\(function)\n\(body) \(end)"
    description = body
  }

  /// Lines of a condition, which may use an optional `number`.
  static func condition(
    _ body: String, _ text: String, or otherText: String? = nil, at line: Int = 2
  ) -> Mistake {
    var mistake = Mistake(body, text, line, in: "number: Int?) { _ = Film.where {", "} }")
    mistake.otherText = otherText
    return mistake
  }

  /// A mistake after a query.
  static func query(_ body: String, _ text: String, of query: String = "Film.all") -> Mistake {
    Mistake(body, text, 2, in: ") { _ = \(query)", "}")
  }

  /// A mistake in the assignments of an update.
  static func update(_ body: String, _ text: String) -> Mistake {
    Mistake(
      body, text, 2, in: "tx: inout WriteTransaction) throws { try tx.update(Film.all) {", "} }")
  }

  /// A mistake in the use of a `snapshot`, a `store` or a write `tx`.
  static func call(
    _ body: String, _ text: String, or otherText: String? = nil, isAsynchronous: Bool = false
  ) -> Mistake {
    var mistake = Mistake(
      body, text, 2,
      in: "snapshot: borrowing Snapshot, store: Store, tx: inout WriteTransaction) "
        + "\(isAsynchronous ? "async " : "")throws {", "}")
    mistake.otherText = otherText
    return mistake
  }

  /// A mistake in the use of a record and a relationship.
  static func linking(_ body: String, _ text: String) -> Mistake {
    Mistake(
      body, text, 2,
      in: "_ film: Film, _ sequels: ToMany<Film, Film>, _ tx: inout WriteTransaction) throws {",
      "}")
  }
}

extension Mistake {
  static let inConditions: [Mistake] = [
    .condition(#"$0.episod == 4"#, "'Film.Attributes' has no member 'episod'"),
    .condition(#"$0.episode == "4""#, "'Attribute<Film, Int>' and 'String'"),
    .condition(#"$0.rating == "4""#, "'Attribute<Film, Double?>'"),
    .condition(#"$0.rating > "4""#, "'Attribute<Film, Double?>'"),
    .condition(#"$0.title > 3"#, "'Attribute<Film, String>'"),
    .condition(#"$0.isSeen == 1"#, "'Attribute<Film, Bool>' and 'Int'"),
    .condition(#"$0.id == 4"#, "'Attribute<Film, RecordID<Film>>' and 'Int'"),
    .condition(#"$0.episode == $0.title"#, "'Attribute<Film, String>'"),
    .condition(#"$0.episode == 3...5"#, "'Attribute<Film, Int>' and 'ClosedRange<Int>'"),
    .condition(#"$0.episode == 4 && $0.title == "x""#, "write each condition on a line of its own"),
    .condition(#"$0.episode == 4 || $0.title == "x""#, "write anyOf("),
    // The compiler names the type of the first result; see Condition+Unavailable.swift.
    .condition(
      #"$0.episode == 4 || $0.title == "x" || $0.rating > 3"#, "'_WriteAnyOf<Film>'"),
    .condition(
      #"$0.episode == 4 && $0.title == "x" && $0.rating > 3"#,
      "'_WriteEachConditionOnALine<Film>'"),
    .condition(#"anyOf($0.isSeen && $0.isSeen, $0.isSeen)"#, "'ConditionTerm'"),
    .condition(#"[1, 2].contains($0.episode)"#, "ask the attribute: $0.episode.isIn([1, 4])"),
    .condition(#"[1.0, 2].contains($0.rating)"#, "ask the attribute: $0.episode.isIn([1, 4])"),
    .condition(#"(1...4).contains($0.episode)"#, "ask the attribute: $0.episode.isIn(1...4)"),
    .condition(#"$0.sequel.name == "x""#, #"in brackets: $0.person[\.name]"#),
    .condition(#"$0.sequel.title == "x""#, "has no member 'title'"),
    .condition(#"$0.title.name == "x""#, #"in brackets: $0.person[\.name]"#),
    .condition(#"$0.episode = 4"#, "'episode' is a get-only property"),
    .condition(#"$0.episode"#, "only a Bool is a condition by itself"),
    .condition(#"$0.title == nil"#, "this attribute is required and never nil"),
    .condition(#"$0.title != nil"#, "this attribute is required and never nil"),
    .condition(#"$0.genre == .comedy"#, "member 'comedy'"),
    .condition(#"$0.subgenre == .comedy"#, "member 'comedy'"),
    .condition(#"$0.genre.isIn([.comedy])"#, "'Genre' has no member 'comedy'"),
    .condition(#"$0.title.isIn(4...)"#, "'Int' to expected argument type 'String'"),
    .condition(#"$0.title.isIn("a")"#, "'isIn'"),
    .condition(#"$0.episode.isIn(["a"])"#, "'String' to expected element type 'Int'"),
    .condition(#"$0.rating.isIn(["a"])"#, "'String' to expected element type 'Double'"),
    .condition(#"$0.episode.in([1])"#, "'Attribute<Film, Int>' has no member 'in'"),
    .condition(#"$0.episode.contains("x")"#, "'contains'"),
    .condition(#"$0.episode.hasPrefix("4")"#, "'hasPrefix'"),
    .condition(#"$0.title.hasPrefx("x")"#, "'Attribute<Film, String>' has no member 'hasPrefx'"),
    .condition(#"$0.title.like("a*")"#, "'Attribute<Film, String>' has no member 'like'"),
    .condition(#"$0.title.isEmpty"#, "'Attribute<Film, String>' has no member 'isEmpty'"),
    .condition(#"$0.title.lowercase() == "x""#, "has no member 'lowercase'"),
    .condition(#"$0.address.city == "Zug""#, "'Attribute<Film, Address>' has no member 'city'"),
    .condition(#"anyOf($0.isSeen, $0.episode)"#, "'anyOf'"),
    .condition(#"if number { $0.episode == 1 }"#, "'Int?' cannot be used as a boolean"),
    .condition(
      """
      $0.episode == 1
      $0.title == "a"
      $0.rating > 3
      $0.genre == .drama
      $0.episode.isIn(1...3)
      $0.title.hasPrefix("x")
      $0.episode == 1.5
      $0.released < Date()
      $0.isSeen
      !$0.isSeen
      """, "'Attribute<Film, Int>' and 'Double'", at: 8),
  ]

  static let inQueries: [Mistake] = [
    .query(#".where(\.isSeen)"#, "a condition is a closure: where { $0.isSeen }"),
    .query(#".where(\.episode == 4)"#, "a condition is a closure: where { $0.episode == 4 }"),
    .query(#".where(\.episode == 4)"#, "a condition is a closure", of: "Film"),
    .query(#".where(\.director == nil)"#, "a condition is a closure: where { $0.episode == 4 }"),
    .query(#".where(\.rating != 4)"#, "a condition is a closure: where { $0.episode != 4 }"),
    .query(#".where(\.rating > 3)"#, "a condition is a closure: where { $0.episode > 4 }"),
    .query(#".where(\.released <= Date())"#, "a condition is a closure: where { $0.episode <= 4 }"),
    // If the path has no type, no overload is tried.
    .query(#".where(\.episod == 4)"#, "cannot infer key path type"),
    .query(#".filter { $0.isSeen }"#, "has no member 'filter'"),
    .query(#".limit("3")"#, "'String' to expected argument type 'Int'"),
    .query(#".limit(3)"#, "'Film' has no member 'limit'", of: "Film"),
    .query(#".sorted(by: \.episod)"#, "'Film.Attributes' has no member 'episod'"),
    .query(#".sorted(by: \.title.desc)"#, "'Attribute<Film, String>' has no member 'desc'"),
    .query(#".sorted(by: \.title.descending, \.episode)"#, "SortKey<Film>"),
    .query(#".sorted(by: \.title, .descending)"#, #"sorted(by: \.title.descending)"#),
    .query(#".sorted(by: \.title, order: .reverse)"#, #"sorted(by: \.title.descending)"#),
    .query(#".sorted(by: .ascending(\.title))"#, "has no member 'ascending'"),
    .query(#".sorted(by: \Film.title)"#, "'KeyPath<Film, String>'"),
    .query(#".sorted { $0.title < $1.title }"#, "(Film.Attributes) -> [SortKey<Film>]"),
  ]

  static let inUpdates: [Mistake] = [
    .update(#"$0.episod = 4"#, "no dynamic member 'episod'"),
    .update(#"$0.episode = "4""#, "'String' to type 'UpdatedAttribute<Film, Int>'"),
    .update(#"$0.episode += 1"#, "write $0.count.add(1)"),
    .update(#"$0.episode == 1"#, "write $0.count.add(1)"),
    .update(#"$0.title.add("x")"#, "'String' has no member 'add'"),
    .update(#"$0.id.add(1)"#, "'RecordID<Film>' has no member 'add'"),
    .update(#"$0.title = nil"#, "'nil' cannot be assigned"),
    .update(#"$0.genre = .comedy"#, "no member 'comedy'"),
  ]

  static let inCalls: [Mistake] = [
    // A view that outlives the transaction would refer to released memory.
    .call(
      "let kept: Any = snapshot.access; _ = kept",
      "value of type 'TransactionAccess' does not conform to specified type 'Copyable'"),
    .call(
      #"let kept = try store.read { $0 }; _ = try kept.fetch(Film.all)"#, "has no member 'fetch'"),
    .call(#"_ = try store.fetch(Film.self)"#, "fetch(Film.all), fetch(Film.where { … })"),
    .call(#"_ = try store.fetch(5)"#, "Film.ID(rawValue: 5)"),
    .call(#"_ = try store.count(Film.self)"#, "count(Film.all), count(Film.where { … })"),
    .call(#"try store.delete(Film.self)"#, "delete(Film.all), delete(Film.where { … })"),
    .call(#"_ = try snapshot.fetch(Film.self)"#, "fetch(Film.all), fetch(Film.where { … })"),
    .call(#"_ = try snapshot.first(Film.self)"#, "first(Film.all), first(Film.where { … })"),
    .call(#"_ = try snapshot.exists(Film.self)"#, "exists(Film.all), exists(Film.where { … })"),
    .call(#"_ = try snapshot.fetch(5)"#, "Film.ID(rawValue: 5)"),
    .call(#"try tx.delete(Film.self)"#, "delete(Film.all), delete(Film.where { … })"),
    // No overload improves these messages: with one, a misspelt attribute of an update is reported
    // as a wrong query.
    .call(#"try tx.update(Film.self) { $0.episode = 4 }"#, "parameter 'E'", or: "'Film.Type'"),
    .call(#"try tx.delete(5)"#, "Film.ID(rawValue: 5)"),
    .linking(#"try tx.add(film, to: sequels, of: film.id)"#, "add(ann.id, to: …, of: choir.id)"),
    .linking(#"try tx.add([film], to: sequels, of: film.id)"#, #"add(people.map(\.id), to: …"#),
    .linking(#"try tx.add(film.id, to: sequels, of: film)"#, "type 'RecordID<Film>'"),
    .linking(#"try tx.remove(film, from: sequels, of: film)"#, "remove(ann.id, from: …"),
    .linking(#"try tx.remove([film], from: sequels, of: film)"#, #"remove(people.map(\.id)"#),
    .linking(#"try tx.set(sequels, of: film.id, to: [film])"#, #"to: people.map(\.id))"#),
    .call(#"_ = try store.fetch(Film.where { $0.episod == 4 })"#, "has no member 'episod'"),
    .call(#"_ = try store.count(Film.where { $0.episode == "4" })"#, "'Attribute<Film, Int>'"),
    .call(#"try tx.delete(Film.where { $0.title == nil })"#, "required and never nil"),
    .call(#"_ = try snapshot.first(Film.all.sorted(by: \.episod))"#, "has no member 'episod'"),
    // The compiler names the missing member in a second error at the same line.
    .call(
      #"_ = try snapshot.values(Film.all, \.titl)"#, "has no member 'titl'", or: "parameter 'V'"),
    .call(
      #"_ = try snapshot.aggregate(Film.all, .sum(\.title))"#, "Attribute<Film, String>>'",
      or: "parameter 'V'"),
    .call(#"try snapshot.insert([1])"#, "'Snapshot' has no member 'insert'"),
    .call(#"try snapshot.delete(Film.all)"#, "'Snapshot' has no member 'delete'"),
    .call(#"_ = try store.fetch(Film.key(episode: "4"))"#, "'String' to expected argument type"),
    .call(#"_ = try store.fetch(Film.key(title: "4"))"#, "have 'title:', expected 'episode:'"),
    .call(
      #"_ = try store.insert(Address(city: "Zug", zip: 6300))"#, "'Address' conform to 'Entity'"),
    .call(#"if Film.where({ $0.isSeen }) { return }"#, "'Query<Film>' to expected condition type"),
    .call(
      #"try store.insert([Film]())"#, "'async' but is not marked with 'await'", isAsynchronous: true
    ),
  ]
}

extension Mistake {
  static let all = inConditions + inQueries + inUpdates + inCalls
}
