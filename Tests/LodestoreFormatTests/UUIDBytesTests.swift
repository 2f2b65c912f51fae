import LodestoreBytes
import LodestoreFormat
import Testing

@Suite struct UUIDBytesTests {
  @Test func `the text and the bytes of a UUID convert to each other`() throws {
    let uuid = try #require(UUIDBytes(text: "00112233-4455-6677-8899-aabbccddeeff"))
    #expect(uuid.bytes == (0...15).map { UInt8($0 * 0x11) })
    #expect(uuid.text == "00112233-4455-6677-8899-AABBCCDDEEFF")
    #expect(UUIDBytes(text: uuid.text) == uuid)
    #expect(uuid.bytes._withBytes { UUIDBytes(bytes: $0, at: 0) } == uuid)
  }

  @Test func `random identifiers come back from their text`() {
    var random = SeededGenerator(salt: 8)
    for _ in 0..<200 {
      let uuid = UUIDBytes(high: random.next(), low: random.next())
      #expect(UUIDBytes(text: uuid.text) == uuid, "\(SeededGenerator.replay)")
    }
  }

  @Test(arguments: [
    "", "00112233445566778899aabbccddeeff", "00112233-4455-6677-8899-aabbccddeef",
    "00112233-4455-6677-8899-aabbccddeeff0", "0011223-34455-6677-8899-aabbccddeeff",
    "+0112233-4455-6677-8899-aabbccddeeff", "g0112233-4455-6677-8899-aabbccddeeff",
    "{0112233-4455-6677-8899-aabbccddeef}", "00112233-4455-6677-8899-aabbccddeefé",
    "00112233-4455-6677-8899-aabbccddeef\u{ff11}",
  ])
  func `other texts than identifiers are refused`(text: String) {
    #expect(UUIDBytes(text: text) == nil)
  }
}
