import EntityStore
import Foundation
import Testing

/// The article's table of condition forms must equal the table that is made here.
@Suite struct `The table of condition forms` {
  private static let article = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../../Sources/EntityStore/EntityStore.docc/Queries.md").standardized

  @Test func `the table of condition forms agrees with a run of each form in each way`() throws {
    let table = try withTemporaryStore([Piece.self]) { store in
      try store.insert((0..<1_000).map { Piece($0) })
      return try store.read { try Self.table($0) }
    }
    let text = try String(contentsOf: Self.article, encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let first = try #require(lines.firstIndex { $0.hasPrefix("| form |") })
    let end = lines[first...].firstIndex { !$0.hasPrefix("|") } ?? lines.endIndex
    if ProcessInfo.processInfo.environment["LODESTORE_RENEW"] != nil {
      let renewed = lines[..<first] + table + lines[end...]
      try renewed.joined(separator: "\n").write(to: Self.article, atomically: true, encoding: .utf8)
    } else {
      #expect(
        Array(lines[first..<end]) == table,
        "LODESTORE_RENEW=1 writes the table into \(Self.article.lastPathComponent)")
    }
  }

  private static func table(_ snapshot: borrowing Snapshot) throws -> [String] {
    var table = [
      "| form | lines | `#Predicate` | format string | index |", "| --- | --- | --- | --- | --- |",
    ]
    for form in ConditionForm.all {
      var uses: [(way: String, use: String)] = []
      if let condition = form.condition {
        uses.append(("lines", try use(of: Piece.where(condition), form, snapshot)))
      }
      if let swift = form.swift {
        uses.append(("`#Predicate`", try use(of: Piece.where(swift), form, snapshot)))
      }
      if let sentence = form.sentence {
        uses.append(("format", try use(of: Piece.where(format: sentence), form, snapshot)))
      }
      table.append(
        "| \(form.name) | \(form.lines) | \(form.predicate) | \(form.format) | \(text(of: uses)) |")
    }
    return table
  }

  /// Returns the index that serves the query, and checks the query's results.
  private static func use(
    of query: Query<Piece>, _ form: ConditionForm, _ snapshot: borrowing Snapshot
  ) throws -> String {
    #expect(try snapshot.count(query) == form.count, "\(form.name)")
    let plan = try snapshot.explain(query).description
    let isChecked = plan.contains("on each record")
    // Conditions that need a decoded record are in angle brackets.
    let isDecoded = plan.contains("on each record: <")
    if plan.hasPrefix("index") || plan.hasPrefix("union") || plan.hasPrefix("both") {
      return isChecked ? "yes, and a check" : "yes"
    }
    if plan.hasPrefix("scan") { return isDecoded ? "decoded" : isChecked ? "no" : "not needed" }
    return "not needed"
  }

  /// The index use that most ways have in common, followed by the uses that differ.
  private static func text(of uses: [(way: String, use: String)]) -> String {
    guard let first = uses.first else { return "" }
    let others = uses.filter { $0.use != first.use }
    return ([first.use] + others.map { "\($0.way): \($0.use)" }).joined(separator: "; ")
  }
}
