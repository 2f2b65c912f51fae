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

  private static let proximityPieces = [
    "/Sight", "/Sight/1", "/Sight/-/plan", "/Sight/-/index/place(latitude+longitude)",
    "/Sight/-/index/vector(look)", ".json", ".geojson", ".csv", "?", "?", "&", "_near=", "_box=",
    "_similar=", "_index=", "_where=", "_sort=_distance", "_limit=", "_after=", "48.4,10", ",", "-",
    "-90,-180,90,180", "90,180", "-1", "1e308", "5e-324", "nan", "inf", "3km", "0m", "1", "0",
    "group%20%3D%3D%201", "place(latitude%2Blongitude)", "%C2%B0", "%20N", "0,170,0,-170",
  ]

  @Test(arguments: 1...8)
  func `no address is answered by a fault`(seed: Int) async throws {
    try check(try await Library.withBooks(20), Self.pieces, seed)
  }

  @Test(arguments: 1...8)
  func `no address of places or vectors is answered by a fault`(seed: Int) async throws {
    var sights = (0..<9).map { Sight("\($0)", look: [Float($0), 1]) }
    for place in [(90.0, 180.0), (-90, -180), (48.4, 10), (0, 0)] {
      sights.append(Sight("place", place.0, place.1, group: 1))
    }
    try check(try await Library.withSights(sights), Self.proximityPieces, seed)
  }

  private func check(_ library: Library, _ pieces: [String], _ seed: Int) throws {
    var random = SeededRandom(state: UInt64(seed))
    for _ in 0..<150 {
      let count = Int.random(in: 1...9, using: &random)
      let text =
        "/"
        + (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }
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
      if [Form.json, .geojson].map(\.contentType).contains(answer.contentType) {
        #expect(throws: Never.self, "\(text)") { try JSONDocument.parsing(bytes) }
      }
    }
  }
}
