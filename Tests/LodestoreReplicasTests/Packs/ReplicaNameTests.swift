import Testing

@testable import LodestoreReplicas

@Suite("Names of a replica's objects")
struct ReplicaNameTests {
  private static let objects: [(ReplicaName, String)] = [
    (.info, "replica.json"), (.lease, "lease.json"),
    (.floor(number: 12), "floor/00000000000000000012.json"),
    (.entry(slot: 1), "log/00000000000000000001.lsc"),
    (.entry(slot: 1 << 53 - 1), "log/00009007199254740991.lsc"),
    (
      .merged(level: 2, slots: 1...256),
      "merged/2/00000000000000000001-00000000000000000256.lsc"
    ),
    (
      .base(slot: 42, verity: 0x0123_4567_89ab_cdef, .head),
      "base/00000000000000000042-0123456789abcdef.json"
    ),
    (
      .base(slot: 42, verity: 0x0123_4567_89ab_cdef, .file),
      "base/00000000000000000042-0123456789abcdef.lodestore.zst"
    ),
    (
      .base(slot: 42, verity: 0x0123_4567_89ab_cdef, .frames),
      "base/00000000000000000042-0123456789abcdef.verity"
    ),
    (.follower(id: "phone-1.a_b"), "followers/phone-1.a_b.json"),
  ]

  @Test func `every object has one name, and the name states the object`() {
    for (object, name) in Self.objects {
      #expect(object.text == name)
      #expect(ReplicaName(name) == object)
    }
  }

  @Test(arguments: [
    "", "/", "head.json", "log", "log/", "log/1.lsc", "log/0000000000000000000１.lsc",
    "log/00000000000000000000.lsc", "log/18446744073709551616.lsc", "log/00009007199254740992.lsc",
    "log/+0000000000000000001.lsc", "log/-0000000000000000001.lsc",
    "log/00000000000000000001.lsc.tmp", "log/00000000000000000001", "LOG/00000000000000000001.lsc",
    "log//00000000000000000001.lsc", "/log/00000000000000000001.lsc",
    "log/../lease.json", "x/log/00000000000000000001.lsc",
    "merged/0/00000000000000000001-00000000000000000016.lsc",
    "merged/10/00000000000000000001-00000000000000000016.lsc",
    "merged/01/00000000000000000001-00000000000000000016.lsc",
    "merged/1/00000000000000000017-00000000000000000016.lsc",
    "merged/1/00000000000000000001.lsc",
    "base/00000000000000000042-0123456789ABCDEF.json",
    "base/00000000000000000042-0123456789abcde.json",
    "base/00000000000000000042-0123456789abcdef", "base/00000000000000000042_0123456789abcdef.json",
    "followers/.json", "followers/..json", "followers/a/b.json", "followers/-a.json",
    "followers/é.json", "followers/a\u{0}.json", "replica.json/", "lease.json ",
    "floor.json", "floor/1.json", "floor/00000000000000000000.json",
    "base/00000000000000000042-+123456789abcdef.json",
  ])
  func `a hostile name states nothing`(_ name: String) {
    #expect(ReplicaName(name) == nil)
  }

  @Test func `damaged names state nothing or have one spelling`() {
    var changes = SeededChanges(salt: 1)
    for (_, name) in Self.objects {
      for _ in 0..<500 {
        var bytes = Array(name.utf8)
        let place = Int.random(in: 0..<bytes.count, using: &changes)
        bytes[place] = .random(in: 0...255, using: &changes)
        let damaged = String(decoding: bytes, as: UTF8.self)
        if let object = ReplicaName(damaged) { #expect(object.text == damaged) }
      }
    }
  }

  @Test func `merged entries have aligned slots`() {
    #expect(ReplicaName.mergedSlots(1, containing: 1) == 1...16)
    #expect(ReplicaName.mergedSlots(1, containing: 16) == 1...16)
    #expect(ReplicaName.mergedSlots(1, containing: 17) == 17...32)
    #expect(ReplicaName.mergedSlots(2, containing: 257) == 257...512)
    #expect(ReplicaName.mergedSlots(0, containing: 1) == nil)
    #expect(ReplicaName.mergedSlots(1, containing: 0) == nil)
  }
}
