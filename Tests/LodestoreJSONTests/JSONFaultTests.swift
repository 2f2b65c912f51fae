import Foundation
import LodestoreJSON
import Testing

@Suite struct `Faults of JSON that are noted` {
  private func parsed(_ text: [UInt8]) throws -> JSONNode {
    try JSONDocument.parsing(text, limits: JSONLimits.standard.ofRecords).root
  }

  @Test(arguments: [
    #"{"a":"\ud83d"}"#, #"{"a":"\ude00x","b":[1]}"#, #"{"a":1,"a":2}"#, #"{"a":NaN}"#,
    #"{"a":-Infinity}"#, #"{"a":007}"#, #"{"a":1.}"#, #"{"a":True,"b":"}"}"#, #"{"a":"\x"}"#,
    "{\"a\":\"\u{1}\"}", #"{"a":[1,]}"#, #"{"a":1,}"#, #"{"a":}"#, #"{"\ud800":1}"#,
    #"{"caf\u00e9":1,"cafe\u0301":2}"#, #"{"a":+1}"#, #""\q""#,
    String(repeating: "[", count: 200) + "\"]\"" + String(repeating: "]", count: 200),
  ])
  func `noted faults leave the surrounding values unchanged`(fault: String) throws {
    let text = #"[{"k":1},"# + fault + #",{"k":"ö\u00e9"}]"#
    let elements = Array(try parsed(Array(text.utf8)).elements)
    try #require(elements.count == 3, "\(text)")
    #expect(elements[0].fault == nil && elements[0]["k"]?.int64 == 1)
    #expect(elements[2].fault == nil && elements[2]["k"]?.string == "öé")
    let found = try #require(elements[1].fault)
    let start = #"[{"k":1},"#.utf8.count
    #expect((start..<(start + fault.utf8.count)).contains(found.offset), "\(found)")
    #expect(elements[1].faultError?.position.offset == found.offset)
    elements[1].withSourceBytes { bytes in
      #expect(bytes.elementsEqual(fault.utf8) || elements[1].kind != .object)
    }
    #expect(elements[1].document.faultError(outside: elements) == nil)
    #expect(elements[1].document.faultError(outside: [elements[0], elements[2]]) != nil)
    #expect(throws: JSONError.self) { try JSONDocument.parsing(text.utf8) }
  }

  @Test func `bytes that are not UTF-8 are noted as faults`() throws {
    let root = try parsed(Array(#"[{"a":""#.utf8) + [0xFF, 0x22, 0x7D, 0x2C, 0x31, 0x5D])
    let elements = Array(root.elements)
    #expect(elements.count == 2 && elements[0].fault != nil && elements[1].fault == nil)
  }

  @Test func `noted faults do not hide that a text is cut off`() {
    for text in [#"[{"a":NaN},{"b":1}"#, #"[{"a":"x"#, "[1", #"{"a":"\ud83d"#, "NaN NaN"] {
      #expect(throws: JSONError.self) { try parsed(Array(text.utf8)) }
    }
  }

  @Test func `a number beyond 64 bits or a double is no fault`() throws {
    let numbers = ["123456789012345678901234567890", "-9223372036854775809", "1e400", "1e-400"]
    let root = try parsed(Array("[{\"a\":\(numbers.joined(separator: ",\"b\":1},{\"a\":"))}]".utf8))
    for (element, number) in zip(root.elements, numbers) {
      #expect(element.fault == nil && element.wideNumber?.numberText == number)
      #expect(element["a"]?.int64 == nil && element["a"]?.uint64 == nil)
      #expect(throws: DecodingError.self) {
        try JSONNodeDecoder().decode(JSONValue.self, from: element)
      }
      #expect(throws: DecodingError.self) {
        try JSONNodeDecoder().decode([String: JSONValue].self, from: element)
      }
    }
    struct Other: Decodable { var b: Int? }
    #expect(try JSONNodeDecoder().decode(Other.self, from: root.elements.map { $0 }[0]).b == 1)
  }

  @Test func `too many noted faults refuse the text`() {
    let limits = JSONLimits(values: 400).ofRecords
    let text = "[" + Array(repeating: "NaN", count: 150).joined(separator: ",") + "]"
    #expect(throws: JSONError.self) { try JSONDocument.parsing(text.utf8, limits: limits) }
  }

  @Test func `every mutant that is no JSON has a noted fault`() throws {
    let seed = JSONRandom.seed
    var random = JSONRandom(seed: seed)
    let seeds =
      Accepted.all.map { Array($0.text.utf8) }
      + (Refused.structure + Refused.numbers + Refused.strings + Refused.encoding).map(\.bytes)
    let pieces: [[UInt8]] = ["NaN", ",", "\"", "\\", "\\ud800", "]", "}", "{", "[", "\u{1}", "01"]
      .map { Array($0.utf8) }
    for number in 0..<5000 {
      var text = seeds.randomElement(using: &random) ?? []
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let at = Int.random(in: 0...text.count, using: &random)
        text.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: at)
      }
      let replay: Comment = "JSON_FUZZ_SEED=\(seed), mutant \(number): \(text)"
      let strict: Result<JSONDocument, any Error> = Result { try JSONDocument.parsing(text) }
      let lenient: Result<JSONNode, any Error> = Result { try parsed(text) }
      switch (strict, lenient) {
      case (.success(let document), .success(let root)):
        #expect(root.fault == nil && root.wideNumber == nil, replay)
        #expect(root.jsonValue == document.root.jsonValue, replay)
      case (.success, .failure(let error)): Issue.record("\(error), \(replay)")
      case (.failure(let error as JSONError), .success(let root)):
        visit(root)
        let isWide: Bool =
          switch error.reason {
          case .integerOutsideRange, .numberTooLarge, .numberTooSmall: true
          default: false
          }
        #expect(root.fault != nil || isWide && root.wideNumber != nil, replay)
      case (.failure, _): break
      }
    }
  }

  private func visit(_ node: JSONNode) {
    _ = (node.bool, node.string, node.int64, node.double, node.numberText, node.fault?.words)
    for element in node.elements { visit(element) }
    for (_, value) in node.members { visit(value) }
  }
}

@Suite struct `JSON values that follow each other` {
  private func values(_ text: String, pieces: Int) -> [String] {
    var reader = JSONLinesReader(cut: .values)
    var found: [String] = []
    func take() {
      while true {
        do throws(JSONError) {
          guard let line = try reader.next() else { return }
          found.append("\(line.line) \(line.offset) \(line.root.jsonValue)")
        } catch {
          let last = reader.lastLine.map { String(decoding: $0.text, as: UTF8.self) }
          found.append("\(reader.lastLine?.line ?? 0) not \(last ?? "")")
        }
      }
    }
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      reader.append(rest.prefix(pieces))
      rest = rest.dropFirst(pieces)
      take()
    }
    reader.finish()
    take()
    return found
  }

  @Test(arguments: [1, 2, 7, 1000])
  func `JSON values that follow each other are separated by their brackets`(pieces: Int) {
    let text = "{\"id\":1}{\"id\":2} [\n 3,\n\"]\"\n]\n\n{\n\"a\":\"}\\\"\"\n}4 true\"x\"null"
    #expect(
      values(text, pieces: pieces) == [
        #"1 0 {"id":1}"#, #"1 8 {"id":2}"#, #"1 17 [3,"]"]"#, #"6 30 {"a":"}\""}"#, "8 43 4",
        "8 45 true", #"8 49 "x""#, "8 52 null",
      ])
  }

  @Test(arguments: [1, 3, 1000]) func `JSON values after a wrong value are read`(pieces: Int) {
    #expect(
      values("{\"a\":1}}{\"a\":2}{\"a\" 3}\n{\"a\":4}", pieces: pieces)
        == [#"1 0 {"a":1}"#, "1 not }", #"1 8 {"a":2}"#, #"1 not {"a" 3}"#, #"2 23 {"a":4}"#])
  }
}
