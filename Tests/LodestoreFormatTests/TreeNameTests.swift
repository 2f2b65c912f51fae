import LodestoreBytes
import LodestoreFormat
import Testing

@Suite struct TreeNameTests {
  @Test(arguments: [
    (TreeName.header, "lodestore"),
    (.catalogue, "catalogue"),
    (.counters, "counters"),
    (.buckets, "buckets"),
    (.records(entity: 1), "records.1"),
    (.records(entity: 4_294_967_295), "records.4294967295"),
    (.index(entity: 12, index: 3), "index.12.3"),
    (.links(relationship: 7, side: .from), "links.7.1"),
    (.links(relationship: 7, side: .to), "links.7.2"),
    (.history, "history"),
    (.seal, "seal"),
  ])
  func `a tree name and its text convert to each other`(name: TreeName, text: String) {
    #expect(name.text == text)
    #expect(TreeName(text) == name)
  }

  @Test(arguments: [
    "", "Lodestore", "records", "records.", "records.01", "records.+1", "records.-1", "records.1.2",
    "records.4294967296", "index.1", "index.1.", "index.1.2.3", "index..2", "index.1.02",
    "links", "links.1", "links.01.1", "links.1.0", "links.1.3", "seals", "records.1 ", "records.１",
    "lodestore.",
  ])
  func `a tree name that the format does not list is refused`(text: String) {
    #expect(TreeName(text) == nil)
  }

  @Test func `a catalogue key holds the entity number`() {
    let key = CatalogueKey.entity(0x0102_0304)
    #expect(hexadecimal(key) == "01 01 02 03 04")
    #expect(key._withBytes { CatalogueKey.entityNumber($0) } == 0x0102_0304)
    for other in [[], [1], [2, 0, 0, 0, 1], [1, 0, 0, 0, 1, 0]] as [[UInt8]] {
      #expect(other._withBytes { CatalogueKey.entityNumber($0) } == nil)
    }
  }

  @Test func `bucket keys split into name and key`() throws {
    let key = BucketKey.prefix(bucket: "settings") + [0, 0xff]
    let parts = try #require(key._withBytes { BucketKey.split($0) })
    #expect(parts.bucket == "settings" && parts.key == [0, 0xff])
    for other in ["", "no zero", "\0key", "name\0", String(repeating: "n", count: 65) + "\0k"] {
      #expect(Array(other.utf8)._withBytes { BucketKey.split($0) } == nil)
    }
  }
}
