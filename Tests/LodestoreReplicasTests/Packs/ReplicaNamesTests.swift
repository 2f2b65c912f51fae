import Testing

@testable import LodestoreReplicas

@Suite("Names of a replica's objects")
struct ReplicaNamesTests {
  private static let objects: [(ReplicaNames.Object, String)] = [
    (.info, "replica.json"), (.floor, "floor.json"), (.lease, "lease.json"),
    (.headHint, "head.json"), (.entry(slot: 1), "log/00000000000000000001.lsc"),
    (.entry(slot: 1 << 53 - 1), "log/00009007199254740991.lsc"),
    (
      .merged(level: 2, slots: 1...256),
      "merged/2/00000000000000000001-00000000000000000256.lsc"
    ),
    (
      .base(slot: 42, verity: "0123456789abcdef", .head),
      "base/00000000000000000042-0123456789abcdef.json"
    ),
    (
      .base(slot: 42, verity: "0123456789abcdef", .file),
      "base/00000000000000000042-0123456789abcdef.lodestore.zst"
    ),
    (
      .base(slot: 42, verity: "0123456789abcdef", .frames),
      "base/00000000000000000042-0123456789abcdef.verity"
    ),
    (.follower(id: "phone-1.a_b"), "followers/phone-1.a_b.json"),
  ]

  @Test func `every object has one name, and the name states the object`() {
    for (object, name) in Self.objects {
      #expect(object.name == name)
      #expect(ReplicaNames.Object(name) == object)
    }
  }

  @Test(arguments: [
    "", "/", "log", "log/", "log/1.lsc", "log/0000000000000000000１.lsc",
    "log/00000000000000000000.lsc", "log/18446744073709551616.lsc", "log/00009007199254740992.lsc",
    "log/+0000000000000000001.lsc", "log/-0000000000000000001.lsc",
    "log/00000000000000000001.lsc.tmp", "log/00000000000000000001", "LOG/00000000000000000001.lsc",
    "log//00000000000000000001.lsc", "/log/00000000000000000001.lsc",
    "log/../floor.json", "x/log/00000000000000000001.lsc",
    "merged/0/00000000000000000001-00000000000000000016.lsc",
    "merged/10/00000000000000000001-00000000000000000016.lsc",
    "merged/01/00000000000000000001-00000000000000000016.lsc",
    "merged/1/00000000000000000017-00000000000000000016.lsc",
    "merged/1/00000000000000000001.lsc",
    "base/00000000000000000042-0123456789ABCDEF.json",
    "base/00000000000000000042-0123456789abcde.json",
    "base/00000000000000000042-0123456789abcdef", "base/00000000000000000042_0123456789abcdef.json",
    "followers/.json", "followers/..json", "followers/a/b.json", "followers/-a.json",
    "followers/é.json", "followers/a\u{0}.json", "replica.json/", "floor.json ",
  ])
  func `a hostile name states nothing`(_ name: String) {
    #expect(ReplicaNames.Object(name) == nil)
  }

  @Test func `damaged names state nothing or have one spelling`() {
    var changes = SeededChanges(salt: 1)
    for (_, name) in Self.objects {
      for _ in 0..<500 {
        var bytes = Array(name.utf8)
        let place = Int.random(in: 0..<bytes.count, using: &changes)
        bytes[place] = .random(in: 0...255, using: &changes)
        let damaged = String(decoding: bytes, as: UTF8.self)
        if let object = ReplicaNames.Object(damaged) { #expect(object.name == damaged) }
      }
    }
  }

  @Test func `merged entries have aligned slots`() {
    #expect(ReplicaNames.mergedSlots(1, containing: 1) == 1...16)
    #expect(ReplicaNames.mergedSlots(1, containing: 16) == 1...16)
    #expect(ReplicaNames.mergedSlots(1, containing: 17) == 17...32)
    #expect(ReplicaNames.mergedSlots(2, containing: 257) == 257...512)
    #expect(ReplicaNames.mergedSlots(0, containing: 1) == nil)
    #expect(ReplicaNames.mergedSlots(1, containing: 0) == nil)
  }
}
