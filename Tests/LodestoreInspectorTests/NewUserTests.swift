import EntityStore
import LodestoreEssentials
import LodestoreJSON
import Testing

@testable import LodestoreInspector

/// A spare part, known by its name.
private struct Part: Entity {
  var id = RecordID<Part>()
  var name: String
  var weight: Int

  static let schema = EntitySchema<Part>(
    "Part", attributes: [.init("name", \.name), .init("weight", \.weight)], unique: [[\.name]],
    history: .kept(images: true))

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    weight = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(weight)
  }
}

@Suite("Pages for a new user")
struct NewUserTests {
  /// Imports parts by their names.
  private func run(_ json: String, into library: Library) async throws {
    let importer = Importer(into: library.store, Part.self, matching: .unique(\.name))
    _ = try await importer.run(
      AsyncStream { continuation in
        continuation.yield(Data(json.utf8))
        continuation.finish()
      }, renaming: [:])
  }

  @Test func `the page of an import run has each changed attribute before and after`() async throws
  {
    let library = try Library(entities: [Part.self])
    try await run(
      #"[{"name":"A","weight":1},{"name":"B","weight":2},{"name":"C","weight":3}]"#, into: library)
    try await run(
      #"[{"name":"A","weight":1},{"name":"B","weight":5},{"name":"D","weight":4}]"#, into: library)
    let store = try library.get("/")
    #expect(store.contains("href=\"/-/imports?_name=Part&amp;_run=2&amp;_change=updated\">1</a>"))
    let updated = try library.json("/-/imports.json?_name=Part&_run=2&_change=updated")["changes"]
    #expect(updated?.count == 1)
    #expect(updated?[0]?["name"]?.string == "B")
    #expect(updated?[0]?["attribute"]?.string == "weight")
    #expect(updated?[0]?["before"]?.int64 == 2)
    #expect(updated?[0]?["after"]?.int64 == 5)
    #expect(try library.json("/-/imports.json?_name=Part&_run=1")["changes"]?.count == 3)
    #expect(try library.json("/-/imports.json?_name=Part&_run=2")["changes"]?.count == 2)
    #expect(try library.get("/-/imports?_name=Part&_run=9", 404).contains("run 9"))
    #expect(try library.get("/-/imports?_name=Part&_run=2&_change=x", 404).contains("inserted"))
  }

  @Test func `the changes of an import run follow each other by pages`() async throws {
    let library = try Library(entities: [Part.self])
    let parts = (1...250).map { #"{"name":"\#($0)","weight":\#($0)}"# }
    try await run("[\(parts.joined(separator: ","))]", into: library)
    var address: String? = "/-/imports.json?_name=Part&_run=1"
    var names: [String] = []
    while let next = address {
      let json = try library.json(next)
      names += json["changes"]?.elements.compactMap { $0["name"]?.string } ?? []
      address = json["next"]?.string
    }
    #expect(names == (1...250).map(String.init))
    let lines = try library.get("/-/imports.jsonl?_name=Part&_run=1").split(separator: "\n")
    #expect(lines.count == 250)
  }

  @Test func `values inside JSON are found by links, examples and counts`() async throws {
    let library = try await Library.withBooks(25)
    let record = try library.get("/Book/7")
    #expect(record.contains("href=\"/Book?_where=details.shelf%20%3D%3D%201\""))
    #expect(record.contains("href=\"/Book?_where=title%20%3D%3D%20%22Book%207%22\""))
    #expect(!record.contains("details.tags"))
    let entity = try library.get("/Book")
    #expect(entity.contains("<code>details.shelf == 1</code>"))
    #expect(entity.contains("href=\"/Book?_facet=details.shelf\""))
    #expect(try library.get("/Book?_facet=details.shelf").contains("details.shelf%20%3D%3D%202"))
  }

  @Test(arguments: [
    ("title == 'x'", "No index begins with 'title'", "#Index&lt;Book&gt;([\\.title])"),
    ("title CONTAINS 'pages == 1'", "'title CONTAINS' is compared with each value", "BEGINSWITH"),
    ("title ==[cd] \"x\"", "'title ==[cd]' ignores case", "canonical:"),
    (
      "details.shelf == 1", "No index has 'details.shelf'",
      "@Derived(.member(\\Book.details, \"shelf\""
    ),
  ])
  func `the plan of a scan names its reason and its remedy`(
    condition: String, reason: String, remedy: String
  ) async throws {
    let library = try await Library.withBooks(25)
    let query = Address([], [Address.Item(name: "_where", value: condition)]).text.dropFirst()
    #expect(try library.get("/Book\(query)").contains("Why does this read all records?"))
    let plan = try library.get("/Book/-/plan\(query)")
    #expect(plan.contains(reason))
    #expect(plan.contains(remedy))
  }

  @Test func `a query with an index names it`() async throws {
    let library = try await Library.withBooks(25)
    try await library.store.write { tx in try tx.insert(Book("Long", pages: 900)) }
    let page = try library.get("/Book?_where=pages+%3D%3D+900")
    #expect(page.contains("Uses the index Book.pages"))
    #expect(!(try library.get("/Book")).contains("Why does this"))
  }
}
