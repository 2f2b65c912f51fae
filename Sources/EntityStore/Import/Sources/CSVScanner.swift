internal import LodestoreBytes

/// Finds the rows of separated values in a stream of bytes, and the fields of the current row.
///
/// A fault does not end the row: the scanner records the first fault, continues to the row's end,
/// and throws it there. Each byte is scanned once, however the text is divided into chunks, and a
/// second time after a quote that is never closed. The scanner keeps one row and the appended bytes
/// in memory.
struct CSVScanner: Sendable {
  /// The range of a field's bytes in its row, without quotes.
  struct Field: Sendable {
    var start: Int
    var end = 0
    var isQuoted = false
    var hasDoubledQuotes = false
    var hasEscapes = false

    /// The offset of the first byte, which is the quote of a quoted field.
    var first: Int { start - (isQuoted ? 1 : 0) }
    /// The offset after the last byte, which is the quote of a quoted field.
    var behind: Int { end + (isQuoted ? 1 : 0) }
  }

  private enum State {
    case begin, plain, quoted, closed, carriageReturn, escapedPlain, escapedQuoted
    /// The scanner is inside a skipped line.
    case skipped
  }

  /// The maximum number of bytes kept of a row that could not be read.
  static let keptBytes = 4096
  private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private let delimiter: UInt8
  private let quote: UInt8?
  private let escape: UInt8?
  private let comment: UInt8?
  private let nullValues: Set<[UInt8]>
  private let limits: CSVLimits
  /// The number of fields of a row, if known.
  var width: Int?
  private var pending: [UInt8] = []
  /// The offset of the row's first byte.
  private var start = 0
  /// The offset of the next byte to scan.
  private var at = 0
  private var state = State.begin
  private var field = Field(start: 0)
  private var lineFeeds = 0
  private var highBits: UInt8 = 0
  private var isPastMark = false
  private var linesToSkip: Int
  private var isComplete = false
  /// The first fault in the row.
  private var fault: CSVError?
  /// The error that ended the reading.
  private var failure: CSVError?
  /// The number of bytes dropped from the row because it is too long.
  private var droppedBytes = 0
  private var isDropping = false
  private var head: [UInt8] = []
  private(set) var isFinished = false
  /// Whether the text is truncated.
  private var isCut = false
  /// The fields of the row.
  private(set) var fields: [Field] = []
  /// The position at which the row begins.
  private(set) var origin = JSONPosition.Origin()
  /// The number of rows with a quoted field over several lines, and the line of the first.
  private(set) var longRows: (count: Int, line: Int) = (0, 0)

  init(_ options: CSVOptions) {
    delimiter = options.delimiter.byte
    quote = options.quote?.byte
    // A quote always escapes itself, so it needs no separate escape character.
    escape = options.escape == options.quote ? nil : options.escape?.byte
    comment = options.comment?.byte
    var nullValues = Set(options.nullValues.map { Array($0.utf8) })
    if options.escape == .backslash { nullValues.insert(Array("\\N".utf8)) }
    self.nullValues = nullValues
    limits = options.limits
    linesToSkip = max(options.skippedLines, 0)
    let characters = [delimiter, quote, escape, comment].compactMap { $0 }
    for (number, byte) in characters.enumerated() where characters[..<number].contains(byte) {
      let character = Character(UnicodeScalar(byte))
      failure = CSVError(reason: .twoMeanings(character), position: position(0))
    }
  }

  /// Whether all of the text has been read.
  var isAtEnd: Bool { isFinished && at == pending.count }

  /// Whether the last byte read ends a line.
  var endsWithLineEnd: Bool { at > 0 && pending[at - 1] == 0x0A }

  /// Whether an error has ended the reading.
  var hasFailed: Bool { failure != nil }

  /// The position of a byte of the row, for errors; valid until the next call of `append`.
  func position(_ offset: Int) -> JSONPosition {
    pending._withBytes { JSONPosition(in: $0[start...], at: offset, origin: origin) }
  }

  /// Appends the bytes of a field, with doubled quotes and escapes resolved.
  func append(_ field: Field, to bytes: inout [UInt8]) {
    let source = source(of: field)
    guard field.hasDoubledQuotes || field.hasEscapes else {
      return bytes.append(contentsOf: source)
    }
    var isSecond = false
    var isEscaped = false
    for byte in source {
      if isEscaped {
        bytes.append(escape == 0x5C ? Self.control(byte) : byte)
        isEscaped = false
      } else if field.hasEscapes, byte == escape {
        isEscaped = true
      } else {
        isSecond = field.isQuoted && byte == quote && !isSecond
        if !field.isQuoted || byte != quote || isSecond { bytes.append(byte) }
      }
    }
    if isEscaped, let escape { bytes.append(escape) }
  }

  /// Returns whether a field is null: empty, or a text that stands for null, and not quoted.
  func isNull(_ field: Field) -> Bool {
    if field.isQuoted { return false }
    if field.start == field.end { return true }
    return !nullValues.isEmpty && nullValues.contains(Array(source(of: field)))
  }

  private func source(of field: Field) -> ArraySlice<UInt8> {
    pending[(start + field.start)..<(start + field.end)]
  }

  /// The control character that a letter after a backslash denotes.
  private static func control(_ letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "v"): 0x0B
    case UInt8(ascii: "0"): 0
    default: letter
    }
  }

  mutating func append(_ bytes: some Collection<UInt8>) {
    guard failure == nil else { return }
    let done = isComplete ? at : start
    if isComplete { startRow() }
    pending.removeSubrange(0..<done)
    start = 0
    at -= done
    pending.append(contentsOf: bytes)
  }

  mutating func finish(isCut: Bool) {
    isFinished = true
    self.isCut = isCut
  }

  /// Moves to the next row; returns false when more bytes are needed, and at the end after
  /// `finish`.
  ///
  /// An error concerns one row, and the next call continues after it, unless ``hasFailed``.
  mutating func scan() throws(CSVError) -> Bool {
    if let failure { throw failure }
    if isComplete { startRow() }
    guard skipMark() else { return false }
    while at < pending.count {
      let byte = pending[at]
      at += 1
      highBits |= byte
      guard try step(byte) else { continue }
      if state == .skipped {
        startRow()
      } else {
        return try complete()
      }
    }
    guard isFinished else {
      if state == .skipped { isDropping = true }
      try checkSizes(fieldEnd: openEnd)
      if isDropping { drop() }
      return false
    }
    return try end()
  }

  /// Processes one byte; returns true when it ends the row.
  private mutating func step(_ byte: UInt8) throws(CSVError) -> Bool {
    switch state {
    case .begin where isAtRowStart && (linesToSkip > 0 || byte == comment):
      linesToSkip = max(linesToSkip - 1, 0)
      state = .skipped
      return byte == 0x0A
    case .skipped: return byte == 0x0A
    case .begin where byte == quote:
      field = Field(start: at - start, isQuoted: true)
      state = .quoted
    case .begin:
      field = Field(start: at - 1 - start)
      state = .plain
      if byte == escape { return beginEscape(.escapedPlain) }
      return try between(byte, otherwise: nil)
    case .plain:
      if byte == escape { return beginEscape(.escapedPlain) }
      return try between(byte, otherwise: byte == quote ? .quoteInField : nil)
    case .quoted:
      if byte == quote { state = .closed }
      if byte == 0x0A { lineFeeds += 1 }
      if byte == escape { return beginEscape(.escapedQuoted) }
    case .escapedPlain, .escapedQuoted:
      if byte == 0x0A { lineFeeds += 1 }
      state = state == .escapedPlain ? .plain : .quoted
    case .closed where byte == quote:
      field.hasDoubledQuotes = true
      state = .quoted
    case .closed: return try between(byte, otherwise: .textAfterQuote)
    case .carriageReturn:
      if byte == 0x0A { return true }
      note(.loneCarriageReturn, at - 2 - start)
      state = .begin
      return try step(byte)
    }
    return false
  }

  private var isAtRowStart: Bool { at - 1 == start && fields.isEmpty && droppedBytes == 0 }

  private mutating func beginEscape(_ next: State) -> Bool {
    field.hasEscapes = true
    state = next
    return false
  }

  /// Processes a byte at which a field may end.
  private mutating func between(
    _ byte: UInt8, otherwise reason: CSVError.Reason?
  ) throws(CSVError) -> Bool {
    switch byte {
    case delimiter: try endField(at - 1)
    case 0x0A:
      try endField(at - 1)
      return true
    case 0x0D:
      try endField(at - 1)
      state = .carriageReturn
    default:
      guard let reason else { break }
      // The check here makes the limits independent of the division into chunks.
      try checkSizes(fieldEnd: openEnd - 1)
      note(reason, at - 1 - start)
      state = .plain
    }
    return false
  }

  private mutating func endField(_ end: Int) throws(CSVError) {
    field.end = end - start - (field.isQuoted ? 1 : 0)
    try checkSizes(fieldEnd: field.end)
    state = .begin
    guard fault == nil else { return }
    if fields.count >= limits.columns {
      return note(.tooManyFields(limit: limits.columns), field.start)
    }
    fields.append(field)
  }

  private mutating func end() throws(CSVError) -> Bool {
    if isCut, state != .begin || !fields.isEmpty { note(.unexpectedEnd, at - start) }
    switch state {
    case .skipped: return false
    case .begin:
      // At the end of the text, after a line end there is no further row, but after a delimiter
      // there is an empty field.
      if fields.isEmpty, fault == nil { return false }
      if fault == nil {
        field = Field(start: at - start)
        try endField(at)
      }
    case .plain, .closed, .escapedPlain: try endField(at)
    case .quoted, .escapedQuoted:
      try checkSizes(fieldEnd: openEnd)
      note(.unclosedQuote, field.start - 1)
      if !isCut { _ = endAtFirstLine(within: at - start) }
    case .carriageReturn: note(.loneCarriageReturn, at - 1 - start)
    }
    return try complete()
  }

  private mutating func complete() throws(CSVError) -> Bool {
    isComplete = true
    if at - start > limits.row { note(.rowTooLong(limit: limits.row), 0) }
    if let fault { throw fault }
    if lineFeeds > 0, quote != nil, delimiter == 0x09 {
      longRows = (longRows.count + 1, longRows.count == 0 ? origin.line : longRows.line)
    }
    guard highBits >= 0x80 else { return true }
    let row = start..<at
    let invalid = pending._withBytes { UTF8Check.firstInvalid($0[row]) }
    if let invalid { throw CSVError(reason: .invalidUTF8, position: position(invalid)) }
    return true
  }

  private mutating func startRow() {
    origin.offset += droppedBytes + at - start
    origin.line += lineFeeds + 1
    start = at
    state = .begin
    lineFeeds = 0
    highBits = 0
    isComplete = false
    fault = nil
    droppedBytes = 0
    isDropping = false
    head = []
    fields.removeAll(keepingCapacity: true)
  }
}

// MARK: - Faults

extension CSVScanner {
  /// The first bytes of a row that could not be read, without its line end, and its size.
  var faultyRow: (text: [UInt8], count: Int) {
    var row = pending[start..<max(at, start)]
    while row.last == 0x0A || row.last == 0x0D { row.removeLast() }
    let text = Array((head + row.prefix(Self.keptBytes)).prefix(Self.keptBytes))
    return (text, droppedBytes + row.count)
  }

  /// Ends the reading with an error, which each further call throws.
  mutating func stop(_ error: CSVError) { failure = error }

  /// Notes a fault of the row, unless the row already has one.
  private mutating func note(_ reason: CSVError.Reason, _ offset: Int) {
    if fault == nil { fault = CSVError(reason: reason, position: position(offset)) }
  }

  /// The end of the field's bytes read so far, without a closing quote.
  private var openEnd: Int { at - start - (state == .closed ? 1 : 0) }

  /// Enforces the size limits: an unclosed quote would otherwise keep the rest of the file in
  /// memory.
  ///
  /// When both the field and the row are too long, the error names the limit that the text exceeds
  /// first. The rest of the row is dropped up to its line end. Inside quotes there is no line end
  /// to continue at, so the reading fails, unless the lines after the first one are rows
  /// themselves.
  private mutating func checkSizes(fieldEnd: Int) throws(CSVError) {
    guard !isDropping else { return }
    let fieldLimit = field.start + limits.field
    let isRowTooLong = at - start > limits.row
    let isFieldTooLong =
      state != .begin && state != .carriageReturn && fieldEnd > fieldLimit
      && (!isRowTooLong || fieldLimit <= limits.row)
    guard isRowTooLong || isFieldTooLong else { return }
    if isFieldTooLong {
      note(.fieldTooLong(limit: limits.field), field.start)
    } else {
      note(.rowTooLong(limit: limits.row), 0)
    }
    if state == .quoted || state == .escapedQuoted || state == .closed, let fault {
      if endAtFirstLine(within: min(fieldLimit, limits.row)) {
        isComplete = true
      } else {
        failure = fault
      }
    }
    if let failure {
      pending = []
      start = 0
      at = 0
      throw failure
    }
    if isComplete, let fault { throw fault }
    isDropping = true
  }

  /// Drops the bytes of a row that is too long, or of a skipped line.
  private mutating func drop() {
    head += pending[start..<at].prefix(max(0, Self.keptBytes - head.count))
    droppedBytes += at - start
    pending.removeSubrange(..<at)
    start = 0
    at = 0
  }

  /// Ends a row with an unclosed quote after its first line, if the next lines are rows themselves.
  ///
  /// Up to three lines are checked; each must have as many fields as a row.
  ///
  /// - Parameter length: the number of bytes to check, from the row's first byte.
  private mutating func endAtFirstLine(within length: Int) -> Bool {
    let end = min(start + length, pending.count)
    guard droppedBytes == 0, let width, width > 1,
      let lineEnd = pending[start..<end].firstIndex(of: 0x0A), lineEnd + 1 < end
    else { return false }
    var next = lineEnd + 1
    for _ in 0..<3 where next < end {
      let behind = pending[next..<end].firstIndex(of: 0x0A) ?? end
      guard pending[next..<behind].count(where: { $0 == delimiter }) == width - 1 else {
        return false
      }
      next = behind + 1
    }
    at = lineEnd + 1
    lineFeeds = 0
    return true
  }

  /// Skips a byte order mark at the start; returns false when more bytes are needed to detect it.
  private mutating func skipMark() -> Bool {
    if isPastMark { return true }
    let head = pending.prefix(Self.mark.count)
    guard head.elementsEqual(Self.mark.prefix(head.count)) else {
      isPastMark = true
      return true
    }
    guard head.count == Self.mark.count else { return isFinished }
    isPastMark = true
    start = head.count
    at = start
    origin.offset = start
    return true
  }
}
