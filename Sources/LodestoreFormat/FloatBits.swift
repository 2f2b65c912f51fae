// The initializers of `Double` and `Float` make a signalling NaN quiet. A record that is read as
// values and written again would then have other bytes in an attribute that nobody has set.

extension Float {
  /// The value of a float attribute as a double; a NaN keeps its sign and its payload.
  package var widened: Double {
    guard isNaN else { return Double(self) }
    let sign = UInt64(bitPattern >> 31) << 63
    let payload = UInt64(bitPattern & 0x7F_FFFF) << 29
    return Double(bitPattern: sign | 0x7FF0_0000_0000_0000 | payload)
  }
}

extension Double {
  /// The nearest float; a NaN keeps its sign and the upper part of its payload.
  package var narrowed: Float {
    guard isNaN else { return Float(self) }
    let sign = UInt32(bitPattern >> 63) << 31
    let payload = UInt32(truncatingIfNeeded: bitPattern >> 29) & 0x7F_FFFF
    // Without a payload the bits would be those of infinity.
    return Float(bitPattern: sign | 0x7F80_0000 | (payload == 0 ? 0x40_0000 : payload))
  }
}
