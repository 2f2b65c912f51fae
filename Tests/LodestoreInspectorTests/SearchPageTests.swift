import EntityStore
import LodestoreJSON
import Testing

// Whole Foundation: `components` is not in FoundationEssentials.
import Foundation

@testable import KVDumpCommands
@testable import LodestoreInspector

/// A note whose title and tags are searched, and whose text has an index of its own.
private struct Note: Entity {
  var id = RecordID<Note>()
  var title: String
  var tags: JSONValue = .null
  var group = 0
  var text: String?

  static let schema = EntitySchema<Note>(
    "Note",
    attributes: [
      .init("title", \.title), .init("tags", \.tags), .init("group", \.group),
      .init("text", \.text),
    ],
    indexes: [[\.group]],
    searchIndexes: [
      SearchIndex(.init(\.title, weight: 3), .init(\.tags)), SearchIndex(.init(\.text)),
    ])

  init(_ title: String, tags: JSONValue = .null, group: Int = 0, text: String? = nil) {
    self.title = title
    self.tags = tags
    self.group = group
    self.text = text
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    tags = try reader.read()
    group = try reader.read()
    text = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(tags)
    writer.write(group)
    writer.write(text)
  }
}

@Suite("Search pages")
struct SearchPageTests {
  private func library(_ notes: [Note]) async throws -> Library {
    let library = try Library(entities: [Note.self, Author.self, Book.self])
    try await library.store.write { tx in for note in notes { try tx.insert(note) } }
    return library
  }

  private func usualLibrary() async throws -> Library {
    try await library([
      Note("A network of many words that are of no interest here", group: 1),
      Note("Network", tags: ["socket", "json"], group: 2, text: "Reads the network"),
      Note("Networking tools", group: 1), Note("A parser", tags: ["json"], group: 2),
    ])
  }

  /// Answers an address without limits of time, which a busy machine could exceed.
  private func patientGet(_ address: String, of library: Library) throws -> String {
    var maker = PageMaker(store: DynamicStore(library.store), path: "x")
    maker.limits.count = .seconds(60)
    maker.limits.facets = .seconds(60)
    let target = try Target(parsing: address)
    return String(
      decoding: TwinPart.of(try maker.page(target), as: target.form).bytes, as: UTF8.self)
  }

  private func titles(_ json: JSONNode) -> [String] {
    json["rows"]?.elements.compactMap { $0["title"]?.string } ?? []
  }

  private func verify(_ library: Library) async {
    let errors = MemorySink()
    let status = await KVDump.execute(
      ["verify", library.store.path], on: Console(output: MemorySink(), errors: errors))
    #expect(status == .success, "\(errors.text)")
  }

  @Test func `the page of an entity has the records with words, the best first`() async throws {
    let library = try await usualLibrary()
    let found = try library.json("/Note.json?_search=network")
    #expect(titles(found) == ["Network", "A network of many words that are of no interest here"])
    #expect(
      try library.get("/Note.csv?_search=network&_sort=_id&_column=_id") == "_id\r\n1\r\n2\r\n")
    #expect(
      try library.get("/Note.jsonl?_search=network&_where=group%20%3D%3D%201&_column=_id")
        == "{\"_id\":1}\n")
    #expect(titles(try library.json("/Note.json?_search=json&group=2&_mode=any")).count == 2)
    #expect(titles(try library.json("/Note.json?_search=netw&_mode=typing")).count == 3)
    #expect(titles(try library.json("/Note.json?_search=socket+tools&_mode=any")).count == 2)
    #expect(titles(try library.json("/Note.json?_search=")).count == 4)
    for text in ["%20", "-network", "%21%3F", "%22%22"] {
      #expect(titles(try library.json("/Note.json?_search=\(text)")).isEmpty)
    }
    let both = "/Note.json?_search=network&_where=title%20SEARCH%20%22words%22&_column=_id"
    #expect(try library.json(both)["rows"]?.elements.compactMap { $0["_id"]?.int64 } == [1])
    await verify(library)
  }

  @Test func `pages of a search follow each other by score, with each record once`() async throws {
    let notes = (1...250).map { number in
      Note(String(repeating: "word ", count: number % 7 + 1) + "\(number)", group: number)
    }
    let library = try await library(notes)
    var address: String? = "/Note.json?_search=word&_column=group"
    var groups: [Int64] = []
    while let next = address {
      let json = try library.json(next)
      groups += json["rows"]?.elements.compactMap { $0["group"]?.int64 } ?? []
      address = json["next"]?.string
    }
    let scored = try await library.store.fetch(
      Note.where(.search("word", in: ["title", "tags"])).sortedByScore())
    #expect(groups == scored.map { Int64($0.group) })
    #expect(Set(groups).count == 250)
    await verify(library)
  }

  @Test func `a form without a script searches, and keeps the rest of the selection`()
    async throws
  {
    let library = try await usualLibrary()
    let page = try library.get("/Note?_search=network&_mode=any&_column=title&_sort=group")
    #expect(page.contains("name=\"_search\" value=\"network\""))
    #expect(page.contains("<option value=\"any\" selected>one of the words</option>"))
    #expect(page.contains("type=\"hidden\" name=\"_column\" value=\"title\""))
    #expect(page.contains("Show the best first"))
    #expect(
      try patientGet("/Note?_search=network", of: library)
        .contains("2 of 4 records, the best first."))
    #expect(!(try library.get("/Author").contains("name=\"_search\"")))
    // The form of the columns keeps the words; the form of the search has them in its field.
    for hidden in ["name=\"_search\" value=\"network\"", "name=\"_mode\" value=\"any\""] {
      #expect(page.components(separatedBy: "type=\"hidden\" \(hidden)").count == 2)
    }
  }

  @Test func `an entity without a search index refuses words`() async throws {
    let library = try await usualLibrary()
    let refused = try library.json("/Author.json?_search=network", 400)
    #expect(
      refused["notices"]?[0]?["message"]?.string?.contains("Author has no search index") == true)
    #expect(
      try library.get("/Author?_search=%3Cscript%3E", 400).contains("value=\"&lt;script&gt;\""))
    #expect(try library.get("/Note?_mode=some", 404).contains("is not a mode of a search"))
    let long = String(repeating: "a", count: Selection.longestSearch + 1)
    #expect(try library.get("/Note?_search=\(long)", 404).contains("at most 2000 bytes"))
  }

  @Test func `matched words are marked, and data is never markup`() async throws {
    let library = try await library([
      Note("a <script>alert(1)</script> & \"script\"", tags: ["<b>script</b>"]),
      Note("Cafe\u{301}s und cafe\u{301}\u{327} \u{202E}cafe"),
      Note(String(repeating: "other ", count: 50) + "needle" + String(repeating: " x", count: 90)),
      Note("hay\r\nneedle\u{0}\tneedle"),
    ])
    let script = try library.get("/Note?_search=%3Cscript%3E%22script%22")
    #expect(
      script.contains(
        "a &lt;<mark>script</mark>&gt;alert(1)&lt;/<mark>script</mark>&gt; &amp; "))
    #expect(script.contains("&lt;b&gt;<mark>script</mark>&lt;/b&gt;"))
    #expect(!script.contains("<script>"))
    let marks = try library.get("/Note?_search=CAFE")
    #expect(marks.contains("<mark>cafe\u{301}\u{327}</mark>"))
    #expect(!marks.contains("\u{202E}"))
    let needles = try library.get("/Note?_search=needle")
    #expect(needles.contains("<bdi>…") && needles.contains("<mark>needle</mark> x"))
    #expect(needles.components(separatedBy: "<mark>needle</mark>").count == 4)
    #expect(!needles.contains("\u{0}"))
    #expect(!(try library.get("/Note.json?_search=needle").contains("<mark>")))
    await verify(library)
  }

  @Test func `a search that finds nothing suggests searches that find records`() async throws {
    let library = try await usualLibrary()
    func suggestions(_ query: String) throws -> [String] {
      let json = try JSONDocument.parsing(
        patientGet("/Note.json?\(query)", of: library).utf8
      ).root
      #expect(json["rows"]?.count == 0)
      return json["notices"]?[0]?["suggestions"]?.elements.compactMap(\.string) ?? []
    }
    #expect(try suggestions("_search=netwrok") == ["network"])
    #expect(try suggestions("_search=title:netwrok+words").first == "title:network words")
    #expect(try suggestions("_search=socket+parser") == ["socket parser, one of the words"])
    #expect(
      try suggestions("_search=sock") == ["sock…, with a beginning as the last word"])
    #expect(
      try suggestions("_search=socket&group=1") == ["socket, without the condition"])
    #expect(try suggestions("_search=zzzzzz").isEmpty)
    let page = try patientGet("/Note?_search=netwrok&_column=title", of: library)
    #expect(page.contains("<a href=\"/Note?_search=network&amp;_column=title\">"))
    let hostile = try patientGet(
      "/Note?_search=%3Cscript%3Enetwrok%3C/script%3E", of: library)
    #expect(!hostile.contains("<script>n"))
  }

  @Test func `the page of a search index has its words, with a link to each search`()
    async throws
  {
    let library = try await usualLibrary()
    let path = "/Note/-/index/search(title+tags)"
    let json = try library.json(path + ".json?_search=J&_limit=3")
    let terms = try #require(json["terms"]?.elements)
    #expect(terms.compactMap { $0["term"]?.string } == ["json", "many", "network"])
    #expect(terms.compactMap { $0["records"]?.int64 } == [2, 1, 2])
    #expect(json["index"]?["texts"]?.string == "title (weight 3), tags (weight 1)")
    var address: String? = path + ".json?_limit=4"
    var words: [String] = []
    while let next = address {
      let json = try library.json(next)
      words += json["terms"]?.elements.compactMap { $0["term"]?.string } ?? []
      address = json["next"]?.string
    }
    let lines = try library.get(path + ".csv").split(separator: "\r\n").dropFirst()
    #expect(lines.compactMap { $0.split(separator: ",").first.map(String.init) } == words)
    #expect(words == words.sorted() && words.contains("tools") && Set(words).count == words.count)
    for line in lines {
      let parts = line.split(separator: ",").map(String.init)
      let found = try library.json("/Note.json?_search=\(parts[0])")["rows"]?.count
      #expect(found == Int(parts[1]), "\(line)")
    }
    let page = try library.get(path)
    #expect(page.contains("<a href=\"/Note?_search=network\">"))
    #expect(page.contains("Begin at"))
    _ = try library.get(path + "?_where=1", 400)
    #expect(try library.json(path + ".json?_search=zz")["terms"]?.count == 0)
    // A second index is named.
    let second = try library.get("/Note/-/index/search(text)")
    #expect(second.contains("/Note?_search=network&amp;_index=search(text)"), "\(second)")
    await verify(library)
  }

  @Test func `a search is in the index that the address names`() async throws {
    let library = try await usualLibrary()
    func found(_ query: String) throws -> [String] {
      titles(try library.json("/Note.json?_search=\(query)"))
    }
    #expect(try found("reads&_index=search(text)") == ["Network"])
    #expect(try found("reads&_index=search(title%2Btags)").isEmpty)
    #expect(try found("json&_index=").count == 2)
    #expect(try library.get("/Note?_search=a&_index=search(titel)", 404).contains("search(title"))
    let page = try library.get("/Note?_search=reads&_index=search(text)")
    #expect(page.contains("<option value=\"search(text)\" selected>in text</option>"))
    #expect(page.contains("<option value=\"\">in title, tags</option>"))
    #expect(page.contains("<mark>Reads</mark> the network"))
  }

  @Test func `a word at the end of a text is within the part that a cell shows`() async throws {
    let start = String(repeating: "other ", count: 12)
    let library = try await library([Note(start + "needle"), Note("needle " + start)])
    let page = try library.get("/Note?_search=needle")
    let cells = page.split(separator: "<td>").filter { $0.contains("<mark>needle</mark>") }
    #expect(cells.count == 2)
    for cell in cells {
      let before = try #require(cell.split(separator: "<mark>").first)
      #expect(before.count < 40, "\(before)")
    }
    // A searched text has a column, however many attributes there are.
    #expect(page.contains(">tags<"))
  }

  @Test func `words of many records stream in batches, each once`() async throws {
    // Letters alone, because a word with digits has several terms.
    let digits = Array("abcdefghij")
    let library = try await library([
      Note(
        (0..<5_000).map { String("\($0)".map { digits[$0.wholeNumberValue ?? 0] }) }.joined(
          separator: " "))
    ])
    let lines = try library.get("/Note/-/index/search(title+tags).jsonl").split(separator: "\n")
    #expect(lines.count == 5_000)
    #expect(Set(lines).count == 5_000)
    let some = try library.get("/Note/-/index/search(title+tags).csv?_limit=2100")
    #expect(some.split(separator: "\r\n").count == 2_101)
  }

  @Test func `the store and the schema list search indexes with texts and weights`() async throws {
    let library = try await usualLibrary()
    #expect(
      try library.json("/.json")["entities"]?[0]?["indexes"]?.string
        == "group, search: title (weight 3), tags (weight 1), search: text (weight 1)")
    let schema = try library.json("/Note/-/schema.json")["searchIndexes"]
    #expect(
      schema?.elements.map { $0["index"]?.string } == [
        "search(title+tags)", "search(title+tags)", "search(text)",
      ])
    #expect(schema?[0]?["text"]?.string == "title")
    #expect(schema?[0]?["weight"]?.int64 == 3)
    #expect(
      try library.get("/Note/-/schema").contains("href=\"/Note/-/index/search(title+tags)\""))
    #expect(try library.json("/Note/-/plan.json?_search=network")["reads"]?["results"]?.int64 == 2)
  }

  @Test func `a change of the selected records reaches those with the words alone`() async throws {
    let library = try await usualLibrary()
    var maker = PageMaker(store: DynamicStore(library.store), path: "x")
    maker.offersEdits = true
    let page = try maker.page(Target(parsing: "/Note?_search=network&_mode=any&_sort=group"))
    let html = String(decoding: TwinPart.of(page, as: .html).bytes, as: UTF8.self)
    #expect(html.contains("/Note/-/delete?_search=network&amp;_mode=any"))
    #expect(html.contains("Delete the selected records"))
  }

  @Test func `the tool for searches answers as the page does`() async throws {
    let dialogue = Dialogue(library: try await usualLibrary())
    let found = try await dialogue.call(
      "search", #"{"entity":"Note","text":"network","columns":["title"],"count":true,"limit":1}"#)
    #expect(titles(found) == ["Network"])
    #expect(found["selected"]?["records"]?.int64 == 2)
    let next = try #require(found["next"]?.string)
    let rest = try await dialogue.call(
      "search", #"{"entity":"Note","text":"network","limit":1,"after":"\#(next)"}"#)
    #expect(rest["rows"]?[0]?["_id"]?.int64 == 1 && rest["next"]?.isNull == true)
    let typed = try await dialogue.call(
      "search", #"{"entity":"Note","text":"netw","mode":"typing","where":"group == 2"}"#)
    #expect(titles(typed) == ["Network"])
    let none = try await dialogue.call("search", #"{"entity":"Note","text":"netwrok"}"#)
    #expect(none["notices"]?[0]?["suggestions"]?[0]?.string == "network")
    let schema = try await dialogue.call("describe", #"{"entity":"Note"}"#)
    #expect(schema["searchIndexes"]?.count == 3)
    let refusals = [
      (#"{"entity":"Author","text":"a"}"#, "Author has no search index"),
      (#"{"entity":"Note"}"#, "needs the argument 'text'"),
      (#"{"entity":"Note","text":""}"#, "needs the argument 'text'"),
      (#"{"entity":"Note","text":"a","mode":"some"}"#, "is not a mode"),
      (#"{"entity":"Note","text":"a","where":"group = = 1"}"#, "group = = 1"),
    ]
    for (arguments, words) in refusals {
      let text = try await dialogue.refusal("search", arguments)
      #expect(text.contains(words), "\(text)")
    }
  }
}
