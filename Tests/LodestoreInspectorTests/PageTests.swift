import EntityStore
import LodestoreEssentials
import LodestoreJSON
import LodestoreRows
import Testing

@testable import LodestoreInspector

@Suite("Pages")
struct PageTests {
  @Test func `the page of the store has its entities with their counts`() async throws {
    let library = try await Library.withBooks(25)
    let json = try library.json("/.json")
    #expect(json["entities"]?[0]?["entity"]?.string == "Author")
    #expect(json["entities"]?[1]?["records"]?.int64 == 25)
    #expect(try library.get("/.csv").hasPrefix("entity,records,data,"))
    #expect(try library.get("/").contains("href=\"/Book\""))
  }

  @Test func `a condition, an order and columns select records`() async throws {
    let library = try await Library.withBooks(25)
    #expect(
      try library.get("/Book.csv?_where=pages%20%3E%208&_sort=-title&_column=title")
        == "title\r\nBook 9\r\nBook 19\r\n")
    #expect(
      try library.get("/Book.csv?pages=3&_column=_id&_column=details.shelf")
        == "_id,details.shelf\r\n3,0\r\n13,1\r\n23,2\r\n")
    #expect(
      try library.get("/Book.jsonl?details.shelf=1&title=Book%204&_column=title")
        == "{\"title\":\"Book 4\"}\n")
    #expect(try library.get("/Book.csv?_id=7&_column=title") == "title\r\nBook 7\r\n")
    #expect(
      try library.get("/Book.csv?author.name=Ursula&_limit=1&_column=title")
        == "title\r\nBook 1\r\n")
  }

  @Test func `pages follow each other by key, and each record is on one of them`() async throws {
    let library = try await Library.withBooks(250)
    for order in ["", "&_sort=pages", "&_sort=-pages&_sort=title"] {
      var address: String? = "/Book.json?_column=title\(order)"
      var titles: [String] = []
      while let next = address {
        let json = try library.json(next)
        titles += json["rows"]?.elements.compactMap { $0["title"]?.string } ?? []
        address = json["next"]?.string
      }
      #expect(titles.count == 250)
      #expect(Set(titles).count == 250)
    }
  }

  @Test func `a page by key is right after inserts and deletes before it`() async throws {
    let library = try await Library.withBooks(150)
    let next = try #require(try library.json("/Book.json")["next"]?.string)
    try await library.store.write { tx in
      try tx.insert(Book("Late", pages: 1))
      try tx.delete(try Book.where(format: "_id < 50"))
    }
    let rows = try library.json(next)["rows"]
    #expect(rows?[0]?["_id"]?.int64 == 101)
    let page = try library.get(next.replacing("/Book.json", with: "/Book"))
    #expect(page.contains("<a class=\"button\" href=\"/Book\">First page</a>"))
    #expect(rows?.count == 51)
  }

  @Test func `forms with rows stream all records, and one commit later those of that commit`()
    async throws
  {
    let library = try await Library.withBooks(5_100)
    let text = try library.get("/Book.csv?_column=_id")
    #expect(text.split(separator: "\r\n").dropFirst().map { Int($0) } == Array(1...5_100))
    #expect(try library.json("/Book.json?_limit=all&_column=_id")["rows"]?.count == 5_100)
    #expect(
      try library.get("/Book.jsonl?_limit=4100&_column=_id").split(separator: "\n").count == 4_100)

    let page = try PageMaker(store: DynamicStore(library.store), path: "x").page(
      Target(parsing: "/Book.jsonl?_column=_id"))
    let first = TwinPart.of(page, as: .jsonl)
    try await library.store.write { tx in try tx.delete(try Book.where(format: "_id > 2001")) }
    let next = try #require(first.next)
    let rest = try next()
    #expect(String(decoding: rest.bytes, as: UTF8.self) == "{\"_id\":2001}\n")
  }

  @Test func `the page of a record has its values, its links both ways and its history`()
    async throws
  {
    let library = try await Library.withBooks(30)
    let book = try library.json("/Book/7.json")
    #expect(book["record"]?["title"]?.string == "Book 7")
    #expect(book["record"]?["details"]?["shelf"]?.int64 == 1)
    #expect(book["history"]?[0]?["change"]?.string == "inserted")
    #expect(book["indexes"]?[0]?["key"]?.string == "7")
    #expect(try library.get("/Book/7").contains("<a href=\"/Author/1\">"))
    let author = try library.json("/Author/1.json")
    #expect(author["books"]?.count == 20)
    #expect(try library.get("/Author/1").contains("href=\"/Author/1/books\""))
    #expect(try library.json("/Author/1/books.json")["rows"]?.count == 30)
    #expect(try library.get("/Book/7.csv").split(separator: "\r\n").count == 2)
  }

  @Test func `related records follow each other by key`() async throws {
    let library = try await Library.withBooks(250)
    var address: String? = "/Author/1/books.json?_column=_id"
    var ids: [Int64] = []
    while let next = address {
      let json = try library.json(next)
      ids += json["rows"]?.elements.compactMap { $0["_id"]?.int64 } ?? []
      address = json["next"]?.string
    }
    #expect(ids == Array(1...250))
  }

  @Test func `a fault in a condition is shown at its column`() async throws {
    let library = try await Library.withBooks(3)
    for (address, column) in [
      ("_where=pages%20%3E%3E%203", 7), ("_where=pages%20%3E%203%20AND%20pges%20%3C%205", 15),
      ("title=x&_where=pages%20%3E%203%20AND%20pges%20%3C%205", 15),
    ] {
      let json = try library.json("/Book.json?\(address)", 400)
      #expect(json["notices"]?[0]?["column"]?.int64 == Int64(column), "\(address)")
      #expect(try library.get("/Book?\(address)", 400).contains("aria-invalid=\"true\""))
      #expect(try library.json("/Book/-/plan.json?\(address)", 400)["notices"]?.count == 1)
    }
  }

  @Test func `values are counted, and each leads to its records`() async throws {
    let library = try await Library.withBooks(30)
    let facets = try library.json("/Book.json?_facet=details.shelf&_facet=pages&_facet=title")
    let shelf = try #require(facets["facets"]?[0])
    #expect(shelf["values"]?.elements.compactMap { $0["count"]?.int64 } == [10, 10, 10])
    let address = try #require(shelf["values"]?[0]?["address"]?.string)
    #expect(try library.json(address)["rows"]?.count == 10)
    #expect(facets["facets"]?[2]?["others"]?.int64 == 18)
  }

  @Test func `an index shows its entries in order`() async throws {
    let library = try await Library.withBooks(25)
    let rows = try library.json("/Book/-/index/pages.json?_limit=3")["rows"]
    #expect(rows?.elements.compactMap { $0["pages"]?.int64 } == [0, 0, 1])
  }

  @Test func `a schema has the attributes and the relationships`() async throws {
    let library = try await Library.withBooks(0)
    let book = try library.json("/Book/-/schema.json")["attributes"]
    #expect(book?.elements.compactMap { $0["attribute"]?.string }.count == 4)
    #expect(book?[1]?["indexes"]?.string == "pages")
    #expect(book?[3]?["type"]?.string == "Author?")
    let author = try library.json("/Author/-/schema.json")["relationships"]
    #expect(author?[0]?["target"]?.string == "Book")
    #expect(author?[0]?["onDelete"]?.string == "cascade")
  }

  @Test func `a plan says what it reads, and which index is missing`() async throws {
    let library = try await Library.withBooks(25)
    let scan = try library.json("/Book/-/plan.json?title=Book%204")
    #expect(scan["reads"]?["scan"]?.bool == true)
    #expect(scan["reads"]?["recordsRead"]?.int64 == 25)
    #expect(scan["notices"]?[0]?["message"]?.string?.contains("'title'") == true)
    let indexed = try library.json("/Author/-/plan.json?name=Ursula")
    #expect(indexed["reads"]?["scan"]?.bool == false)
    #expect(indexed["notices"] == nil)
  }

  @Test func `the history has the writes, newest first, with their changes`() async throws {
    let library = try await Library.withBooks(3)
    try await library.store.write(author: "second") { tx in
      try tx.delete(try Book.where(format: "pages == 1"))
    }
    let writes = try library.json("/-/history.json")["writes"]
    #expect(writes?[0]?["author"]?.string == "second")
    #expect(writes?[0]?["deleted"]?.int64 == 1)
    let number = try #require(writes?[1]?["write"]?.int64)
    let write = try library.json("/-/history/\(number).json")
    #expect(write["changes"]?.count == 3)
    #expect(try library.json("/-/history.json?_before=\(number)")["writes"]?.count == 0)
  }

  @Test func `rows of the history and of relationships stream in batches`() async throws {
    let library = try await Library.withBooks(30)
    for number in 1...7 {
      try await library.store.write { tx in try tx.insert(Book("Late \(number)", pages: 1)) }
    }
    var maker = PageMaker(store: DynamicStore(library.store), path: "library")
    maker.limits.batchSize = 3
    for (address, count) in [
      ("/-/history.csv", 8), ("/Author/1/books.csv", 30), ("/Author/1/books.csv?_limit=2", 2),
      ("/-/history/1.csv", 30), ("/Book.csv?_limit=5", 5), ("/Book.csv", 37),
    ] {
      var part: TwinPart? = TwinPart.of(try maker.page(Target(parsing: address)), as: .csv)
      var lines: [Substring] = []
      while let current = part {
        lines += String(decoding: current.bytes, as: UTF8.self).split(separator: "\r\n")
        part = try current.next?()
      }
      #expect(lines.count == count + 1, "\(address)")
      #expect(Set(lines).count == lines.count, "\(address)")
    }
  }

  @Test func `a change has the values before and after it`() async throws {
    let library = try await Library.withBooks(3)
    try await library.store.write(author: "second") { tx in
      try tx.update(try Book.where(format: "_id == 2")) { $0.pages = 77 }
    }
    try await library.store.write(author: "third") { tx in
      try tx.delete(try Book.where(format: "_id == 2"))
    }
    let writes = try library.json("/-/history.json")["writes"]
    let update = try #require(writes?[1]?["write"]?.int64)
    let values = try library.json("/-/history/\(update)/Book/2.json")["values"]
    #expect(values?.count == 1)
    #expect(values?[0]?["attribute"]?.string == "pages")
    #expect(values?[0]?["before"]?.int64 == 2)
    #expect(values?[0]?["after"]?.int64 == 77)
    let delete = try library.json("/-/history/\(update + 1)/Book/2.json")["values"]
    #expect(delete?[0]?["before"]?.string == "Book 2")
    #expect(delete?[0]?["after"] == nil)
    #expect(try library.get("/-/history/\(update)/Book/1", 404).contains("did not change"))
  }

  @Test func `imports have their runs and their rejected records`() async throws {
    let library = try Library()
    let page = Data(#"[{"name":"Ann"},{"name":7},{"name":"Ben","x":1}]"#.utf8)
    let importer = Importer(into: library.store, Author.self, matching: .unique(\.name))
    _ = try await importer.run(
      AsyncStream { continuation in
        continuation.yield(page)
        continuation.finish()
      }, renaming: [:])
    let imports = try library.json("/-/imports.json")["imports"]
    #expect(imports?[0]?["inserted"]?.int64 == 2)
    let name = try #require(imports?[0]?["name"]?.string)
    let runs = try library.json("/-/imports.json?_name=\(name)")
    #expect(runs["runs"]?.count == 1)
    #expect(runs["rejects"]?[0]?["record"]?.int64 == 2)
    #expect(runs["unknownMembers"]?[0]?["member"]?.string == "x")
    #expect(try library.get("/-/imports?_name=x", 404).contains("no import"))
  }

  @Test(arguments: [
    ("/Bok", "did you mean 'Book'?"), ("/Book/99", "no record 99"),
    ("/Book?_column=titel", "did you mean 'title'?"), ("/Book/-/index/page", "'pages'"),
    ("/Author/1/book", "'books'"), ("/-/history/99", "no write 99"), ("/Book/x", "no page"),
  ])
  func `an address that leads to nothing says why`(address: String, words: String) async throws {
    let library = try await Library.withBooks(1)
    let text = try library.get(address, 404)
    #expect(text.contains(words), "\(text)")
  }

  @Test(arguments: [
    "/Book?_limit=0", "/Book?_limit=x", "/Book?_after=x", "/Author/1/books?_where=x",
    "/Author/1/books?_after=x", "/Book?pages=x&_limit=1", "/Book?_sort=%3E",
  ])
  func `a bad parameter is refused`(address: String) async throws {
    let library = try await Library.withBooks(1)
    let answer = library.responder.respond(to: try #require(Address(address)))
    #expect(answer.status == 400 || answer.status == 404)
  }

  @Test func `every page has markup without a value's markup`() async throws {
    let library = try Library()
    let hostile = "</title></td><script>alert(1)</script>\u{202E}\u{0}\u{1B}[2J\r\n"
    try await library.store.write(author: hostile) { tx in
      let author = try tx.insert(Author(hostile)).id
      try tx.insert(
        Book(
          hostile, pages: 1, details: .object([hostile: .array([.string(hostile)])]),
          author: author))
    }
    for address in [
      "/", "/Author", "/Book", "/Book?_facet=title&_facet=details", "/Book/1", "/Author/1",
      "/-/model", "/Author/-/index/name", "/Author?_where=%3Cscript%3E%20==%20%22%E2%80%AE%22",
      "/Author/1/books", "/Book/-/schema", "/Book/-/index/pages", "/Book/-/plan?title=%3Cscript%3E",
      "/-/history",
      "/-/history/1", "/Book?_where=%3Cscript%3E", "/%3Cscript%3E", "/Book?_sort=%3Cscript%3E",
    ] {
      let address = try #require(Address(address))
      let answer = library.responder.respond(to: address)
      let text = String(decoding: answer.body.bytes, as: UTF8.self)
      #expect(text.ranges(of: "<script").count == 1, "\(address.text)")
      #expect(!text.contains("</script></td>"), "\(address.text)")
      let controls = text.unicodeScalars.filter { $0 != "\n" && $0 != "\t" }
      #expect(!controls.contains { VisibleText.isInvisible($0) }, "\(address.text)")
    }
  }
}
