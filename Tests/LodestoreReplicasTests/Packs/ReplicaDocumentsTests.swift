import LodestoreDatasets
import LodestoreFormat
import Testing

@testable import LodestoreReplicas

@Suite("Small objects of a replica")
struct ReplicaDocumentsTests {

  private static func digest() throws -> FileDigest {
    try #require(FileDigest(bytes: Entries.hash))
  }

  private static func base() throws -> BaseHead {
    let digest = try digest()
    var base = BaseHead(
      slot: 42, entry: digest, epoch: 3, store: Entries.store, lastWrite: 1_000, time: 86_400,
      schema: digest,
      digests: [[1, 0, 0, 0, 2]: ContentDigest(linkFrom: 1, to: 2), [3]: ContentDigest()],
      length: 600_000, verity: digest, packed: .init(length: 370, sha256: digest),
      frames: .init(length: 104, sha256: digest))
    base.entities = [EntityNumber(2): .init(name: "Note", nextID: 12)]
    return base
  }

  private func expectRoundTrip<D: ReplicaDocument>(_ document: D, _ object: ReplicaName) throws {
    let name = object.text
    let bytes = document.bytes
    #expect(try D(reading: bytes, named: name) == document)
    // Every truncation and damaged bit is refused.
    for offset in bytes.indices {
      #expect(throws: PackError.self) { try D(reading: Array(bytes[..<offset]), named: name) }
      for bit in 0..<8 {
        var damaged = bytes
        damaged[offset] ^= 1 << bit
        #expect(throws: PackError.self, "bit \(bit) of byte \(offset)") {
          try D(reading: damaged, named: name)
        }
      }
    }
    let newer = String(decoding: bytes, as: UTF8.self)
      .replacing("\"version\": 1", with: "\"version\": 2")
    let error = try #require(throws: PackError.self) {
      try D(reading: Array(newer.utf8), named: name)
    }
    #expect(error.code == .newerFormat)
    let extended = "{ \"later\": [1, {}]," + String(decoding: bytes, as: UTF8.self).dropFirst()
    let later = ReplicaObjectWriter.withChecksum(Array(extended.utf8))
    #expect(try D(reading: later, named: name) == document)
  }

  @Test func `each object is read as it was written`() throws {
    let first = UUIDBytes(high: 1, low: 2)
    try expectRoundTrip(
      ReplicaInfo(store: Entries.store, firstStore: first, createdAt: 86_400), .info)
    try expectRoundTrip(FloorRecord(slot: 7, time: 86_400), .floor(number: 3))
    try expectRoundTrip(
      FollowerMark(id: "a", slot: 0, lastWrite: 0, time: 86_400), .follower(id: "a"))
    try expectRoundTrip(
      FollowerMark(id: "a", slot: 3, lastWrite: 9, time: 86_400, until: 90_000),
      .follower(id: "a"))
    try expectRoundTrip(Lease(holder: "m", epoch: 2, until: 86_400), .lease)
    try expectRoundTrip(
      Lease(
        holder: "m", epoch: 2, until: 86_400, milliseconds: 90_000, session: Entries.store), .lease)
    let base = try Self.base()
    try expectRoundTrip(base, base.name(of: .head))
  }

  @Test func `an object under another name is refused`() throws {
    let mark = FollowerMark(id: "a", slot: 1, lastWrite: 1, time: 0)
    #expect(throws: PackError.self) {
      try FollowerMark(reading: mark.bytes, named: ReplicaName.follower(id: "b").text)
    }
    let base = try Self.base()
    #expect(throws: PackError.self) {
      try BaseHead(
        reading: base.bytes, named: ReplicaName.base(slot: 42, verity: .max, .head).text)
    }
  }

  @Test(arguments: [
    "{\"version\":1,\"slot\":0,\"time\":\"2026-11-28T02:00:00Z\"}",
    "{\"version\":1,\"slot\":1.0,\"time\":\"2026-11-28T02:00:00Z\"}",
    "{\"version\":1,\"slot\":\"1\",\"time\":\"2026-11-28T02:00:00Z\"}",
    "{\"version\":1,\"slot\":9007199254740992,\"time\":\"2026-11-28T02:00:00Z\"}",
    "{\"version\":1,\"slot\":1,\"time\":\"2026-11-28T02:00:00+01:00\"}",
    "{\"version\":1,\"slot\":1,\"time\":5}", "{\"version\":1,\"slot\":1}", "{\"slot\":1}", "[]", "",
    "{\"version\":1,\"slot\":1,\"slot\":2,\"time\":\"2026-11-28T02:00:00Z\"}",
  ])
  func `a wrong floor is refused`(_ text: String) throws {
    let name = ReplicaName.floor(number: 1).text
    func object(_ text: String) -> [UInt8] {
      guard text.hasSuffix("}") else { return Array(text.utf8) }
      let end = ",\"checksum\": \"00000000\"\n}"
      return ReplicaObjectWriter.withChecksum(Array((text.dropLast() + end).utf8))
    }
    let right = object("{\"version\":1,\"slot\":1,\"time\":\"2026-11-28T02:00:00Z\"}")
    #expect(try FloorRecord(reading: right, named: name).slot == 1)
    #expect(throws: PackError.self) { try FloorRecord(reading: object(text), named: name) }
  }

  @Test func `the place of a base is where the log continues`() throws {
    let base = try Self.base()
    #expect(base.position.slot == 42 && base.position.hash == Entries.hash)
    #expect(base.name(of: .file).text.hasSuffix("-0001020304050607.lodestore.zst"))
  }
}
