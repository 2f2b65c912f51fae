import LodestoreBytes
import LodestoreFormat
import Testing

/// The examples of Format.md that are pairs of the tree `history`.
@Suite struct HistoryExamplesTests {
  /// Key and body, as `01 02 : 03`.
  private func pair(_ text: String) throws -> (key: [UInt8], body: [UInt8]) {
    let sides = text.split(separator: ":")
    try #require(sides.count == 2, "\(text)")
    return (bytes(hexadecimal: String(sides[0])), bytes(hexadecimal: String(sides[1])))
  }

  private func document(of key: [UInt8], _ body: [UInt8]) throws -> Document {
    try key._withBytes { key in
      try body._withBytes { body in
        try Document(decoding: try Checksum.unsealed(key: key, body: body))
      }
    }
  }

  private func numbers(_ text: some StringProtocol) -> [UInt64] {
    text.split { !$0.isNumber }.compactMap { UInt64($0) }
  }

  @Test func `examples of parts of writes hold`() throws {
    let blocks = FormatExamples.blocks("history-part")
    #expect(try blocks.map(part).map(\.changes.count) == [2, 2])
    #expect(try blocks.map(part).map(\.links.count) == [1, 2])
  }

  /// The part that a block describes, after a comparison with its bytes.
  private func part(_ lines: [FormatExamples.Line]) throws -> HistoryPart {
    var header = HistoryPart.Header(
      partCount: 0, time: 0, process: 0, author: nil, context: nil)
    var part = HistoryPart()
    var place: [String: UInt64] = [:]
    for line in lines {
      let words = line.left.split(separator: " ").map(String.init)
      let number = numbers(line.right).first ?? 0
      switch words[0] {
      case "write", "part": place[words[0]] = number
      case "parts": header.partCount = Int(number)
      case "time": header.time = try #require(Double(line.right))
      case "process": header.process = Int64(number)
      case "author":
        var parser = ExampleParser(line.right)
        guard case .string(let author) = try parser.json() else { throw ExampleError("no text") }
        header.author = author
      case "undoes": header.undoes = number
      case "images": header.images = number
      case "untold": header.untold = numbers(line.right).map { EntityNumber(UInt32($0)) }
      case "inserted", "updated", "deleted", "restarted":
        var ids = IDRuns()
        for id in numbers(line.right) { ids.append(id) }
        let named = numbers(line.left).map { UInt32($0) }
        let kinds: [String: HistoryPart.Change.Kind] = [
          "inserted": .inserted, "updated": .updated(Array(named.dropFirst())),
          "deleted": .deleted, "restarted": .restarted,
        ]
        part.changes.append(
          .init(
            entity: EntityNumber(named[0]), kind: try #require(kinds[words[0]]), ids: ids,
            isExpired: words.last == "expired"))
      case "added", "removed", "moved":
        let pairs = line.right.split(separator: " ").map { text in
          LinkPair(from: numbers(text)[0], to: numbers(text)[1])
        }
        part.links.append(
          .init(
            relationship: UInt32(numbers(line.left)[0]),
            kind: try #require(HistoryPart.Links.Kind(rawValue: words[0])), pairs: pairs))
      case "bytes":
        part.header = header
        let (key, body) = try pair(line.right)
        let expected = HistoryKey.part(
          write: try #require(place["write"]), part: UInt32(try #require(place["part"])))
        #expect(key == expected.bytes)
        #expect(
          hexadecimal(body)
            == hexadecimal(Checksum.sealed(key: key, content: part.encoded)))
        let again = try document(of: key, body).encoded()._withBytes {
          try HistoryPart(decoding: $0)
        }
        #expect(again == part)
      default: Issue.record("\(line)")
      }
    }
    #expect(lines.last?.left == "bytes")
    return part
  }

  @Test func `the example of an image holds, which is a record of the document`() throws {
    let line = try #require(FormatExamples.lines("history-image").first)
    let (key, body) = try pair(line.right)
    let named = numbers(line.left)
    #expect(
      key
        == HistoryKey.image(
          entity: EntityNumber(UInt32(named[0])), id: named[1], write: named[2]
        ).bytes)
    let records = FormatExamples.blocks("record").map { block in
      Dictionary(block.map { ($0.left, $0.right) }) { first, _ in first }
    }
    #expect(records.first { $0["id"] == "\(named[1])" }?["bytes"] == hexadecimal(body))
  }

  @Test func `examples of preserved values hold`() throws {
    let line = try #require(FormatExamples.lines("preserved").first)
    let start = try #require(line.left.firstIndex(of: "{"))
    var parser = ExampleParser(String(line.left[start...]))
    let named = numbers(line.left[..<start])
    let (key, body) = try pair(line.right)
    #expect(
      key
        == HistoryKey.tombstone(
          entity: EntityNumber(UInt32(named[0])), id: named[1], write: named[2]
        ).bytes)
    #expect(body == Checksum.sealed(key: key, content: try parser.json().encoded()))
  }

  @Test func `examples of marks hold`() throws {
    let lines = FormatExamples.lines("history-mark")
    let keys: [HistoryKey] = [.consumer("index"), .purged]
    try #require(lines.count == keys.count)
    for (line, expected) in zip(lines, keys) {
      let (key, body) = try pair(line.right)
      #expect(key == expected.bytes, "\(line)")
      let mark: Document = .object([
        "number": .integer(Int64(numbers(line.left)[0])), "time": .date(0.5),
      ])
      #expect(body == Checksum.sealed(key: key, content: mark.encoded()), "\(line)")
    }
  }
}
