import LodestoreJSON
import Testing

@testable import LodestoreInspector

@Suite("Hostile addresses")
struct HostileAddressTests {
  private static let pieces = [
    "/", "/Book", "/Author", "/Book/1", "/Author/1/books", "/Book/-/plan", "/Book/-/index/pages",
    "/-/history", "/-/history/1", "/-/imports", "/-/model", "/-/live", "/-/page.js",
    "/Book/-/index/tags[]", ".json", ".csv", ".jsonl", "?", "&", "=", "_where=",
    "_sort=", "_column=", "_facet=", "_after=", "_limit=", "_id=", "title=", "pages",
    "details.shelf",
    "author.name", "%22", "%00", "%FF", "%", "-", "1", "0", "99999999999999999999", "(", ")",
    "%20AND%20",
    "%20==%20", "%3E", "NULL", "@count", "SUBQUERY", "CAST(", "'", "\"", "\\", "{", "}", "..",
    "%E2%80%AE", "FUNCTION(", "%25K", "%25@", "$x", "all", "-pages",
  ]

  @Test(arguments: 1...8)
  func `no address is answered by a fault`(seed: Int) async throws {
    let library = try await Library.withBooks(20)
    var random = SeededRandom(state: UInt64(seed))
    for _ in 0..<150 {
      let count = Int.random(in: 1...9, using: &random)
      let text =
        "/"
        + (0..<count).map { _ in Self.pieces.randomElement(using: &random) ?? "" }
        .joined().drop { $0 == "/" }
      guard let address = Address(text) else { continue }
      let answer = library.responder.respond(to: address)
      #expect([200, 400, 404, 503].contains(answer.status), "\(text): \(answer.status)")
      var part: TwinPart? = answer.body
      var bytes: [UInt8] = []
      while let current = part {
        bytes += current.bytes
        part = try current.next?()
      }
      if answer.contentType == Form.json.contentType {
        #expect(throws: Never.self, "\(text)") { try JSONDocument.parsing(bytes) }
      }
    }
  }
}
