import Foundation
import LodestoreBytes
import LodestoreFormat
import Testing

@testable import EntityStore

/// Decoding damaged documents always ends, with a value or with an error.
///
/// A failure prints its seed; `DOCUMENT_FUZZ_SEED` replays it.
@Suite struct DocumentMutationTests {
  private static let count = 6000

  private static var seed: UInt64 {
    ProcessInfo.processInfo.environment["DOCUMENT_FUZZ_SEED"].flatMap(UInt64.init)
      ?? .random(in: 0...UInt64.max)
  }

  private struct Everything: Codable, Equatable {
    var scalars = Shapes.Scalars()
    var times = Shapes.Times()
    var optionals = Shapes.Optionals()
    var lists = Shapes.Lists()
    var dictionaries = Shapes.Dictionaries()
    var enums = Shapes.Enums()
    var pet = Shapes.Pet()
    var interleaved = Shapes.Interleaved()
    var mixed = Shapes.Mixed()
    var json: JSONValue = ["a": [1, 2.5, "x", nil, true], "b": [:]]
  }

  private static func mutate(_ document: [UInt8], _ random: inout SeededNumbers) -> [UInt8] {
    var bytes = document
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      guard !bytes.isEmpty else { break }
      let at = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: bytes[at] = .random(in: 0...255, using: &random)
      case 1: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 2: bytes[at] = .random(in: 0...13, using: &random)
      case 3:
        let end = min(bytes.count, at + Int.random(in: 1...9, using: &random))
        bytes.removeSubrange(at..<end)
      case 4: bytes.insert(.random(in: 0...255, using: &random), at: at)
      default: for index in at..<min(bytes.count, at + 4) { bytes[index] = 0xFF }
      }
    }
    return bytes
  }

  @Test func `damaged bytes end in a value or an error and never trap`() throws {
    let seed = Self.seed
    var random = SeededNumbers(seed: seed)
    let document = try documentBytes(Everything())
    var refused = 0
    for number in 0..<Self.count {
      let bytes = Self.mutate(document, &random)
      let replay: Comment = "DOCUMENT_FUZZ_SEED=\(seed), mutant \(number)"
      do {
        let value = try decodeDocument(Everything.self, bytes)
        #expect(throws: Never.self, replay) { try documentBytes(value) }
      } catch is DecodingError {
        refused += 1
      } catch is CocoaError {
        refused += 1
      } catch {
        Issue.record(error, replay)
      }
      bytes._withBytes { raw in
        _ = try? JSONValue(anyDocument: raw)
        _ = try? DocumentCoding.decode(JSONValue.self, from: raw)
        _ = try? DocumentCoding.decode([String: [String]].self, from: raw)
      }
    }
    #expect(refused > Self.count / 4 && refused < Self.count, "DOCUMENT_FUZZ_SEED=\(seed)")
  }

  @Test func `a cut document is refused wherever it is cut`() throws {
    let document = try documentBytes(Everything())
    for count in 0..<document.count {
      #expect(throws: (any Error).self) {
        try decodeDocument(Everything.self, Array(document[..<count]))
      }
    }
  }

  @Test func `wrong counts are refused without an allocation for them`() {
    let many: [UInt8] = [0xFF, 0xFF, 0xFF, 0x7F]
    typealias Colors = [String: Shapes.Color]
    for code: UInt8 in [0x0C, 0x0D] {
      for bytes in [[code] + many + many, [code, 4, 0, 0, 0] + many, [code, 0, 0, 0, 0] + many] {
        #expect(throws: DecodingError.self) { try decodeDocument([String].self, bytes) }
        #expect(throws: DecodingError.self) { try decodeDocument([Shapes.Empty].self, bytes) }
        #expect(throws: DecodingError.self) { try decodeDocument([String: Int].self, bytes) }
        #expect(throws: DecodingError.self) { try decodeDocument(Colors.self, bytes) }
        #expect(throws: DecodingError.self) { try decodeDocument(JSONValue.self, bytes) }
      }
    }
  }

  @Test func `items that exceed the stated length are refused`() throws {
    let colors = try documentBytes([Shapes.Color.red])
    let byName = try documentBytes(["a": Shapes.Color.red])
    for (bytes, longer) in [(colors, 1), (byName, 1), (byName, 3)] {
      var damaged = bytes + [UInt8](repeating: 0, count: longer)
      damaged[1] += UInt8(longer)
      #expect(throws: DecodingError.self) { try decodeDocument([Shapes.Color].self, damaged) }
      #expect(throws: DecodingError.self) { try decodeDocument([String].self, damaged) }
      #expect(throws: DecodingError.self) {
        try decodeDocument([String: Shapes.Color].self, damaged)
      }
      #expect(throws: DecodingError.self) { try decodeDocument([String: String].self, damaged) }
    }
  }

  @Test func `damaged member names fail a dictionary instead of shortening it`() throws {
    var bytes = try documentBytes(["a": Shapes.Color.red, "b": .blue])
    let name = try #require(bytes.lastIndex(of: UInt8(ascii: "b"), before: "blue"))
    bytes[name] = 0xFF
    #expect(throws: DecodingError.self) { try decodeDocument([String: Shapes.Color].self, bytes) }
  }
}

extension [UInt8] {
  /// The offset of the last byte equal to `byte` before the first occurrence of `text`.
  fileprivate func lastIndex(of byte: UInt8, before text: String) -> Int? {
    let needle = Array(text.utf8)
    guard let found = indices.first(where: { self[$0...].starts(with: needle) }) else { return nil }
    return self[..<found].lastIndex(of: byte)
  }
}
