import Foundation
import LodestoreJSON
import Testing

@Suite struct `JSON mutation` {
  private static let fragments: [[UInt8]] = [
    "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud83d", "\\ude00", "null", "true", "e",
    "E9",
    ".", "-", "0", "1e999", "18446744073709551616", " ", "\n", "\"a\":", "\u{0}", "é", "😀", "{}",
    "[]",
  ].map { Array($0.utf8) }

  private static var count: Int {
    ProcessInfo.processInfo.environment["JSON_FUZZ_COUNT"].flatMap(Int.init) ?? 10_000
  }

  private static func mutate(_ seeds: [[UInt8]], _ random: inout JSONRandom) -> [UInt8] {
    var text = seeds.randomElement(using: &random) ?? []
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let at = Int.random(in: 0...text.count, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0 where at < text.count: text[at] = .random(in: 0...255, using: &random)
      case 1 where at < text.count: text[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 2: text.removeSubrange(at..<min(text.count, at + Int.random(in: 0...9, using: &random)))
      case 3: text.insert(contentsOf: fragments.randomElement(using: &random) ?? [], at: at)
      case 4: text.removeSubrange(at...)
      default:
        let other = seeds.randomElement(using: &random) ?? []
        text.insert(contentsOf: other.suffix(Int.random(in: 0...20, using: &random)), at: at)
      }
    }
    return text
  }

  @Test func `a mutant is either refused with its position or read and written back`() throws {
    let seed = JSONRandom.seed
    var random = JSONRandom(seed: seed)
    let seeds =
      Accepted.all.map { Array($0.text.utf8) }
      + (Refused.structure + Refused.numbers + Refused.strings + Refused.encoding).map(\.bytes)
      + [Array(#"{"name":"A","n":[1,-2.5,{"k":"v\u00e9\n"}],"t":true,"z":null}"#.utf8)]
    var accepted = 0
    for number in 0..<Self.count {
      let text = Self.mutate(seeds, &random)
      let replay: Comment = "JSON_FUZZ_SEED=\(seed), mutant \(number): \(text)"
      do {
        let document = try JSONDocument.parsing(text)
        accepted += 1
        let value = document.root.jsonValue
        var writer = JSONWriter()
        try writer.write(value)
        #expect(try JSONValue(parsing: writer.bytes) == value, replay)
        #expect(try JSONNodeDecoder().decode(JSONValue.self, from: document.root) == value, replay)
        #expect(String(validating: text, as: UTF8.self) != nil, replay)
      } catch let error as JSONError {
        #expect((0...text.count).contains(error.offset), replay)
        #expect(error.line >= 1 && error.column >= 1, replay)
        #expect(!error.description.isEmpty, replay)
      }
    }
    // Some mutants must be refused and some accepted, so that the test covers both cases.
    #expect(accepted > Self.count / 50 && accepted < Self.count, "JSON_FUZZ_SEED=\(seed)")
  }

  @Test func `random doubles and integers survive a write and a read`() throws {
    let seed = JSONRandom.seed
    var random = JSONRandom(seed: seed)
    for _ in 0..<Self.count {
      let bits = random.next()
      let double = Double(bitPattern: bits)
      let values: [JSONValue] = [
        JSONValue(bits), .integer(Int64(bitPattern: bits)),
        .double(double.isFinite ? double : 0),
        .integer(Int64(bitPattern: bits) >> Int64.random(in: 0..<64, using: &random)),
      ]
      for value in values {
        #expect(try JSONValue(parsing: value.description) == value, "JSON_FUZZ_SEED=\(seed)")
      }
    }
  }

  @Test func `random decimal texts read as the standard library reads them`() throws {
    let seed = JSONRandom.seed
    var random = JSONRandom(seed: seed)
    for _ in 0..<Self.count {
      let digits = (0..<Int.random(in: 1...20, using: &random)).map { _ in
        String(Int.random(in: 0...9, using: &random))
      }
      let exponent = Int.random(in: -30...30, using: &random)
      let text = "\(Int.random(in: -99...99, using: &random)).\(digits.joined())e\(exponent)"
      let value = try JSONDocument.parsing(text.utf8).root.double
      #expect(value == Double(text), "JSON_FUZZ_SEED=\(seed): \(text)")
    }
  }
}
