/// Maps numbers to unsigned words that have the order of the numbers.
///
/// This is *Ordered* of Format.md, "Index keys": there is one zero, and one not-a-number after all
/// other numbers.
@_documentation(visibility: internal)
public enum OrderedWord {
  /// The unsigned word whose order is the order of the signed integers.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public static func word(_ number: Int64) -> UInt64 { UInt64(bitPattern: number) ^ 1 << 63 }

  /// The unsigned word whose order is the order of the floating-point numbers or dates.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public static func word(_ number: Double) -> UInt64 {
    let bits: UInt64 =
      if number.isNaN { 0x7ff8_0000_0000_0000 } else if number == 0 { 0 } else { number.bitPattern }
    let sign = UInt64(bitPattern: Int64(bitPattern: bits) &>> 63)
    return bits ^ (sign | 1 << 63)
  }

  /// The signed integer for `word`.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public static func integer(_ word: UInt64) -> Int64 { Int64(bitPattern: word ^ 1 << 63) }

  /// The floating-point number for `word`.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public static func double(_ word: UInt64) -> Double {
    Double(bitPattern: word &>> 63 == 1 ? word ^ 1 << 63 : ~word)
  }
}
