import LodestoreBytes
import LodestoreSystem

/// One value of a file with many values.
package struct JSONLine: Sendable {
  package let root: JSONNode
  /// The line, from 1, counting blank lines.
  package let line: Int
  /// The offset of the line's first byte in the file.
  package let offset: Int
}

/// Cuts a stream of bytes into texts and parses each as JSON.
///
/// The texts are lines, or values that follow each other with or without white space. Lines end
/// with LF or CR LF; the last line may lack its end. Blank lines are skipped. An error concerns
/// only its text, and the next call continues after it. The reader holds the current text, or all
/// bytes of one call of `append`.
package struct JSONLinesReader: Sendable {
  /// The rule for the end of a text.
  package enum Cut: Sendable {
    /// A text ends with its line.
    case lines
    /// A text ends with its value: at the closing bracket, or before the first byte that is not
    /// part of a scalar.
    case values
  }

  private let limits: JSONLimits
  private let cut: Cut
  /// The state of the search for the end of a value.
  private var search = JSONEndSearch()
  private var pending: [UInt8] = []
  private var start = 0
  /// The offset in `pending` up to which no line feed was found, where the next search continues.
  private var searched = 0
  private var position = JSONPosition.Origin()
  private var isFinished = false
  private var isSkipping = false
  /// The range in `pending` of the line that was returned or refused last; `nil` before the first.
  private var last: (range: Range<Int>, origin: JSONPosition.Origin)?
  /// Whether the text of ``last`` extends to the end of `pending`, so that more of its bytes may
  /// follow.
  private var isLastOpen = false

  package init(limits: JSONLimits = .standard, cut: Cut = .lines) {
    self.limits = limits
    self.cut = cut
  }

  /// Appends the next bytes of the file.
  ///
  /// Afterwards call `next` until it returns `nil`.
  package mutating func append(_ bytes: some Collection<UInt8>) {
    last = nil
    if start > 0 {
      pending.removeSubrange(0..<start)
      searched -= start
      start = 0
    }
    pending.append(contentsOf: bytes)
  }

  /// Marks the end of the file, so that a last line without a line end is read.
  package mutating func finish() { isFinished = true }

  /// The next value; `nil` if more bytes are needed or, after `finish`, at the end.
  ///
  /// - Throws: `JSONError` with line and offset in the file.
  package mutating func next() throws(JSONError) -> JSONLine? {
    guard let (line, origin) = try nextLine() else { return nil }
    let limits = limits
    let document = try pending._withBytes { bytes throws(JSONError) in
      try JSONDocument(parsing: bytes[line], limits: limits, origin: origin)
    }
    return JSONLine(root: document.root, line: origin.line, offset: origin.offset)
  }

  /// The bytes of the next line without surrounding white space, not parsed.
  ///
  /// See ``next()``.
  package mutating func nextText() throws(JSONError) -> ArraySlice<UInt8>? {
    guard var (line, origin) = try nextLine() else { return nil }
    while let last = line.last, Self.isSpace(pending[last]) { line.removeLast() }
    while let first = line.first, Self.isSpace(pending[first]) { line.removeFirst() }
    origin.offset += line.lowerBound - (last?.range.lowerBound ?? line.lowerBound)
    last = (line, origin)
    return pending[line]
  }

  /// The line that ``next()`` returned or refused last; `nil` after ``append(_:)``.
  ///
  /// For a line that is too long, the result contains only the bytes read so far.
  package var lastLine: (text: ArraySlice<UInt8>, line: Int, offset: Int)? {
    guard let (line, origin) = last else { return nil }
    var range = line
    while let end = range.last, Self.isSpace(pending[end]) { range.removeLast() }
    return (pending[range], origin.line, origin.offset)
  }

  /// Whether the text that ``next()`` returned or refused last extends to the end of the bytes, so
  /// that bytes may be missing.
  package var isAtEnd: Bool { isFinished && last != nil && isLastOpen }

  /// Whether the text that ``next()`` refused last is incomplete because the bytes ended.
  package var endsCut: Bool {
    isAtEnd && lastLine.map { JSONCutText(Array($0.text)) != nil } ?? false
  }

  private mutating func nextLine() throws(JSONError) -> (
    line: Range<Int>, origin: JSONPosition.Origin
  )? {
    if cut == .values { return try nextValue() }
    while let end = lineEnd() {
      let line = start..<end
      let origin = position
      let wasSkipping = isSkipping
      isSkipping = false
      start = min(end + 1, pending.count)
      searched = start
      position.offset += start - line.lowerBound
      position.line += 1
      if !wasSkipping, !isBlank(line) {
        last = (line, origin)
        isLastOpen = end == pending.count
        return (line, origin)
      }
    }
    try refuseLongLine()
    return nil
  }

  private mutating func nextValue() throws(JSONError) -> (
    line: Range<Int>, origin: JSONPosition.Origin
  )? {
    while let end = valueEnd() {
      let value = start..<end
      let origin = position
      let wasSkipping = isSkipping
      isSkipping = false
      start = end
      searched = end
      position.offset += value.count
      position.line += pending[value].count { $0 == 0x0A }
      if wasSkipping { continue }
      guard let first = value.first(where: { !Self.isSpace(pending[$0]) && pending[$0] != 0x0A })
      else { continue }
      let lead = value.lowerBound..<first
      let behindLead = JSONPosition.Origin(
        offset: origin.offset + lead.count, line: origin.line + pending[lead].count { $0 == 0x0A })
      last = (first..<end, behindLead)
      isLastOpen = end == pending.count
      return (first..<end, behindLead)
    }
    try refuseLongLine()
    return nil
  }

  private mutating func valueEnd() -> Int? {
    let found = pending[searched...]._withBytes { search.end(in: $0) }
    if let found { return searched + found }
    searched = pending.count
    guard isFinished, start < pending.count else { return nil }
    search = JSONEndSearch()
    return pending.count
  }

  private mutating func lineEnd() -> Int? {
    let from = searched
    let found = pending._withBytes { bytes in
      bytes[min(from, bytes.count)...].firstIndex(of: 0x0A).map { from + $0 }
    }
    if let found { return found }
    searched = pending.count
    return isFinished && start < pending.count ? pending.count : nil
  }

  private func isBlank(_ line: Range<Int>) -> Bool { line.allSatisfy { Self.isSpace(pending[$0]) } }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0D
  }

  /// Refuses a line beyond the limit.
  ///
  /// Otherwise a file without line feeds would be held in memory as a whole.
  private mutating func refuseLongLine() throws(JSONError) {
    guard pending.count - start > limits.bytes else { return }
    let origin = position
    position.offset += pending.count - start
    if cut == .values { position.line += pending[start...].count { $0 == 0x0A } }
    last = (start..<pending.count, origin)
    start = pending.count
    defer { isSkipping = true }
    if isSkipping { return }
    throw JSONError(
      reason: .tooLong(limit: limits.bytes),
      position: JSONPosition(in: ByteView(), at: 0, origin: origin), expected: "a shorter line")
  }
}
