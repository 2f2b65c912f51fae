internal import LodestoreBytes

/// Decompresses DEFLATE (RFC 1951).
struct Inflate: Sendable {
  enum Fault: Error {
    case cutOff, malformed
  }

  private enum Phase {
    case header
    /// The remaining bytes of an uncompressed block.
    case stored(Int)
    case codes
    case ended
  }

  /// The maximum distance back to the text that a match repeats, in bytes.
  private static let windowSize = 32 << 10
  private static let chunkSize = 256 << 10
  private static let longestMatch = 258
  /// The bytes that suffice for any symbol with its extra bits.
  private static let symbolSize = 8
  /// The bytes that suffice for any block header.
  private static let headerSize = 640

  private static let lengthBases: [UInt16] = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
    163, 195, 227, 258,
  ]
  private static let lengthBits: [UInt8] = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
  ]
  private static let distanceBases: [UInt16] = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049,
    3073, 4097, 6145, 8193, 12289, 16385, 24577,
  ]
  private static let distanceBits: [UInt8] = [
    0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13,
    13,
  ]
  /// The order in which a header lists the lengths of the code-length codes.
  private static let lengthOrder = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
  ]

  private var phase = Phase.header
  private var isLastBlock = false
  private var literals = HuffmanTable.fixedLiterals
  private var distances = HuffmanTable.fixedDistances
  /// The bits taken from the input and not used yet; the next one is the lowest.
  private var bits: UInt64 = 0
  private var bitCount = 0
  /// The window, followed by the decompressed text.
  private var output = [UInt8](
    repeating: 0, count: windowSize + chunkSize + longestMatch)
  private var end = 0
  private var taken = 0
  /// The fault, thrown after the text before it was returned.
  private var fault: Fault?

  /// Decompresses bytes of `input`, starting at `at`.
  ///
  /// The returned text is empty when more bytes are needed. A fault is thrown by the call after the
  /// one that returns the text before it.
  mutating func next(
    _ input: [UInt8], _ at: inout Int, isFinished: Bool
  ) throws(Fault) -> (text: [UInt8], isAtEnd: Bool) {
    if let fault { throw fault }
    slide()
    // Unused bytes are read again, because the next bytes may come in another array.
    defer { giveBack(&at) }
    do throws(Fault) {
      return try read(input, &at, isFinished: isFinished)
    } catch {
      fault = error
      guard end > taken else { throw error }
      return take()
    }
  }

  private mutating func read(
    _ input: [UInt8], _ at: inout Int, isFinished: Bool
  ) throws(Fault) -> (text: [UInt8], isAtEnd: Bool) {
    while end - taken < Self.chunkSize {
      switch phase {
      case .header:
        if isLastBlock {
          giveBack(&at)
          (bits, bitCount) = (0, 0)
          phase = .ended
          continue
        }
        guard isFinished || input.count - at >= Self.headerSize else { return take() }
        try readHeader(input, &at)
      case .stored(let count):
        let length = min(count, input.count - at, Self.chunkSize - (end - taken))
        guard length > 0 || count == 0 else {
          if isFinished { throw .cutOff }
          return take()
        }
        for index in 0..<length { output[end + index] = input[at + index] }
        end += length
        at += length
        phase = count == length ? .header : .stored(count - length)
      case .codes:
        let before = (at, end, bitCount)
        try readSymbols(input, &at, isFinished: isFinished)
        if case .codes = phase, before == (at, end, bitCount) { return take() }
      case .ended: return (take().text, true)
      }
    }
    return take()
  }

  private mutating func take() -> (text: [UInt8], isAtEnd: Bool) {
    defer { taken = end }
    return (Array(output[taken..<end]), false)
  }

  /// Makes room for more text, and keeps the last 32 KiB of text, to which matches may refer.
  private mutating func slide() {
    let surplus = end - Self.windowSize
    guard surplus > 0 else { return }
    output._withMutableBytes { output in
      for index in 0..<Self.windowSize { output[index] = output[index + surplus] }
    }
    end -= surplus
    taken = end
  }

  /// Returns the unused complete bytes to the input.
  private mutating func giveBack(_ at: inout Int) {
    at -= bitCount / 8
    bitCount %= 8
    bits &= 1 << UInt64(bitCount) - 1
  }

  // MARK: Bits

  private mutating func read(_ count: Int, _ input: [UInt8], _ at: inout Int) throws(Fault) -> Int {
    while bitCount < count {
      guard at < input.count else { throw .cutOff }
      bits |= UInt64(input[at]) << UInt64(bitCount)
      at += 1
      bitCount += 8
    }
    let value = Int(bits & (1 << UInt64(count) - 1))
    bits >>= UInt64(count)
    bitCount -= count
    return value
  }

  private mutating func read(
    _ table: HuffmanTable, _ input: [UInt8], _ at: inout Int
  ) throws(Fault) -> Int {
    while bitCount < table.bits, at < input.count {
      bits |= UInt64(input[at]) << UInt64(bitCount)
      at += 1
      bitCount += 8
    }
    let entry = table.entries[Int(bits & UInt64(table.entries.count - 1))]
    let length = Int(entry & 15)
    // At the end of the input, bits above `bitCount` are zeros and do not belong to a code.
    guard length > 0 else { throw bitCount < table.bits ? .cutOff : .malformed }
    guard length <= bitCount else { throw .cutOff }
    bits >>= UInt64(length)
    bitCount -= length
    return Int(entry >> 4)
  }

  // MARK: Blocks

  private mutating func readHeader(_ input: [UInt8], _ at: inout Int) throws(Fault) {
    isLastBlock = try read(1, input, &at) == 1
    switch try read(2, input, &at) {
    case 0:
      _ = try read(bitCount % 8, input, &at)
      let length = try read(16, input, &at)
      guard try read(16, input, &at) == ~length & 0xFFFF else { throw .malformed }
      giveBack(&at)
      phase = .stored(length)
    case 1:
      literals = .fixedLiterals
      distances = .fixedDistances
      phase = .codes
    case 2:
      try readTables(input, &at)
      phase = .codes
    default: throw .malformed
    }
  }

  private mutating func readTables(_ input: [UInt8], _ at: inout Int) throws(Fault) {
    let literalCount = try read(5, input, &at) + 257
    let distanceCount = try read(5, input, &at) + 1
    let lengthCount = try read(4, input, &at) + 4
    guard literalCount <= 286, distanceCount <= 30 else { throw .malformed }
    var lengths = [UInt8](repeating: 0, count: 19)
    for symbol in Self.lengthOrder.prefix(lengthCount) {
      lengths[symbol] = UInt8(try read(3, input, &at))
    }
    guard let codes = HuffmanTable(lengths), codes.isComplete else { throw .malformed }
    lengths = []
    while lengths.count < literalCount + distanceCount {
      let symbol = try read(codes, input, &at)
      switch symbol {
      case 0...15: lengths.append(UInt8(symbol))
      case 16:
        guard let last = lengths.last else { throw .malformed }
        lengths += Array(repeating: last, count: 3 + (try read(2, input, &at)))
      case 17: lengths += Array(repeating: 0, count: 3 + (try read(3, input, &at)))
      default: lengths += Array(repeating: 0, count: 11 + (try read(7, input, &at)))
      }
    }
    guard lengths.count == literalCount + distanceCount, lengths[256] > 0,
      let literals = HuffmanTable(lengths[..<literalCount]),
      let distances = HuffmanTable(lengths[literalCount...]),
      // A code with only one symbol is incomplete and allowed; its single code is one bit long.
      literals.isComplete || literals.bits == 1, distances.isComplete || distances.bits == 1
    else { throw .malformed }
    self.literals = literals
    self.distances = distances
  }

  /// Reads symbols until the block ends, a chunk of text is full, or the input may not contain
  /// another symbol.
  private mutating func readSymbols(
    _ input: [UInt8], _ at: inout Int, isFinished: Bool
  ) throws(Fault) {
    let limit = taken + Self.chunkSize
    while end < limit, isFinished || input.count - at >= Self.symbolSize {
      let symbol = try read(literals, input, &at)
      if symbol < 256 {
        output[end] = UInt8(truncatingIfNeeded: symbol)
        end += 1
        continue
      }
      if symbol == 256 {
        phase = .header
        return
      }
      guard symbol - 257 < Self.lengthBases.count else { throw .malformed }
      let length =
        Int(Self.lengthBases[symbol - 257])
        + (try read(Int(Self.lengthBits[symbol - 257]), input, &at))
      let code = try read(distances, input, &at)
      guard code < Self.distanceBases.count else { throw .malformed }
      let distance =
        Int(Self.distanceBases[code]) + (try read(Int(Self.distanceBits[code]), input, &at))
      guard distance <= end else { throw .malformed }
      copy(length, back: distance)
    }
  }

  private mutating func copy(_ length: Int, back distance: Int) {
    let start = end
    output._withMutableBytes { output in
      // The match is copied byte by byte, because it may overlap with its own copy.
      for index in start..<(start + length) { output[index] = output[index - distance] }
    }
    end += length
  }
}

/// A Huffman code as a table: the symbol and the code length for each value of the next bits.
private struct HuffmanTable: Sendable {
  static let fixedLiterals = fixed(
    (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
  static let fixedDistances = fixed(Array(repeating: 5, count: 30))

  /// The symbol in the bits from 4 on, and the code's length in the low bits; 0 for bits that begin
  /// no code.
  let entries: [UInt16]
  let bits: Int
  /// Whether every sequence of bits begins with a code.
  let isComplete: Bool

  /// Creates the codes with these lengths, one for each symbol; nil when there are too many short
  /// codes.
  init?(_ lengths: some Collection<UInt8>) {
    let longest = Int(lengths.max() ?? 0)
    bits = max(longest, 1)
    var entries = [UInt16](repeating: 0, count: 1 << bits)
    var code = 0
    for length in stride(from: 1, through: longest, by: 1) {
      for (symbol, own) in lengths.enumerated() where Int(own) == length {
        guard code < 1 << length else { return nil }
        // The first bit of a code is the lowest bit of the index.
        var index = 0
        for bit in 0..<length where code & 1 << bit != 0 { index |= 1 << (length - 1 - bit) }
        while index < entries.count {
          entries[index] = UInt16(symbol << 4 | length)
          index += 1 << length
        }
        code += 1
      }
      code <<= 1
    }
    self.entries = entries
    isComplete = code == 2 << longest
  }

  private init(entries: [UInt16], bits: Int) {
    self.entries = entries
    self.bits = bits
    isComplete = false
  }

  private static func fixed(_ lengths: [UInt8]) -> HuffmanTable {
    HuffmanTable(lengths) ?? HuffmanTable(entries: [0, 0], bits: 1)
  }
}
