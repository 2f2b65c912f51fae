import LodestoreFormat
import Testing

/// Values of float attributes, which are doubles in memory.
@Suite struct FloatBitsTests {
  @Test(
    arguments: [
      0x7F80_0001, 0x7FBF_FFFF, 0xFF80_0001, 0x7FC0_0000, 0xFFC0_1234, 0x7F80_0000, 0xFF80_0000, 0,
      1,
      0x8000_0000, 0x0080_0000, 0x3F80_0000, 0x7F7F_FFFF,
    ] as [UInt32])
  func `a float keeps its bits as a double, also if it is a signalling NaN`(bits: UInt32) {
    #expect(Float(bitPattern: bits).widened.narrowed.bitPattern == bits)
  }

  @Test func `a NaN whose payload has no room in a float stays a NaN`() {
    let number = Double(bitPattern: 0x7FF0_0000_0000_0001)
    #expect(number.narrowed.isNaN)
    #expect(Double.nan.narrowed.bitPattern == Float.nan.bitPattern)
    #expect(0.1.narrowed == Float(0.1) && (1e300).narrowed == .infinity)
  }
}
