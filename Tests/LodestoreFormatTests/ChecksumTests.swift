import CChecksum
import LodestoreBytes
import LodestoreFormat
import Testing

@Suite struct ChecksumTests {
  @Test func `the checksum of the check text is the check value of CRC-32C`() {
    #expect(checksum(Array("123456789".utf8)) == 0xe306_9283)
    #expect(checksum([]) == 0)
    #expect(checksum([UInt8](repeating: 0, count: 32)) == 0x8a91_36aa)
    #expect(checksum([UInt8](repeating: 0xff, count: 32)) == 0x62a8_ab43)
  }

  @Test func `the CRC instruction and the table agree for all lengths and alignments`() throws {
    var random = SeededGenerator(salt: 5)
    let bytes = (0..<4_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    try bytes._withBytes { buffer in
      let base = try #require(buffer.baseAddress)
      for alignment in 0..<8 {
        for length in Array(0...300) + [767, 768, 769, 1_535, 1_536, 2_000, 3_900] {
          let start = UInt32.random(in: 0...UInt32.max, using: &random)
          let fast = lodestore_crc32c(start, base + alignment, length)
          let plain = lodestore_crc32c_portable(start, base + alignment, length)
          guard fast == plain else {
            Issue.record("length \(length), alignment \(alignment); \(SeededGenerator.replay)")
            return
          }
        }
      }
    }
  }

  /// The table is compared with the bitwise definition, because both fast implementations use it.
  @Test func `the table of CRC-32C agrees with the definition`() {
    var random = SeededGenerator(salt: 6)
    for length in 0...70 {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
      var expected: UInt32 = 0xffff_ffff
      for byte in bytes {
        expected ^= UInt32(byte)
        for _ in 0..<8 { expected = expected >> 1 ^ (expected & 1 == 1 ? 0x82f6_3b78 : 0) }
      }
      let portable = bytes._withBytes {
        lodestore_crc32c_portable(0, $0.baseAddress, $0.count)
      }
      #expect(portable == ~expected, "\(SeededGenerator.replay)")
    }
  }

  @Test func `combined checksums of parts equal the checksum of the whole`() {
    let bytes = Array("a record's id and its body".utf8)
    for split in 0...bytes.count {
      var parts = Checksum()
      Array(bytes[..<split])._withBytes { parts.combine($0) }
      Array(bytes[split...])._withBytes { parts.combine($0) }
      #expect(parts.value == checksum(bytes))
    }
  }

  @Test func `the checksum of a record covers its id`() {
    let body = Array("body".utf8)
    let sealed = body._withBytes { Checksum.record(id: 0x0102, body: $0) }
    #expect(sealed == checksum([2, 1, 0, 0, 0, 0, 0, 0] + body))
  }

  @Test func `an updated checksum after a change of bytes equals a new calculation`() {
    var random = SeededGenerator(salt: 7)
    for length in [1, 2, 9, 64, 300, 2_500] {
      let body = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
      let start = Int.random(in: 0..<length, using: &random)
      let end = Int.random(in: start...min(length, start + 20), using: &random)
      let difference = body[start..<end].map { _ in UInt8.random(in: 0...255, using: &random) }
      var record = body + [0, 0, 0, 0]
      record._withMutableBytes { Checksum.seal($0, id: 77) }
      for isDamaged in [false, true] {
        var changed = record
        if isDamaged { changed[length - 1] ^= 0x40 }
        changed._withMutableBytes { bytes in
          difference._withBytes { Checksum.add($0, at: start, to: bytes) }
        }
        for (index, byte) in difference.enumerated() {
          #expect(
            changed[start + index] ^ byte
              == (isDamaged && start + index == length - 1
                ? body[start + index] ^ 0x40 : body[start + index]))
        }
        let fits = changed._withBytes { Checksum.fits($0, id: 77) }
        #expect(fits == !isDamaged, "\(length) \(start) \(SeededGenerator.replay)")
      }
    }
  }

  @Test func `a sealed body opens under its own key only`() throws {
    let content = Array("content".utf8)
    let body = Checksum.sealed(key: [1, 2], content: content)
    let opened = try unsealed(key: [1, 2], body: body)
    #expect(opened == content)
    #expect(throws: FormatError.self) { try unsealed(key: [1, 3], body: body) }
    for index in body.indices {
      var damaged = body
      damaged[index] ^= 0x10
      #expect(throws: FormatError.self) { try unsealed(key: [1, 2], body: damaged) }
    }
    for length in 0..<4 {
      #expect(throws: FormatError.self) { try unsealed(key: [1], body: Array(body[..<length])) }
    }
  }

  private func checksum(_ bytes: [UInt8]) -> UInt32 {
    var checksum = Checksum()
    bytes._withBytes { checksum.combine($0) }
    return checksum.value
  }

  private func unsealed(key: [UInt8], body: [UInt8]) throws -> [UInt8] {
    try key._withBytes { key in
      try body._withBytes { body in Array(try Checksum.unsealed(key: key, body: body)) }
    }
  }
}
