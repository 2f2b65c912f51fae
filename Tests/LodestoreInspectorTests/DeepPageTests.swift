import EntityStore
import LodestoreEssentials
import LodestoreJSON
import LodestoreRows
import Synchronization
import Testing

@testable import LodestoreInspector

@Suite("Deep pages")
struct DeepPageTests {
  // MARK: Indexes

  @Test func `an index page counts values and shows their distribution`() async throws {
    let library = try await Library.withBooks(25)
    try await library.store.write { tx in
      for _ in 0..<4 { try tx.insert(Book("Long", pages: 3)) }
    }
    let page = try library.json("/Book/-/index/pages.json")
    #expect(page["index"]?["records"]?.int64 == 29)
    #expect(page["values"]?.count == 10)
    #expect(page["values"]?[0]?["value"]?.int64 == 3)
    #expect(page["values"]?[0]?["entries"]?.int64 == 7)
    let parts = page["histogram"]?.elements.compactMap { $0["entries"]?.int64 } ?? []
    #expect(parts.count == 24)
    #expect(parts.reduce(0, +) == 29)
    #expect(parts[0] == 2 && parts[8] == 7 && parts[23] == 2)
    #expect(page["histogram"]?[23]?["to"]?.double == 9)
    let html = try library.get("/Book/-/index/pages")
    #expect(html.contains("<a href=\"/Book?_where=pages%20%3D%3D%203\" aria-label=\"3: 7\">"))
    // A selection or a later page shows its entries alone.
    #expect(try library.json("/Book/-/index/pages.json?pages=3")["values"] == nil)
  }

  @Test func `values that were not counted in time are said to be missing`() async throws {
    let library = try await Library.withBooks(3_000)
    var maker = PageMaker(store: DynamicStore(library.store), path: "library")
    maker.limits.count = .zero
    let page = try maker.page(Target(parsing: "/Book/-/index/pages"))
    let notices = page.sections.compactMap { section in
      if case .notice(let notice) = section.content { notice.text } else { nil }
    }
    #expect(notices.first?.hasPrefix("Not all entries were counted within 0.0 seconds") == true)
  }

  @Test func `a page of many records has a link to what took too long`() async throws {
    let library = try await Library.withBooks(3_000)
    var maker = PageMaker(store: DynamicStore(library.store), path: "library")
    (maker.limits.quickCount, maker.limits.page) = (2_999, .zero)
    func page(_ address: String) throws -> (text: String, isRefused: Bool) {
      let page = try maker.page(Target(parsing: address))
      return (String(decoding: PageDocument(page).bytes, as: UTF8.self), page.isRefused)
    }
    let late = try page("/Book?_where=details.none%20%3D%3D%201&_facet=title")
    #expect(late.text.contains("The records were not found yet.") && !late.isRefused)
    let link = "/Book?_where=details.none%20%3D%3D%201&amp;_facet=title&amp;_wait="
    #expect(late.text.contains("<a href=\"\(link)2\" data-wait=\"\">Wait for the rest</a>"))
    #expect(late.text.contains("/Book/-/plan?_where"))
    for address in [
      "/Book/-/index/pages", "/Book/-/index/details%5B%5D.tags",
      "/Book/-/plan?_where=details.none%20%3D%3D%201",
    ] {
      #expect(try page(address).text.contains("_wait=2\" data-wait"), "\(address)")
    }
    // A page with time has all, and its other links need no more time than usual.
    let whole = try page("/Book?_where=details.none%20%3D%3D%201&_facet=title&_wait=10")
    #expect(whole.text.contains("0 of 3,000 records.") && !whole.text.contains("Wait for"))
    #expect(!whole.text.contains("name=\"_wait\""))
    // Twins and small entities have the usual time.
    #expect(try !maker.page(Target(parsing: "/Book.json?_where=pages%20%3E%208")).isRefused)
    maker.limits.quickCount = 3_000
    #expect(try !page("/Book?_where=details.none%20%3D%3D%201").text.contains("Wait for"))
    for text in ["0", "11", "x", "-1"] {
      #expect(try library.get("/Book?_wait=\(text)", 400).contains("_wait"))
    }
  }

  @Test func `an index over elements has a page with its elements in order`() async throws {
    let library = try await Library.withBooks(9)
    let page = try library.json("/Book/-/index/details[].tags.json")
    let elements = page["elements"]
    #expect(elements?.elements.compactMap { $0["entries"]?.int64 } == [9, 4, 5])
    #expect(elements?[0]?["element"]?.string == "all")
    #expect(elements?[2]?["element"]?.double == 1)
    #expect(
      try library.get("/Book/-/index/details[].tags.csv?_limit=1")
        == "element,entries\r\nall,9\r\n")
    #expect(try library.get("/Book/-/index/details[].tags?_where=x", 400).contains("_where"))
    #expect(try library.get("/Book/-/index/details", 404).contains("no index"))
  }

  @Test func `first values are found at both ends, without the entries between them`() async throws
  {
    let library = try await Library.withBooks(40)
    try DynamicStore(library.store).read { snapshot in
      let book = try #require(snapshot.entity(named: "Book"))
      let index = try #require(book.indexes.first)
      let first = try snapshot.firstValues(of: index, of: book, most: 3)
      #expect(first.map(\.values) == [[.integer(0)], [.integer(1)], [.integer(2)]])
      let last = try snapshot.firstValues(of: index, of: book, most: 2, isReversed: true)
      #expect(last.map(\.values) == [[.integer(9)], [.integer(8)]])
      #expect(try snapshot.firstValues(of: index, of: book, most: 99).count == 10)
    }
  }

  @Test func `long texts and texts with zeros are counted apart`() async throws {
    let library = try Library()
    let long = String(repeating: "x", count: 600)
    let names = ["a", "a\0", "a\0b", long + "1", long + "2", ""]
    try await library.store.write { tx in for name in names { try tx.insert(Author(name)) } }
    try DynamicStore(library.store).read { snapshot in
      let author = try #require(snapshot.entity(named: "Author"))
      let index = try #require(author.indexes.first)
      var found: [IndexValue] = []
      #expect(
        try snapshot.forEachValue(of: index, of: author) {
          found.append($0)
          return true
        })
      #expect(found.map(\.count) == [1, 1, 1, 1, 2])
      #expect(found.map(\.isCut) == [false, false, false, false, true])
      #expect(found[2].values == [.string("a\0")])
      #expect(found[4].values == [.string(String(repeating: "x", count: 462))])
      #expect(try snapshot.firstValues(of: index, of: author, most: 9).count == 5)
    }
  }

  // MARK: Records

  @Test func `a record shows its bytes part by part`() async throws {
    let library = try await Library.withBooks(9)
    let parts = try #require(try library.json("/Book/7.json")["bytes"]?.elements.map { $0 })
    #expect(parts.first?["part"]?.string == "header" && parts.last?["part"]?.string == "checksum")
    var offset: Int64 = 0
    for part in parts {
      #expect(part["offset"]?.int64 == offset)
      offset += part["count"]?.int64 ?? 0
    }
    let title = parts.first { $0["part"]?.string == "bytes" && $0["attribute"]?.string == "title" }
    #expect(title?["bytes"]?.string == "Qm9vayA3")
    #expect(title?["value"]?.string == "Book 7")
    let pages = parts.first { $0["part"]?.string == "slot" && $0["attribute"]?.string == "pages" }
    #expect(pages?["count"]?.int64 == 8)
    #expect(pages?["bytes"]?.string == "BwAAAAAAAAA=")
  }

  @Test func `a record shows the entries of all indexes that lead to it`() async throws {
    let library = try await Library.withBooks(9)
    let entries = try library.json("/Book/7.json")["indexes"]
    #expect(
      entries?.elements.compactMap { $0["index"]?.string }
        == ["pages", "author", "details[].tags", "details[].tags"])
    #expect(
      entries?.elements.compactMap { $0["present"]?.bool } == [true, true, true, true])
    #expect(entries?[0]?["entry"]?.string == "FQcAAAAAAAAABw==")
    #expect(try library.json("/Author/1.json")["indexes"]?[0]?["unique"]?.bool == true)
  }

  @Test func `a record's history is found after a large write of other records`() async throws {
    let library = try await Library.withBooks(2)
    try await library.store.write { tx in
      for number in 0..<4_000 { try tx.insert(Book("Late \(number)", pages: 1)) }
    }
    let history = try library.json("/Book/2.json")["history"]
    #expect(history?.count == 1)
    #expect(history?[0]?["change"]?.string == "inserted")
  }

  // MARK: Pictures

  @Test func `the page of the store has sizes and growth`() async throws {
    let library = try await Library.withBooks(25)
    try await library.store.write { tx in
      try tx.insert(Book("Late", pages: 1))
      try tx.delete(try Book.where(format: "pages == 2"))
    }
    let page = try library.json("/.json")
    let trees = page["sizes"]?.elements.map { row in
      [row["entity"], row["tree"]].map { $0?.string ?? "" }.joined(separator: ".")
    }
    #expect(
      trees?.sorted()
        == [
          "Author.name", "Author.records", "Book.author", "Book.details[].tags", "Book.pages",
          "Book.records",
        ])
    #expect(page["growth"]?.elements.compactMap { $0["records"]?.int64 } == [23, 25])
    let html = try library.get("/")
    #expect(html.ranges(of: "<svg ").count == 2)
  }

  @Test func `the model is a picture with a table beside it`() async throws {
    let library = try await Library.withBooks(1)
    let page = try library.json("/-/model.json")
    #expect(page["model"]?.elements.compactMap { $0["entity"]?.string } == ["Author", "Book"])
    #expect(page["relationships"]?.count == 2)
    let html = try library.get("/-/model")
    #expect(html.contains(" aria-label=\"Model\"><desc>2 entities and 1 relationship."))
    #expect(html.contains("<a href=\"/Author/-/schema\" aria-label=\"Schema of Author\">"))
    #expect(html.ranges(of: "<circle ").count == 1)
  }

  @Test func `a plan is a picture of its steps and reads`() async throws {
    let library = try await Library.withBooks(25)
    let plan = try library.json("/Book/-/plan.json?pages=3")
    #expect(plan["plan"]?[1]?["actual"]?.int64 == plan["reads"]?["recordsRead"]?.int64)
    #expect(try library.get("/Book/-/plan?pages=3").contains(">entries read</text>"))
  }

  @Test func `no text of the store is markup in a picture`() throws {
    let hostile = "</text></svg><script>\u{202E}\0&\"'"
    var table = Table([], [])
    table.summary = hostile
    let drawing = Charts.bars(
      [
        Charts.Bar(
          label: hostile, value: 1, text: hostile,
          link: Drawing.Link(.entity(hostile, Selection())))
      ],
      title: hostile, summary: hostile)
    let markup = String(decoding: DrawingMarkup.figure(Figure(drawing, table)).bytes, as: UTF8.self)
    #expect(!markup.contains("<script") && markup.ranges(of: "</svg>").count == 1)
    #expect(!markup.unicodeScalars.contains { VisibleText.isInvisible($0) })
    let svg = try #require(markup.split(separator: "<svg ").last?.split(separator: "</svg>").first)
    #expect(!svg.contains("<span") && svg.contains("‹202E›‹0000›&amp;"))
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -0.0, 0.005])
  func `a number of a picture is finite`(number: Double) {
    let svg = SVG(.rect, [.number(.x, number)])
    let text = String(decoding: svg.bytes, as: UTF8.self)
    #expect(!text.contains("n") || text == "<rect x=\"0\"></rect>")
    #expect(!text.contains("e+"))
  }

  // MARK: Conditions

  @Test func `an example of a condition finds records`() async throws {
    let library = try await Library.withBooks(3)
    #expect(try library.get("/Book").contains(#"<code>title BEGINSWITH[c] "B"</code>"#))
    #expect(
      try library.get("/Author/-/plan").contains(#"<code>name BEGINSWITH[c] "U"</code>"#))
    // Addresses begin alike.
    let addresses = try await Library.withSights([Sight("https://example.org", 1, 2)])
    #expect(!(try addresses.get("/Sight").contains("<code>name BEGINSWITH")))
  }

  @Test func `the field for conditions suggests comparisons with frequent values`() async throws {
    let library = try await Library.withBooks(40)
    let page = try library.get("/Book")
    #expect(page.contains("list=\"where-values\""))
    for comparison in ["pages == 3", "pages BETWEEN {", "title BEGINSWITH[c] &quot;"] {
      #expect(page.contains("<option value=\"\(comparison)"), "\(comparison)")
    }
    // All titles differ, so none is a choice among few.
    #expect(!page.contains("<option value=\"title == &quot;Book"))
    #expect(try library.get("/Author").contains("<option value=\"books.@count &gt; 0\">"))
  }

  @Test func `every suggestion with a value is a condition`() async throws {
    let library = try Library()
    try await library.store.write { tx in
      for text in ["a\"b", "\\", "\u{202E}</datalist>", "", "NULL", "é\n"] {
        let author = try tx.insert(Author(text)).id
        for _ in 0..<2 { try tx.insert(Book(text, pages: 3, author: author)) }
      }
    }
    try DynamicStore(library.store).read { snapshot in
      for entity in snapshot.entities {
        let nested = NestedPaths(entity, snapshot)
        let texts = Completions(entity, snapshot, nested).texts
        #expect(texts.count > 8)
        let beginnings = [" ", "== \"", "] \"", "*", "{", "{\"", "(\""]
        for text in texts where !beginnings.contains(where: text.hasSuffix) {
          #expect(throws: Never.self, "\(text)") {
            try snapshot.query(QueryRequest(format: text), of: entity)
          }
        }
      }
    }
  }

  @Test func `a fault has its place for the script`() async throws {
    let library = try await Library.withBooks(3)
    let condition = "title%20%3D%3D%20%22%F0%9F%91%A9%22%20AND%20pges%20%3C%205"
    let page = try library.get("/Book?_where=\(condition)", 400)
    #expect(page.contains("data-fault-start=\"18\" data-fault-end=\"22\""))
  }

  @Test func `large records make pages and batches smaller, and none is left out`() async throws {
    let library = try await Library.withBooks(9)
    var maker = PageMaker(store: DynamicStore(library.store), path: "library")
    (maker.limits.pageBytes, maker.limits.batchBytes) = (300, 300)
    func lines(_ address: String) throws -> Int {
      var part: TwinPart? = Responder(maker: maker).respond(to: try #require(Address(address))).body
      var (text, parts) = ("", 0)
      while let current = part {
        text += String(decoding: current.bytes, as: UTF8.self)
        part = try current.next?()
        parts += 1
      }
      #expect(parts > 1)
      return text.split(whereSeparator: \.isNewline).count
    }
    #expect(try lines("/Book.jsonl") == 9)
    #expect(try lines("/Book.jsonl?_limit=7") == 7)
    #expect(try lines("/Author/1/books.jsonl") == 9)
    let page = try maker.page(Target(parsing: "/Book.json"))
    let count = try #require(page.rows?.rows.count)
    #expect(count > 0 && count < 9 && page.rows?.nextPage != nil)
  }

  @Test func `a search for values ends with its time where entries have expired`() throws {
    let clock = Clock()
    var options = StoreOptions()
    options.now = { Date(timeIntervalSinceReferenceDate: clock.seconds.withLock { $0 }) }
    options.evictionInterval = nil
    let store = try Store.inMemory(entities: [Pass.self], options: options)
    defer { store.close() }
    try store.write { tx in
      for number in 0..<3_000 {
        try tx.insert(Pass(number, until: Date(timeIntervalSinceReferenceDate: 2_000)))
      }
      try tx.insert(Pass(9_999, until: Date(timeIntervalSinceReferenceDate: 9_000)))
    }
    clock.seconds.withLock { $0 = 5_000 }
    try DynamicStore(store).read { snapshot in
      let pass = try #require(snapshot.entity(named: "Pass"))
      let index = try #require(pass.indexes.first)
      #expect(try snapshot.firstValues(of: index, of: pass, most: 2).count == 1)
      let ended = RunControl(isCancelled: { true })
      #expect(try snapshot.firstValues(of: index, of: pass, most: 2, control: ended).isEmpty)
    }
  }
}

private final class Clock: Sendable {
  let seconds = Mutex(1_000.0)
}

/// A pass that expires.
private struct Pass: Entity {
  var id = RecordID<Pass>()
  var number: Int
  var until: Date

  static let schema = EntitySchema<Pass>(
    "Pass", attributes: [.init("number", \.number), .init("until", \.until)],
    indexes: [[\.number]], expires: [\.until])

  init(_ number: Int, until: Date) {
    self.number = number
    self.until = until
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    number = try reader.read()
    until = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(number)
    writer.write(until)
  }
}
