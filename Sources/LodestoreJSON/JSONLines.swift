#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// One value of a JSON Lines file.
package struct JSONLine: Sendable {
  package let root: JSONNode
  /// The line, from 1, blank lines counted.
  package let line: Int
  /// First byte of the line, from the start of the file.
  package let offset: Int
}

/// Cuts a stream of bytes into lines and reads each as one JSON text.
///
/// Lines end with LF or CR LF; the last may lack its end. Blank lines are skipped. An error concerns
/// its line only: the next call goes on with the line after it. Memory: the line that is being
/// read, or what was appended at once.
package struct JSONLinesReader: Sendable {
  private let limits: JSONLimits
  private var pending: [UInt8] = []
  private var start = 0
  /// The offset up to which there is no line feed.
  private var searched = 0
  private var position = JSONPosition.Origin()
  private var isFinished = false
  private var isSkipping = false

  package init(limits: JSONLimits = .standard) {
    self.limits = limits
  }

  /// Takes the next bytes of the file; then call `next` until it gives nil.
  package mutating func append(_ bytes: some Collection<UInt8>) {
    if start > 0 {
      pending.removeSubrange(0..<start)
      searched -= start
      start = 0
    }
    pending.append(contentsOf: bytes)
  }

  /// Tells that no bytes follow, so that a last line without its end is read.
  package mutating func finish() { isFinished = true }

  /// The next value, or nil when more bytes are needed or, after `finish`, at the end.
  ///
  /// - Throws: `JSONError` with line and offset in the file.
  package mutating func next() throws(JSONError) -> JSONLine? {
    guard let (line, origin) = try nextLine() else { return nil }
    let limits = limits
    let document = try pending.withUnsafeBufferPointer { bytes throws(JSONError) in
      let bytes = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[line]))
      return try JSONDocument(parsing: bytes, limits: limits, origin: origin)
    }
    return JSONLine(root: document.root, line: origin.line, offset: origin.offset)
  }

  /// The bytes of the next line without the space around them, not parsed; otherwise as ``next()``.
  package mutating func nextText() throws(JSONError) -> ArraySlice<UInt8>? {
    guard var (line, _) = try nextLine() else { return nil }
    while let last = line.last, Self.isSpace(pending[last]) { line.removeLast() }
    while let first = line.first, Self.isSpace(pending[first]) { line.removeFirst() }
    return pending[line]
  }

  private mutating func nextLine() throws(JSONError) -> (
    line: Range<Int>, origin: JSONPosition.Origin
  )? {
    while let end = lineEnd() {
      let line = start..<end
      let origin = position
      let wasSkipping = isSkipping
      isSkipping = false
      start = min(end + 1, pending.count)
      searched = start
      position.offset += start - line.lowerBound
      position.line += 1
      if !wasSkipping, !isBlank(line) { return (line, origin) }
    }
    try refuseLongLine()
    return nil
  }

  private mutating func lineEnd() -> Int? {
    let from = searched
    let found = pending.withUnsafeBytes { bytes -> Int? in
      guard from < bytes.count, let base = bytes.baseAddress,
        let hit = memchr(base + from, 0x0A, bytes.count - from)
      else { return nil }
      return UnsafeRawPointer(hit) - base
    }
    if let found { return found }
    searched = pending.count
    return isFinished && start < pending.count ? pending.count : nil
  }

  private func isBlank(_ line: Range<Int>) -> Bool {
    line.allSatisfy { Self.isSpace(pending[$0]) }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0D
  }

  /// Without this limit, a file without line feeds would be kept in memory as a whole.
  private mutating func refuseLongLine() throws(JSONError) {
    guard pending.count - start > limits.bytes else { return }
    let origin = position
    position.offset += pending.count - start
    start = pending.count
    defer { isSkipping = true }
    if isSkipping { return }
    throw JSONError(
      reason: .tooLong(limit: limits.bytes),
      position: JSONPosition(
        in: UnsafeBufferPointer(start: nil, count: 0), at: 0, origin: origin),
      expected: "a shorter line")
  }
}
