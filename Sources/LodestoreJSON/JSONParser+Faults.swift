/// Continues after a faulty value, if faults are noted and the value's end can be found.
///
/// In place of such a value the tape has a null or an empty string. Callers must check
/// ``JSONNode/fault`` before they use a value.
extension JSONParser {
  /// Notes a fault and lets parsing continue; throws the fault if faults are not noted, or if the
  /// text already has too many.
  @inline(never)
  mutating func note(_ fault: JSONFault, entry: Int) throws(JSONFault) {
    guard notesFaults, tape.faults.count < faultLimit else { throw fault }
    tape.faults.append(
      JSONNotedFault(entry: UInt32(truncatingIfNeeded: entry), fault: fault))
  }

  /// Preserves the next number by its digits, although no integer or double type can represent it.
  @inline(never)
  mutating func keep(_ fault: JSONFault) throws(JSONFault) {
    guard notesFaults else { throw fault }
    tape.wideNumbers.append(UInt32(truncatingIfNeeded: tape.count))
  }

  /// Skips the string at `start` up to its closing quote.
  @inline(never)
  mutating func skipString(_ start: Int, _ fault: JSONFault) throws(JSONFault) -> Int {
    guard let end = quote(from: max(fault.offset, start + 1)) else { throw fault }
    try note(fault, entry: tape.count)
    try append(.string, at: start + 1)
    return end + 1
  }

  /// Skips a word or number that is not JSON, such as `NaN`, `True` or `007`.
  ///
  /// If a bracket is in place of the value, the value counts as missing.
  @inline(never)
  mutating func skipWord(_ start: Int, _ fault: JSONFault) throws(JSONFault) -> Int {
    var end = start
    while end < count, Self.isOfWord(text[end]) { end += 1 }
    guard end < count || end > start, fault.reason != .unexpectedEnd,
      end > start || text[start] == 0x5D || text[start] == 0x7D
    else { throw fault }
    try note(fault, entry: tape.count)
    try append(.null, at: start)
    return end
  }

  /// Notes the missing member after a trailing comma, as in `{"a":1,}`, as a member without a key.
  @inline(never)
  mutating func skipMissingKey(_ at: Int, _ fault: JSONFault) throws(JSONFault) -> Int {
    guard fault.reason == .trailingComma else { throw fault }
    try note(fault, entry: tape.count)
    try append(.string, at: at)
    return at
  }

  /// Skips an array or object that is nested too deeply.
  @inline(never)
  mutating func skipDeepValue(_ start: Int) throws(JSONFault) -> Int {
    let fault = JSONFault(.tooDeep(limit: depthLimit), at: start, expected: "a flatter value")
    var depth = 0
    var at = start
    while at < count {
      switch text[at] {
      case 0x5B, 0x7B: depth += 1
      case 0x5D, 0x7D: depth -= 1
      case 0x22:
        guard let end = quote(from: at + 1) else { throw fault }
        at = end
      default: break
      }
      at += 1
      guard depth == 0 else { continue }
      try note(fault, entry: tape.count)
      try append(.null, at: start)
      return at
    }
    throw fault
  }

  /// Appends an entry without content in place of a faulty value.
  private mutating func append(_ kind: JSONTapeKind, at offset: Int) throws(JSONFault) {
    try tape.append(JSONTapeEntry(kind, at: offset), at: offset)
  }

  /// The next quote without a backslash before it.
  private func quote(from start: Int) -> Int? {
    var at = start
    while at < count, text[at] != 0x22 { at += text[at] == 0x5C ? 2 : 1 }
    return at < count ? at : nil
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."),
      UInt8(ascii: "+"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
