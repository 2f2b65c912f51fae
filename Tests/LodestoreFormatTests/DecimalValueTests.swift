import LodestoreBytes
import LodestoreFormat
import Testing

@Suite struct DecimalValueTests {
  @Test func `equal numbers have one decimal value`() {
    let hundred = DecimalValue(isNegative: false, exponent: 0, significand: 100)
    #expect(hundred == DecimalValue(isNegative: false, exponent: 2, significand: 1))
    #expect(hundred == DecimalValue(isNegative: false, exponent: -3, significand: 100_000))
    #expect(hundred.exponent == 2 && hundred.significand == 1)
  }

  @Test func `a decimal zero has no sign and no exponent`() {
    let zero = DecimalValue(isNegative: true, exponent: 12, significand: 0)
    #expect(zero == DecimalValue(isNegative: false, exponent: 0, significand: 0))
    #expect(zero.bytes == [UInt8](repeating: 0, count: 19))
  }

  @Test func `the bytes of a decimal are sign, exponent and significand`() {
    let value = DecimalValue(isNegative: true, exponent: -2, significand: 0x1235)
    #expect(hexadecimal(value.bytes.prefix(5)) == "01 fe ff 35 12")
    #expect(DecimalValue.nan.bytes == [2] + [UInt8](repeating: 0, count: 18))
  }

  @Test func `every value comes back`() throws {
    for value in EdgeValues.decimals { #expect(try decimal(value.bytes) == value) }
    var random = SeededGenerator(salt: 7)
    for _ in 0..<1_000 {
      let value = random.decimal()
      #expect(try decimal(value.bytes) == value, "\(SeededGenerator.replay)")
    }
  }

  @Test(arguments: [
    ("03", "an unknown sign"),
    ("00 01", "zero with an exponent"),
    ("01", "minus zero"),
    ("00 00 00 0a", "ten, divisible by ten"),
    ("01 05 00 64", "a hundred"),
    ("02 01", "not-a-number with an exponent"),
    ("02 00 00 01", "not-a-number with a significand"),
  ])
  func refuses(start: String, what: Comment) {
    let start = bytes(hexadecimal: start)
    let padded = start + [UInt8](repeating: 0, count: 19 - start.count)
    #expect(throws: FormatError.self, what) { try decimal(padded) }
  }

  @Test func `the digits of a decimal begin with the most significant`() {
    let value = DecimalValue(isNegative: false, exponent: 0, significand: 1_024)
    #expect(value.digits == [1, 0, 2, 4])
    #expect(DecimalValue(isNegative: true, exponent: 0, significand: .max).digits.count == 39)
    #expect(DecimalValue.nan.digits == [])
  }

  private func decimal(_ bytes: [UInt8]) throws -> DecimalValue {
    try bytes._withBytes { try DecimalValue(bytes: $0, at: 0) }
  }
}
