import LodestoreJSON
import Testing

@Suite struct `JSON Lines` {
  private struct Outcome: Equatable {
    var line: Int
    var offset: Int
    var value: JSONValue?
  }

  private func read(
    _ text: String, piece: Int, limits: JSONLimits = .standard
  ) -> [Outcome] {
    var reader = JSONLinesReader(limits: limits)
    var outcomes: [Outcome] = []
    func drain() {
      while true {
        do {
          guard let line = try reader.next() else { return }
          outcomes.append(
            Outcome(line: line.line, offset: line.offset, value: line.root.jsonValue))
        } catch {
          outcomes.append(Outcome(line: error.line, offset: error.offset, value: nil))
        }
      }
    }
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: piece) {
      reader.append(bytes[start..<min(start + piece, bytes.count)])
      drain()
    }
    reader.finish()
    drain()
    return outcomes
  }

  @Test(arguments: [1, 2, 3, 7, 1000])
  func `lines keep their number and offset however the bytes arrive`(_ piece: Int) {
    let text = "1\r\n\n  \t\r\n{\"a\":\"é\"}\n[1,]\n\"x\"\n\n  [2]  "
    #expect(
      read(text, piece: piece) == [
        Outcome(line: 1, offset: 0, value: 1),
        Outcome(line: 4, offset: 9, value: ["a": "é"]),
        Outcome(line: 5, offset: 23, value: nil),
        Outcome(line: 6, offset: 25, value: "x"),
        Outcome(line: 8, offset: 30, value: [2]),
      ])
  }

  @Test func `a file may be empty, blank or end without a line feed`() {
    #expect(read("", piece: 1) == [])
    #expect(read("\n\r\n \n", piece: 2) == [])
    #expect(read("1", piece: 1) == [Outcome(line: 1, offset: 0, value: 1)])
  }

  @Test func `a value does not continue on the next line`() {
    #expect(read("[1,\n2]", piece: 9).map(\.value) == [nil, nil])
  }

  @Test(arguments: [1, 4, 1000])
  func `a line beyond the limit is refused once and the next is read`(_ piece: Int) {
    let text = "[1]\n[\(String(repeating: " ", count: 50))]\n[2]\n"
    let outcomes = read(text, piece: piece, limits: JSONLimits(bytes: 10))
    #expect(outcomes.map(\.value) == [[1], nil, [2]])
    #expect(outcomes.map(\.line) == [1, 2, 3])
    #expect(outcomes.last?.offset == 57)
  }

  @Test func `a node knows its position in the file`() throws {
    var reader = JSONLinesReader()
    reader.append(Array("{}\n{\"é\":[10,\"x\"]}\n".utf8))
    _ = try reader.next()
    let line = try #require(try reader.next())
    let node = try #require(line.root[path: "é.1"])
    #expect(node.offset == 13)
    #expect(node.position.description == "line 2, column 10 (byte 13)")
    #expect(node.withSourceBytes { Array($0) } == Array("\"x\"".utf8))
  }
}
