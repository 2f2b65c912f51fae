/// Decompresses a stream of gzip (RFC 1952): one or more members, each with its checksum.
///
/// The library has its own implementation, so that programs without compressed imports need not
/// install zlib. The reader keeps 300 KiB and the appended bytes in memory.
struct GzipReader: Sendable {
  /// The first bytes of each member.
  static let mark: [UInt8] = [0x1F, 0x8B]
  /// The maximum ratio of the text's size to its compressed size; a file beyond it is refused.
  ///
  /// The limit applies to texts larger than `freeBytes`, since a short text may be one repeated
  /// byte.
  ///
  /// DEFLATE can expand one byte to 1,032; only texts of one repeated byte approach this ratio.
  static let mostExpansion = 512
  private let freeBytes: Int
  /// The maximum size of a member's header, in bytes.
  private static let longestHeader = 64 << 10

  private enum Phase {
    case header, content, trailer, between, ended
  }

  private var phase = Phase.header
  private var inflate = Inflate()
  private var checksum = CRC32()
  private var memberLength = 0
  private var outputCount = 0
  /// The appended bytes; those from `at` on have not been read.
  private var input: [UInt8] = []
  private var at = 0
  /// The number of bytes of the file before `input`.
  private var inputOffset = 0
  private var isFinished = false

  init(freeBytes: Int = 64 << 20) { self.freeBytes = freeBytes }

  mutating func append(_ bytes: some Collection<UInt8>) {
    input.removeSubrange(..<at)
    inputOffset += at
    at = 0
    input.append(contentsOf: bytes)
  }

  mutating func finish() { isFinished = true }

  /// Returns the next part of the text, of at most 256 KiB.
  ///
  /// Returns nil when more bytes are needed, and at the end after `finish`.
  mutating func next() throws(GzipError) -> [UInt8]? {
    while true {
      switch phase {
      case .header:
        guard let length = try headerLength() else { return try needMore() }
        at += length
        (inflate, checksum, memberLength) = (Inflate(), CRC32(), 0)
        phase = .content
      case .content:
        let (text, isAtEnd) = try inflated()
        if isAtEnd { phase = .trailer }
        guard !text.isEmpty else {
          if isAtEnd { continue }
          return try needMore()
        }
        checksum.combine(text)
        memberLength += text.count
        outputCount += text.count
        if outputCount > freeBytes, outputCount / Self.mostExpansion > inputOffset + at {
          throw error(.expandsTooMuch(limit: Self.mostExpansion))
        }
        return text
      case .trailer:
        guard input.count - at >= 8 else { return try needMore() }
        guard number(at) == checksum.value,
          number(at + 4) == UInt32(truncatingIfNeeded: memberLength)
        else { throw error(.wrongChecksum) }
        at += 8
        phase = .between
      case .between:
        // Tapes and block devices pad the end with zeros.
        while at < input.count, input[at] == 0 { at += 1 }
        guard at < input.count else { return nil }
        guard input.count - at >= 2 || isFinished else { return nil }
        guard input[at...].starts(with: Self.mark) else { throw error(.trailingContent) }
        phase = .header
      case .ended: return nil
      }
    }
  }

  /// Returns nil to request more bytes; throws when the file is finished.
  private func needMore() throws(GzipError) -> [UInt8]? {
    if isFinished { throw error(.cutOff) }
    return nil
  }

  private mutating func inflated() throws(GzipError) -> (text: [UInt8], isAtEnd: Bool) {
    do throws(Inflate.Fault) {
      return try inflate.next(input, &at, isFinished: isFinished)
    } catch {
      throw self.error(error == .cutOff ? .cutOff : .malformed)
    }
  }

  /// The length of the header; nil when more bytes are needed to determine it.
  private func headerLength() throws(GzipError) -> Int? {
    let bytes = input[at...]
    guard bytes.count >= 10 else { return nil }
    // Deflate is the only method; the three high flags are reserved.
    guard bytes.starts(with: Self.mark), bytes[at + 2] == 8, bytes[at + 3] & 0xE0 == 0 else {
      throw error(.malformed)
    }
    let flags = bytes[at + 3]
    var end = at + 10
    if flags & 4 != 0 {
      guard end + 2 <= input.count else { return nil }
      end += 2 + Int(input[end]) + Int(input[end + 1]) << 8
    }
    for flag: UInt8 in [8, 16] where flags & flag != 0 {
      guard end <= input.count, let zero = input[end...].firstIndex(of: 0) else {
        guard bytes.count <= Self.longestHeader else { throw error(.malformed) }
        return nil
      }
      end = zero + 1
    }
    if flags & 2 != 0 { end += 2 }
    return end <= input.count ? end - at : nil
  }

  private func number(_ start: Int) -> UInt32 {
    (0..<4).reduce(UInt32(0)) { $0 | UInt32(input[start + $1]) << UInt32(8 * $1) }
  }

  private func error(_ reason: GzipError.Reason) -> GzipError {
    GzipError(reason: reason, offset: inputOffset + at)
  }
}

/// The CRC-32 of gzip, which differs from the checksum of the store's pages.
private struct CRC32 {
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in
      value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1
    }
  }

  private var state = UInt32.max
  var value: UInt32 { ~state }

  mutating func combine(_ bytes: [UInt8]) {
    var state = state
    Self.table.withUnsafeBufferPointer { table in
      for byte in bytes { state = table[Int((state ^ UInt32(byte)) & 0xFF)] ^ state >> 8 }
    }
    self.state = state
  }
}
