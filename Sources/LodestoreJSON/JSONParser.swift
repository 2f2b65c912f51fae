import LodestoreBytes

/// Parses one text of RFC 8259 into a tape, in one pass and without recursion.
///
/// The parser repairs nothing: it refuses text that parsers interpret differently. The tape holds
/// only offsets. Strings and numbers are built on request.
struct JSONParser: ~Copyable {
  let text: ByteView
  let count: Int
  let depthLimit: Int
  /// Whether faults of single values are noted.
  let notesFaults: Bool
  let faultLimit: Int
  private let strings: JSONStringScanner
  private var keys = JSONKeyCheck()
  var tape: JSONTape

  /// Creates a parser.
  ///
  /// Eight zero bytes, not included in `count`, must follow the text.
  init(text: ByteView, count: Int, limits: JSONLimits) {
    self.text = text
    self.count = count
    depthLimit = limits.depth
    strings = JSONStringScanner(text: text, count: count)
    tape = JSONTape(capacity: count / 8 + 8, limit: limits.values)
    notesFaults = limits.notesFaults
    faultLimit = limits.values / 4
  }

  /// Parses the whole text and returns the tape.
  static func tape(
    of text: ByteView, count: Int, limits: JSONLimits
  ) throws(JSONFault) -> JSONTape {
    guard count <= limits.bytes else {
      throw JSONFault(
        .tooLong(limit: limits.bytes), at: limits.bytes,
        expected: "a smaller text; split it, for instance into JSON Lines")
    }
    var parser = JSONParser(text: text, count: count, limits: limits)
    do throws(JSONFault) {
      try parser.run()
    } catch {
      // If parsing failed after a noted fault, that first fault may be the cause, so it is thrown.
      throw parser.tape.faults.first?.fault ?? error
    }
    return parser.finish()
  }

  private consuming func finish() -> JSONTape {
    // Faults are sorted by their entries, because a duplicate key is noted only at the end of its
    // object, after the faults within the object.
    tape.faults.sort { ($0.entry, $0.fault.offset) < ($1.entry, $1.fault.offset) }
    return tape
  }

  private static let none = UInt32.max

  private mutating func run() throws(JSONFault) {
    // A byte order mark at the beginning is skipped, as RFC 8259, 8.1, allows.
    let hasMark = text[0] == 0xEF && text[1] == 0xBB && text[2] == 0xBF
    var at = skipSpace(hasMark ? 3 : 0)
    if at == count { throw JSONFault(.emptyText, at: at, expected: "a value") }
    var open = Self.none
    var depth = 0
    while true {
      // A value starts at `at`.
      let byte = text[at]
      switch byte {
      case 0x22: at = try string(at)
      case 0x7B, 0x5B:
        guard depth < depthLimit else {
          at = try skipDeepValue(at)
          break
        }
        depth &+= 1
        let kind: JSONTapeKind = byte == 0x7B ? .object : .array
        try tape.append(JSONTapeEntry(kind, at: at, link: open), at: at)
        open = UInt32(truncatingIfNeeded: tape.count &- 1)
        at = skipSpace(at &+ 1)
        if byte == 0x7B {
          if text[at] != 0x7D {
            at = try key(at, after: 0x7B)
            continue
          }
        } else if text[at] != 0x5D {
          continue
        }
      case 0x2D, 0x30...0x39: at = try number(at)
      case 0x74: at = try word(at, 0x6575_7274, 4, .true)
      case 0x66: at = try word(at, 0x65_736C_6166, 5, .false)
      case 0x6E: at = try word(at, 0x6C6C_756E, 4, .null)
      default: at = try skipWord(at, wrongValue(at, open: open))
      }

      // A value ends before `at`. Close containers, or continue with the next value.
      while true {
        at = skipSpace(at)
        if open == Self.none {
          if at == count { return }
          throw JSONFault(.trailingContent, at: at, expected: "the end of the text")
        }
        let container = tape.entries + Int(open)
        let isObject = container.pointee.tag & 1 == 1
        let byte = text[at]
        if byte == 0x2C {
          container.pointee.tag &+= JSONTapeEntry.oneChild
          at = skipSpace(at &+ 1)
          if isObject { at = try key(at, after: 0x2C) }
          break
        }
        guard byte == (isObject ? 0x7D : 0x5D) else {
          throw JSONFault(
            at == count ? .unexpectedEnd : .unexpectedByte(byte), at: at,
            expected: isObject ? "',' or '}'" : "',' or ']'")
        }
        let first = Int(open) &+ 1
        // Up to here only commas were counted. A container with content has one child more than
        // commas.
        if tape.count > first { container.pointee.tag &+= JSONTapeEntry.oneChild }
        if isObject && container.pointee.tag >= JSONTapeEntry.oneChild &* 2 {
          do throws(JSONFault) {
            let reader = JSONTapeReader(text: text, entries: tape.entries)
            try keys.check(reader, first: first, end: tape.count)
          } catch {
            try note(error, entry: Int(open))
          }
        }
        at &+= 1
        open = container.pointee.link
        depth &-= 1
        container.pointee.link = UInt32(truncatingIfNeeded: tape.count)
        container.pointee.length = UInt32(truncatingIfNeeded: at) &- container.pointee.offset
      }
    }
  }

  @inline(__always)
  private func skipSpace(_ start: Int) -> Int {
    var at = start
    while true {
      let byte = text[at]
      guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else {
        return at
      }
      at &+= 1
    }
  }

  @inline(__always)
  private mutating func string(_ at: Int) throws(JSONFault) -> Int {
    let end: Int
    let flags: UInt32
    do throws(JSONFault) {
      (end, flags) = try strings.scan(from: at &+ 1)
    } catch {
      return try skipString(at, error)
    }
    try tape.append(
      JSONTapeEntry(.string, at: at &+ 1, length: end &- at &- 1, flags: flags), at: at)
    return end &+ 1
  }

  /// Reads a key and its colon and returns the offset of the value.
  @inline(__always)
  private mutating func key(_ at: Int, after byte: UInt8) throws(JSONFault) -> Int {
    guard text[at] == 0x22 else { return try skipMissingKey(at, wrongKey(at, after: byte)) }
    let end = skipSpace(try string(at))
    guard text[end] == 0x3A else {
      throw JSONFault(
        end == count ? .unexpectedEnd : .unexpectedByte(text[end]), at: end,
        expected: "':' after a key")
    }
    return skipSpace(end &+ 1)
  }

  @inline(__always)
  private mutating func word(
    _ at: Int, _ letters: UInt64, _ length: Int, _ kind: JSONTapeKind
  ) throws(JSONFault) -> Int {
    let mask = ~(UInt64.max << UInt64(length &* 8))
    let found = text.loadUnaligned(fromByteOffset: at, as: UInt64.self)
    guard UInt64(littleEndian: found) & mask == letters else {
      return try skipWord(at, wrongValue(at, open: 0))
    }
    try tape.append(JSONTapeEntry(kind, at: at, length: length), at: at)
    return at &+ length
  }

  private mutating func number(_ start: Int) throws(JSONFault) -> Int {
    var at = start
    if text[at] == 0x2D { at &+= 1 }
    let firstDigit = at
    at = skipDigits(at)
    if at == firstDigit { return try skipWord(start, wrongNumber(at, start: start)) }
    if text[firstDigit] == 0x30 && at &- firstDigit > 1 {
      return try skipWord(
        start, JSONFault(.leadingZero, at: firstDigit, expected: "a number without it"))
    }
    let integerEnd = at
    if text[at] == 0x2E {
      let digits = at &+ 1
      at = skipDigits(digits)
      if at == digits { return try skipWord(start, wrongNumber(at, start: start)) }
    }
    let hasExponent = text[at] | 0x20 == 0x65
    if hasExponent {
      at &+= 1
      if text[at] == 0x2B || text[at] == 0x2D { at &+= 1 }
      let digits = at
      at = skipDigits(digits)
      if at == digits { return try skipWord(start, wrongNumber(at, start: start)) }
    }
    let digits = text.part(from: start, count: at &- start)
    if at == integerEnd {
      if digits.count > 18 {
        do throws(JSONFault) { try checkInteger(digits, at: start) } catch { try keep(error) }
      }
    } else if hasExponent || digits.count > 300 {
      // Only a number with an exponent or with very many digits can overflow a double or round to
      // zero, so only these are checked.
      do throws(JSONFault) { try checkDouble(digits, at: start) } catch { try keep(error) }
    }
    // The whole entry is built here, because passing its parts to a method would take more
    // instructions for each number.
    let entry = JSONTapeEntry(
      offset: UInt32(truncatingIfNeeded: start), length: UInt32(truncatingIfNeeded: at &- start),
      link: 0, tag: UInt32((at == integerEnd ? JSONTapeKind.integer : .real).rawValue))
    try tape.append(entry, at: start)
    return at
  }

  @inline(__always)
  private func skipDigits(_ start: Int) -> Int {
    var at = start
    while text[at] &- 0x30 <= 9 { at &+= 1 }
    return at
  }

  private func checkInteger(_ digits: JSONNumber.Text, at offset: Int) throws(JSONFault) {
    if JSONNumber.int64(digits) == nil && JSONNumber.uint64(digits) == nil {
      throw JSONFault(
        .integerOutsideRange, at: offset,
        expected: "-9223372036854775808 to 18446744073709551615, or a string")
    }
  }

  private func checkDouble(_ digits: JSONNumber.Text, at offset: Int) throws(JSONFault) {
    let value = JSONNumber.double(digits)
    if !value.isFinite {
      throw JSONFault(.numberTooLarge, at: offset, expected: "at most 1.797e308, or a string")
    }
    if value == 0 && JSONNumber.isNonzero(digits) {
      throw JSONFault(.numberTooSmall, at: offset, expected: "at least 4.94e-324, or a string")
    }
  }
}

// MARK: - Errors

extension JSONParser {
  private func wrongValue(_ at: Int, open: UInt32) -> JSONFault {
    if at == count { return JSONFault(.unexpectedEnd, at: at, expected: "a value") }
    let byte = text[at]
    if byte == 0x5D && previous(at) == 0x2C {
      return JSONFault(.trailingComma, at: at, expected: "an element")
    }
    if starts(at, "NaN") || starts(at, "Infinity") {
      return JSONFault(.notFinite, at: at, expected: "a number, null or a string")
    }
    // For a misspelt word such as `tru`, the error's position is the first wrong letter.
    for word: StaticString in ["true", "false", "null"] where word.utf8Start[0] == byte {
      var index = 0
      while index < word.utf8CodeUnitCount && text[at + index] == word.utf8Start[index] {
        index += 1
      }
      if at + index == count {
        return JSONFault(.unexpectedEnd, at: count, expected: "true, false or null")
      }
      return JSONFault(
        .unexpectedByte(text[at + index]), at: at + index, expected: "true, false or null")
    }
    return JSONFault(.unexpectedByte(byte), at: at, expected: "a value")
  }

  private func wrongKey(_ at: Int, after byte: UInt8) -> JSONFault {
    if at == count { return JSONFault(.unexpectedEnd, at: at, expected: "a key in quotes") }
    if text[at] == 0x7D && byte == 0x2C {
      return JSONFault(.trailingComma, at: at, expected: "a member")
    }
    return JSONFault(
      .unexpectedByte(text[at]), at: at,
      expected: byte == 0x7B ? "a key in quotes or '}'" : "a key in quotes")
  }

  private func wrongNumber(_ at: Int, start: Int) -> JSONFault {
    if at == count { return JSONFault(.unexpectedEnd, at: at, expected: "a digit") }
    if at == start + 1 && (starts(at, "Infinity") || starts(at, "NaN")) {
      return JSONFault(.notFinite, at: start, expected: "a number, null or a string")
    }
    return JSONFault(.malformedNumber, at: at, expected: "a digit")
  }

  /// The last byte before an offset that is not white space.
  private func previous(_ at: Int) -> UInt8? {
    var index = at - 1
    while index >= 0 && text[index] <= 0x20 { index -= 1 }
    return index >= 0 ? text[index] : nil
  }

  private func starts(_ at: Int, _ word: StaticString) -> Bool {
    (0..<word.utf8CodeUnitCount).allSatisfy {
      at + $0 < count && text[at + $0] == word.utf8Start[$0]
    }
  }
}
