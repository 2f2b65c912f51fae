import LodestoreBytes
import LodestoreFormat
import Testing

@Suite struct KeyDecoderTests {
  @Test func `edge values come back from keys`() throws {
    for value in EdgeValues.all {
      let values = try decoded(try key([value]))
      guard values.count == 1, ValueOrder(values[0], value) == .same else {
        Issue.record("\(value) came back as \(values)")
        return
      }
    }
  }

  @Test func `random tuples come back from keys`() throws {
    var random = SeededGenerator(salt: 3)
    for _ in 0..<SeededGenerator.caseCount(byDefault: 10_000) {
      let tuple = (0..<3).map { _ in random.value() }
      let values = try decoded(try key(tuple))
      guard ValueOrder(values, tuple) == .same else {
        Issue.record("\(tuple) came back as \(values); \(SeededGenerator.replay)")
        return
      }
    }
  }

  @Test func `integers above Int64 come back unsigned, and others signed`() throws {
    let values: [Value] = [.integer(.max), .unsigned(UInt64(Int64.max) + 1), .integer(.min)]
    #expect(try decoded(try key(values)) == values)
  }

  @Test(arguments: [
    ("03", "a code that is not listed"),
    ("ff", "a code that is not listed"),
    ("01 61", "data without its end"),
    ("02 61 00 ff", "text without its end"),
    ("02 ff 00", "text that is not UTF-8"),
    ("02 c0 80 00", "an overlong zero"),
    ("02 65 cc 81 00", "text that is not in NFC"),
    ("02 00 ff e2 84 aa 00", "a Kelvin sign, which NFC does not have"),
    ("02 61 cc 81 cc a3 00", "marks in another order than that of NFC"),
    ("15", "an integer without its byte"),
    ("15 00", "zero as a positive integer"),
    ("16 00 ff", "a positive integer with a leading zero"),
    ("13 ff", "zero as a negative integer"),
    ("12 ff fe", "-1 in two bytes"),
    ("0c 7f ff ff ff ff ff ff fe", "an integer below -2^63"),
    ("0c 00 00 00 00 00 00 00 00", "an integer far below -2^63"),
    ("21 ff f8 00 00 00 00 00 01", "another NaN"),
    ("21 00 07 ff ff ff ff ff ff", "a negative NaN"),
    ("33 7f ff ff ff ff ff ff ff", "minus zero"),
    ("21 80 00", "half a double"),
    ("30 00", "half a UUID"),
    ("40", "a decimal without its class"),
    ("40 00", "a decimal of an unknown class"),
    ("40 05", "a decimal of an unknown class"),
    ("40 03 80 01 00", "a decimal without digits"),
    ("40 03 80 01 01 02 00", "a decimal with a leading zero"),
    ("40 03 80 01 02 01 00", "a decimal with a trailing zero"),
    ("40 03 80 01 0c 00", "a decimal digit above nine"),
    ("40 03 80 01 02", "a decimal without its end"),
    ("40 03 00 00 02 00", "a decimal with an exponent below -32768"),
    ("40 01 7f fe fe ff", "a negative decimal with a leading zero"),
    (
      "40 03 80 27 04 05 01 03 09 03 04 07 07 0a 03 01 0a 04 09 05 07 04 05 07 "
        + "04 04 08 05 07 01 08 05 04 02 08 07 09 03 02 02 05 06 07 00",
      "a decimal of 39 digits from 2^128 on"
    ),
  ])
  func refuses(hexadecimal text: String, what: Comment) {
    #expect(throws: FormatError.self, what) { try decoded(bytes(hexadecimal: text)) }
  }

  @Test func `the largest significand comes back from a key`() throws {
    let value = Value.decimal(DecimalValue(isNegative: true, exponent: -7, significand: .max))
    #expect(try decoded(try key([value])) == [value])
  }

  @Test func `the record id is the last eight bytes of an entry`() throws {
    var encoder = KeyEncoder()
    encoder.append(Int64(300))
    encoder.append(recordID: 0x8000_0000_0000_0007)
    #expect(KeyDecoder.recordIDSuffix(encoder.bytes) == 0x8000_0000_0000_0007)
    encoder.reset()
    encoder.append(Int64(300))
    #expect(KeyDecoder.recordIDSuffix(encoder.bytes) == nil)
  }

  @Test func `the decoder's offset is the start of the next element`() throws {
    try key([.integer(300), .null, .string("a")])._withBytes { tuple in
      var decoder = KeyDecoder(tuple)
      _ = try decoder.next()
      #expect(decoder.offset == 3)
      _ = try decoder.next()
      #expect(decoder.offset == 4 && !decoder.isAtEnd)
      _ = try decoder.next()
      #expect(decoder.offset == 7 && decoder.isAtEnd)
      #expect(throws: FormatError.self) { try decoder.next() }
    }
  }
}
