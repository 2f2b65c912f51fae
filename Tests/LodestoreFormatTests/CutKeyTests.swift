import LodestoreBytes
import LodestoreFormat
import Testing

@Suite struct CutKeyTests {
  @Test(arguments: [3, 463, 464, 478, 479])
  func `a tuple of up to 479 bytes is whole`(length: Int) {
    let cut = cutTuple(text: String(repeating: "k", count: length - 2))
    #expect(!cut.wasCut)
    #expect(cut.bytes.count == length)
    #expect(cut.bytes == [2] + [UInt8](repeating: 0x6b, count: length - 2) + [0])
    #expect(!isCut(cut.bytes))
  }

  @Test(arguments: [480, 481, 482, 600, 5_000])
  func `a longer tuple is cut to 480 bytes`(length: Int) {
    let whole = [2] + [UInt8](repeating: 0x6b, count: length - 2) + [0]
    let cut = cutTuple(text: String(repeating: "k", count: length - 2))
    #expect(cut.wasCut)
    #expect(cut.bytes == whole.prefix(463) + [0xff] + SHA256.hash(whole).prefix(16))
    #expect(cut.bytes.count == 480)
    #expect(isCut(cut.bytes))
  }

  @Test func `equal tuples have equal cut keys, and different tuples different ones`() {
    let text = String(repeating: "k", count: 1_000)
    #expect(cutTuple(text: text).bytes == cutTuple(text: text).bytes)
    #expect(cutTuple(text: text).bytes != cutTuple(text: text + "k").bytes)
    #expect(cutTuple(text: text).bytes != cutTuple(text: text.dropLast() + "l").bytes)
  }

  @Test func `every element is in the hash`() throws {
    let long = Value.string(String(repeating: "k", count: 470))
    var first = KeyEncoder()
    var second = KeyEncoder()
    for value in [long, .integer(1), .integer(200)] { try first.append(value) }
    for value in [long, .integer(1), .integer(201)] { try second.append(value) }
    first.finishTuple()
    second.finishTuple()
    #expect(Array(first.bytes.prefix(464)) == Array(second.bytes.prefix(464)))
    #expect(Array(first.bytes) != Array(second.bytes))
  }

  @Test func `the longest key with a record id fits the engine`() {
    var encoder = KeyEncoder()
    let long = [UInt8](repeating: 0, count: 2_000)
    long._withBytes { encoder.append(data: $0) }
    encoder.finishTuple()
    encoder.append(recordID: 7)
    #expect(encoder.count == 488)
    #expect(KeyDecoder.recordIDSuffix(encoder.bytes) == 7)
  }

  @Test func `random tuples around the limit are cut only above it`() throws {
    var random = SeededGenerator(salt: 4)
    for _ in 0..<SeededGenerator.caseCount(byDefault: 500) {
      let filler = String(repeating: "f", count: Int.random(in: 440...480, using: &random))
      let whole = try key([.string(filler), random.value(), random.value()])
      var encoder = KeyEncoder()
      whole._withBytes { encoder.append(raw: $0) }
      let wasCut = encoder.finishTuple()
      guard wasCut == (whole.count > 479), isCut(Array(encoder.bytes)) == wasCut,
        wasCut || Array(encoder.bytes) == whole
      else {
        Issue.record("a tuple of \(whole.count) bytes; \(SeededGenerator.replay)")
        return
      }
    }
  }

  private func cutTuple(text: some StringProtocol) -> (bytes: [UInt8], wasCut: Bool) {
    var encoder = KeyEncoder()
    Array(text.utf8)._withBytes { encoder.append(text: $0) }
    let wasCut = encoder.finishTuple()
    return (Array(encoder.bytes), wasCut)
  }

  private func isCut(_ tuple: [UInt8]) -> Bool {
    tuple._withBytes { KeyDecoder.isCut(tuple: $0) }
  }
}
