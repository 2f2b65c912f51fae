import Testing

@testable import EntityStore

/// Plans as text, on 20,000 records of known content.
@Suite struct ExplanationTests {
  struct Case: Sendable {
    let format: String
    let order: [SortKey<Trial>]
    let limit: Int?
    let lines: [String]

    init(
      _ format: String, by order: [SortKey<Trial>] = [], limit: Int? = nil, _ lines: String...
    ) {
      self.format = format
      self.order = order
      self.limit = limit
      self.lines = lines
    }
  }

  @Test(.readsPages) func `Plans agree with the expectation of a reader of the schema`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(20_000, in: store)
      try store.read { snapshot throws in
        for item in Self.cases {
          var query = try Trial.where(format: item.format).sorted(item.order)
          if let limit = item.limit { query = query.limit(limit) }
          let explanation = try snapshot.explain(query)
          let text = explanation.description
          #expect(
            Self.rounded(text) == item.lines.joined(separator: "\n"), "\(item.format)")
        }
      }
    }
  }

  /// Estimates to one digit, as they depend on how pages split.
  private static func rounded(_ text: String) -> String {
    text.replacing(/(about|after) (\d+) (entries|records)/) { match in
      guard let count = Int(match.2), count >= 10 else { return String(match.0) }
      var size = 1
      while count / size >= 10 { size *= 10 }
      return "\(match.1) \((count + size / 2) / size * size) \(match.3)"
    }
  }

  @Test func `Analyzing reports the reads`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(20_000, in: store)
      try store.read { snapshot throws in
        let point = try snapshot.explain(Trial.where { $0.number == 4_711 }, analyzing: true)
        #expect(point.entriesRead == 1 && point.recordsRead == 1 && point.resultCount == 1)
        #expect(point.description.hasSuffix("read    1 entries and 1 records for 1 results"))
        let scan = try snapshot.explain(Trial.where { $0.note == "note 1" }, analyzing: true)
        #expect(scan.isScan && scan.recordsRead == 20_000 && scan.resultCount == 6_667)
        #expect(scan.estimatedEntryCount == 0 && scan.index == nil)
        let page = try snapshot.explain(
          Trial.all.sorted(by: \.name.descending).limit(10), analyzing: true)
        #expect(page.index == "Trial.name" && page.resultCount == 10)
        #expect((page.recordsRead ?? .max) < 100 && (page.entriesRead ?? .max) < 100)
        let plain = try snapshot.explain(Trial.all)
        #expect(plain.entriesRead == nil && plain.recordsRead == nil && plain.resultCount == nil)
      }
    }
  }
}
