import LodestoreBytes

/// Numbers of 7 bits a byte, lowest first; the highest bit says that another byte follows (LEB128).
///
/// Only the shortest form of a number is allowed.
@_documentation(visibility: internal)
public enum VariableNumber {
  /// Calls `body` with each byte of a number.
  @inlinable
  public static func forEachByte(of number: UInt64, _ body: (UInt8) -> Void) {
    var rest = number
    while rest >= 0x80 {
      body(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest &>>= 7
    }
    body(UInt8(truncatingIfNeeded: rest))
  }

  package static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    forEachByte(of: number) { bytes.append($0) }
  }

  /// The number of bytes of a number.
  static func byteCount(of number: UInt64) -> Int {
    max(1, (64 - number.leadingZeroBitCount + 6) / 7)
  }

  /// The reason for which no number is at an offset.
  package enum Fault {
    case endsEarly
    case exceeds64Bits
    case isNotShortest
  }

  /// Reads the number at `offset`, and moves `offset` to its end.
  ///
  /// Returns `nil` if no number of 64 bits in its shortest form is there; ``fault(_:at:)`` says
  /// why.
  @inline(__always)
  package static func read(_ bytes: ByteView, at offset: inout Int) -> UInt64? {
    guard offset < bytes.count else { return nil }
    let first = bytes[offset]
    if first < 0x80 {
      offset &+= 1
      return UInt64(first)
    }
    guard case .success(let number) = readLong(bytes, at: &offset) else { return nil }
    return number
  }

  /// The reason for which ``read(_:at:)`` finds no number at `offset`.
  package static func fault(_ bytes: ByteView, at offset: Int) -> Fault {
    var offset = offset
    guard case .failure(let fault) = readLong(bytes, at: &offset) else { return .endsEarly }
    return fault
  }

  private enum Outcome {
    case success(UInt64)
    case failure(Fault)
  }

  @inline(never)
  private static func readLong(_ bytes: ByteView, at offset: inout Int) -> Outcome {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while offset < bytes.count {
      let byte = bytes[offset]
      offset += 1
      // The tenth byte may hold only the highest bit.
      guard shift < 63 || byte <= 1 else { return .failure(.exceeds64Bits) }
      number |= UInt64(byte & 0x7F) &<< shift
      if byte < 0x80 {
        return byte == 0 && shift > 0 ? .failure(.isNotShortest) : .success(number)
      }
      shift += 7
    }
    return .failure(.endsEarly)
  }
}
