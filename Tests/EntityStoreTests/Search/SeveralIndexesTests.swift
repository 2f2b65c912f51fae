import Testing

@testable import EntityStore

/// An entity with several search indexes.
@Suite struct `Several search indexes of an entity` {
  private struct Entry: Entity {
    var id = RecordID<Entry>()
    var title: String
    var summary: String
    var author: String

    struct Attributes: Sendable {
      var title: Attribute<Entry, String> { .init(0) }
      var summary: Attribute<Entry, String> { .init(1) }
      var author: Attribute<Entry, String> { .init(2) }
    }
    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<Entry>(
      "Entry",
      attributes: [
        .init("title", \.title), .init("summary", \.summary), .init("author", \.author),
      ],
      searchIndexes: [
        SearchIndex(.init(\.title, weight: 2), .init(\.summary)), SearchIndex(.init(\.title)),
        SearchIndex(.init(\.summary), .init(\.author)),
      ])

    init(_ title: String, _ summary: String, by author: String) {
      self.title = title
      self.summary = summary
      self.author = author
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      title = try reader.read()
      summary = try reader.read()
      author = try reader.read()
    }

    func encode(into writer: inout RecordWriter) {
      writer.write(title)
      writer.write(summary)
      writer.write(author)
    }
  }

  @Test func `a search names one of several indexes by its texts`() throws {
    try withTemporaryStore([Entry.self]) { store in
      try store.insert([
        Entry("hope", "a film", by: "Lucas"), Entry("empire", "no hope", by: "Kershner"),
        Entry("return", "a film", by: "Hope"),
      ])
      func titles(_ condition: Condition<Entry>) throws -> [String] {
        try store.fetch(Entry.all.where(condition)).map(\.title)
      }
      #expect(try titles(.search("hope", in: ["title", "summary"])) == ["hope", "empire"])
      #expect(try titles(.search("hope", in: ["title"])) == ["hope"])
      #expect(try titles(.search("hope", in: ["summary", "author"])) == ["empire", "return"])
      let text = try Condition<Entry>(format: "{summary, author} SEARCH \"hope\"")
      #expect(try titles(text) == ["empire", "return"])
      // An index of this attribute alone, and the only index that has the attribute.
      #expect(try titles(Entry.attributes.title.search("hope")) == ["hope"])
      #expect(try titles(Entry.attributes.author.search("hope")) == ["return"])
    }
  }

  @Test func `a search that may mean several indexes is refused with their names`() throws {
    try withTemporaryStore([Entry.self]) { store in
      let cases: [(Condition<Entry>, String)] = [
        (.search("hope"), "{title, summary} SEARCH or {title} SEARCH or {summary, author} SEARCH"),
        (
          Entry.attributes.summary.search("hope"),
          "{title, summary} SEARCH or {summary, author} SEARCH"
        ),
        (.search("hope", in: ["author"]), "in no search index"),
      ]
      for (condition, message) in cases {
        let error = #expect(throws: StoreError.self) {
          try store.fetch(Entry.all.where(condition))
        }
        #expect(error?.code == .invalidQuery)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
      }
    }
  }
}
