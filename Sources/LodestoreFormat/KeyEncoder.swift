import LodestoreBytes

/// The codes that start an element of an index key.
///
/// See Format.md, "Index keys".
enum KeyCode {
  static let null: UInt8 = 0x00
  static let data: UInt8 = 0x01
  static let text: UInt8 = 0x02
  /// The code of zero.
  ///
  /// For a positive integer, the number of bytes of its magnitude is added to this code. For a
  /// negative integer, it is subtracted.
  static let zero: UInt8 = 0x14
  static let lowestInteger: UInt8 = 0x0c
  static let highestInteger: UInt8 = 0x1c
  static let double: UInt8 = 0x21
  static let `false`: UInt8 = 0x26
  static let `true`: UInt8 = 0x27
  static let uuid: UInt8 = 0x30
  static let date: UInt8 = 0x33
  static let decimal: UInt8 = 0x40
}

/// The second byte of a decimal's index key.
enum DecimalClass {
  static let negative: UInt8 = 1
  static let zero: UInt8 = 2
  static let positive: UInt8 = 3
  static let nan: UInt8 = 4
  static let scaleBias = 32_768
}

/// Encodes tuples of index key elements.
///
/// Reuse one encoder for many keys, with ``reset()`` between them.
///
/// The byte order of two tuples is the order of their values. The buffer is raw memory that stays
/// allocated from key to key, because an array per key would cost more than the encoding.
package struct KeyEncoder: ~Copyable {
  /// The length of the longest tuple that is not cut.
  ///
  /// With the record id, a key then fits LMDB's limit of 511 bytes.
  package static let longestTuple = 479
  /// The number of bytes of a tuple that a cut key keeps.
  package static let cutPrefix = 463
  /// The length of every cut tuple.
  ///
  /// No other tuple has it.
  package static let cutLength = 480

  private static let initialCapacity = 1024
  /// A buffer larger than this, grown for one huge text, is released at the next reset.
  private static let keptCapacity = 1 << 16

  private var base: UnsafeMutableRawPointer
  private var capacity: Int
  package private(set) var count = 0
  /// Whether the key is still in the memory given to ``init(in:count:)``.
  package private(set) var isInPlace: Bool

  package init() {
    capacity = Self.initialCapacity
    base = .allocate(byteCount: Self.initialCapacity, alignment: 16)
    isInPlace = false
  }

  /// Makes an encoder that writes into `room`, which already holds `count` bytes and must outlive
  /// the encoder.
  ///
  /// If the key becomes longer than `room`, the encoder allocates memory for it.
  package init(in room: MutableByteView, count: Int) {
    isInPlace = room.baseAddress != nil
    capacity = isInPlace ? room.count : Self.initialCapacity
    base = room.baseAddress ?? .allocate(byteCount: Self.initialCapacity, alignment: 16)
    self.count = count
  }

  deinit { if !isInPlace { base.deallocate() } }

  /// The bytes appended since the last reset.
  ///
  /// Valid until the next mutation.
  package var bytes: ByteView { ByteView(start: base, count: count) }

  package mutating func reset() {
    count = 0
    if capacity > Self.keptCapacity {
      base.deallocate()
      capacity = Self.initialCapacity
      base = .allocate(byteCount: capacity, alignment: 16)
    }
  }

  package mutating func appendNull() {
    reserve(1)
    put(KeyCode.null)
  }

  package mutating func append(_ value: Bool) {
    reserve(1)
    put(value ? KeyCode.true : KeyCode.false)
  }

  package mutating func append(_ value: Int64) {
    if value >= 0 {
      append(UInt64(bitPattern: value))
    } else {
      let magnitude = value.magnitude
      let byteCount = Self.byteCount(magnitude)
      appendInteger(~magnitude, byteCount, code: KeyCode.zero &- UInt8(byteCount))
    }
  }

  package mutating func append(_ value: UInt64) {
    let byteCount = Self.byteCount(value)
    appendInteger(value, byteCount, code: KeyCode.zero &+ UInt8(byteCount))
  }

  package mutating func append(_ value: Double) {
    appendWord(OrderedWord.word(value), code: KeyCode.double)
  }

  /// Appends a date in seconds since 2001-01-01T00:00:00Z.
  package mutating func append(date seconds: Double) {
    appendWord(OrderedWord.word(seconds), code: KeyCode.date)
  }

  /// Replaces the contents by the key of one number or date, given as its ordered word.
  ///
  /// If `recordID` is given, it ends the key.
  package mutating func begin(withOrdered word: UInt64, isDate: Bool, recordID: UInt64?) {
    count = 0
    appendWord(word, code: isDate ? KeyCode.date : KeyCode.double)
    if let recordID { append(recordID: recordID) }
  }

  /// Appends the keys of many numbers or dates, given as their ordered words.
  ///
  /// If `recordIDs` are given, each ends its key.
  ///
  /// - Parameter ends: Receives the offset at which each key ends.
  package mutating func append(
    keysOfOrdered words: UnsafeBufferPointer<UInt64>, isDate: Bool,
    recordIDs: UnsafePointer<UInt64>?, ends: UnsafeMutablePointer<Int>
  ) {
    reserve(words.count * 17)
    for index in words.indices {
      appendWord(words[index], code: isDate ? KeyCode.date : KeyCode.double)
      if let recordIDs { append(recordID: recordIDs[index]) }
      ends[index] = count
    }
  }

  package mutating func append(_ value: UUIDBytes) {
    appendWord(value.high, code: KeyCode.uuid)
    append(recordID: value.low)
  }

  package mutating func append(_ value: DecimalValue) {
    if value.isNaN || value.significand == 0 {
      reserve(2)
      put(KeyCode.decimal)
      put(value.isNaN ? DecimalClass.nan : DecimalClass.zero)
      return
    }
    let digits = value.digits
    reserve(digits.count + 5)
    put(KeyCode.decimal)
    put(value.isNegative ? DecimalClass.negative : DecimalClass.positive)
    let inversion: UInt8 = value.isNegative ? 0xff : 0
    // The largest exponent is 16,383, so the scale always fits. The clamping only avoids the trap
    // of a plain conversion.
    let scale = UInt16(clamping: Int(value.exponent) + digits.count + DecimalClass.scaleBias)
    put(UInt8(truncatingIfNeeded: scale >> 8) ^ inversion)
    put(UInt8(truncatingIfNeeded: scale) ^ inversion)
    for digit in digits { put((digit &+ 1) ^ inversion) }
    put(inversion)
  }

  /// Appends the NFC form of a text.
  ///
  /// Its bytes are not validated as UTF-8.
  package mutating func append(text: ByteView) {
    if !appendPlain(text, code: KeyCode.text, isASCII: true) { appendNormalized(text) }
  }

  package mutating func append(data: ByteView) { appendTerminated(data, code: KeyCode.data) }

  /// Appends any value.
  ///
  /// For a document, which has no index key, it throws and appends nothing.
  package mutating func append(_ value: Value) throws(FormatError) {
    switch value {
    case .null: appendNull()
    case .bool(let flag): append(flag)
    case .integer(let number): append(number)
    case .unsigned(let number): append(number)
    case .double(let number): append(number)
    case .date(let seconds): append(date: seconds)
    case .uuid(let uuid): append(uuid)
    case .decimal(let decimal): append(decimal)
    case .string(var text): text.withUTF8 { append(text: ByteView($0)) }
    case .data(let bytes): bytes._withBytes { append(data: $0) }
    case .document: throw FormatError("a document has no index key")
    }
  }

  /// Cuts the tuple if it is longer than 479 bytes, and returns whether it was cut.
  ///
  /// Call it once for each tuple, after its last element and before the record id. The tuple is
  /// everything appended since the last reset. Cutting takes O(length) with a large factor, because
  /// it computes a hash.
  @discardableResult
  package mutating func finishTuple() -> Bool {
    guard count > Self.longestTuple else { return false }
    let hash = SHA256.hash(bytes)
    count = Self.cutPrefix
    put(0xff)
    for byte in hash.prefix(Self.cutLength - Self.cutPrefix - 1) { put(byte) }
    return true
  }

  /// Appends a record id as u64 BE, without a code.
  ///
  /// The id ends a key and is not part of the tuple.
  package mutating func append(recordID: UInt64) {
    reserve(8)
    base.storeBytes(of: recordID.bigEndian, toByteOffset: count, as: UInt64.self)
    count += 8
  }

  package mutating func append(raw byte: UInt8) {
    reserve(1)
    put(byte)
  }

  /// Inverts all bytes from `start` on, for a descending order.
  package mutating func invert(from start: Int) {
    for offset in start..<count {
      let byte = base.load(fromByteOffset: offset, as: UInt8.self)
      base.storeBytes(of: ~byte, toByteOffset: offset, as: UInt8.self)
    }
  }

  /// Appends bytes unchanged, such as a tuple encoded before.
  package mutating func append(raw: ByteView) {
    guard let source = raw.baseAddress else { return }
    reserve(raw.count)
    (base + count).copyMemory(from: source, byteCount: raw.count)
    count += raw.count
  }
}

// MARK: - Bytes

extension KeyEncoder {
  @inline(__always)
  private mutating func reserve(_ additional: Int) {
    if capacity &- count < additional { grow(additional) }
  }

  @inline(never)
  private mutating func grow(_ additional: Int) {
    capacity = max(capacity * 2, count + additional)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    larger.copyMemory(from: base, byteCount: count)
    if !isInPlace { base.deallocate() }
    isInPlace = false
    base = larger
  }

  /// Stores one byte.
  ///
  /// The caller must have reserved room for it.
  @inline(__always)
  private mutating func put(_ byte: UInt8) {
    base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count &+= 1
  }

  /// The minimum number of bytes that hold `magnitude`; 0 for zero.
  @inline(__always)
  private static func byteCount(_ magnitude: UInt64) -> Int {
    (64 &- magnitude.leadingZeroBitCount &+ 7) &>> 3
  }

  /// Appends the low `byteCount` bytes of `word`, most significant first.
  ///
  /// The method always stores eight bytes, but counts only `byteCount` of them. A loop would be
  /// slower. The bytes after the count are never read.
  @inline(__always)
  private mutating func appendInteger(_ word: UInt64, _ byteCount: Int, code: UInt8) {
    reserve(9)
    base.storeBytes(of: code, toByteOffset: count, as: UInt8.self)
    let shifted = word &<< UInt64(truncatingIfNeeded: 64 &- byteCount &* 8)
    base.storeBytes(of: shifted.bigEndian, toByteOffset: count &+ 1, as: UInt64.self)
    count &+= 1 &+ byteCount
  }

  @inline(__always)
  private mutating func appendWord(_ word: UInt64, code: UInt8) {
    reserve(9)
    base.storeBytes(of: code, toByteOffset: count, as: UInt8.self)
    base.storeBytes(of: word.bigEndian, toByteOffset: count &+ 1, as: UInt64.self)
    count &+= 9
  }

  /// Appends code, bytes and a terminating zero, unless a byte is zero or, if `isASCII`, not ASCII.
  ///
  /// Copies eight bytes at a time while searching them for such a byte.
  ///
  /// - Returns: Whether the bytes were appended.
  @inline(__always)
  private mutating func appendPlain(_ source: ByteView, code: UInt8, isASCII: Bool) -> Bool {
    let length = source.count
    reserve(length &+ 2)
    let target = base + (count &+ 1)
    if length >= 8 {
      var index = 0
      // The last step overlaps the one before it, so no bytes are left over.
      while index < length {
        index = min(index, length &- 8)
        let word = source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        let borrows = word &- 0x0101_0101_0101_0101
        let found = isASCII ? borrows | word : borrows & ~word
        if found & 0x8080_8080_8080_8080 != 0 { return false }
        target.storeBytes(of: word, toByteOffset: index, as: UInt64.self)
        index &+= 8
      }
    } else {
      for index in 0..<length {
        let byte = source[index]
        if byte == 0 || (isASCII && byte >= 0x80) { return false }
        target.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
      }
    }
    base.storeBytes(of: code, toByteOffset: count, as: UInt8.self)
    target.storeBytes(of: 0, toByteOffset: length, as: UInt8.self)
    count &+= length &+ 2
    return true
  }

  /// Appends the code, the bytes with zeros escaped, and a terminating zero.
  @inline(__always)
  private mutating func appendTerminated(_ source: ByteView, code: UInt8) {
    if !appendPlain(source, code: code, isASCII: false) { appendEscaped(source, code: code) }
  }

  /// Appends a text that is not ASCII or contains a zero.
  @inline(never)
  private mutating func appendNormalized(_ text: ByteView) {
    if Normalization.isCertainlyNFC(text) { return appendTerminated(text, code: KeyCode.text) }
    var normal: [UInt8] = []
    Normalization.appendNFC(of: text, to: &normal)
    normal._withBytes { appendTerminated($0, code: KeyCode.text) }
  }

  @inline(never)
  private mutating func appendEscaped(_ source: ByteView, code: UInt8) {
    reserve(source.count * 2 + 2)
    put(code)
    for byte in source {
      put(byte)
      if byte == 0 { put(0xff) }
    }
    put(0)
  }
}
