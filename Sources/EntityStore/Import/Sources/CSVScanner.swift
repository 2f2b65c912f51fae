/// Finds the rows of separated values in a stream of bytes, and the fields of the row it is at.
///
/// Each byte is scanned once, however the text is cut into chunks. Memory: one row, and what was appended
/// at once.
struct CSVScanner: Sendable {
  /// Bytes of a field from the start of its row, without the quotes around it.
  struct Field: Sendable {
    var start: Int
    var end = 0
    var isQuoted = false
    var hasDoubledQuotes = false

    /// Its first byte, the quote if it has one.
    var first: Int { start - (isQuoted ? 1 : 0) }
    /// Behind its last byte, the quote if it has one.
    var behind: Int { end + (isQuoted ? 1 : 0) }
  }

  private enum State {
    case begin, plain, quoted, closed, carriageReturn
  }

  private static let quote: UInt8 = 0x22
  private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private let delimiter: UInt8
  private let limits: CSVLimits
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
  private var isComplete = false
  private var failure: CSVError?
  private(set) var isFinished = false
  /// The fields of the row.
  private(set) var fields: [Field] = []
  /// Where the row begins.
  private(set) var origin = JSONPosition.Origin()

  init(_ options: CSVOptions) {
    delimiter = options.delimiter.byte
    limits = options.limits
  }

  /// The position of a byte of the row, for errors; the row is kept until the next call of `append`.
  func position(_ offset: Int) -> JSONPosition {
    pending.withUnsafeBufferPointer {
      JSONPosition(in: UnsafeBufferPointer(rebasing: $0[start...]), at: offset, origin: origin)
    }
  }

  /// Bytes of a field, doubled quotes made one.
  func append(_ field: Field, to bytes: inout [UInt8]) {
    let source = pending[(start + field.start)..<(start + field.end)]
    guard field.hasDoubledQuotes else { return bytes.append(contentsOf: source) }
    var isSecond = false
    for byte in source {
      isSecond = byte == Self.quote && !isSecond
      if byte != Self.quote || isSecond { bytes.append(byte) }
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

  mutating func finish() { isFinished = true }

  /// Goes to the next row; false when more bytes are needed or, after `finish`, at the end.
  mutating func scan() throws(CSVError) -> Bool {
    if let failure { throw failure }
    if isComplete { startRow() }
    guard skipMark() else { return false }
    while at < pending.count {
      let byte = pending[at]
      at += 1
      highBits |= byte
      if try step(byte) { return try complete() }
    }
    guard isFinished else {
      try checkSizes(fieldEnd: openEnd)
      return false
    }
    return try end()
  }

  /// Takes one byte; true when it ends the row.
  private mutating func step(_ byte: UInt8) throws(CSVError) -> Bool {
    switch state {
    case .begin where byte == Self.quote:
      field = Field(start: at - start, isQuoted: true)
      state = .quoted
    case .begin:
      field = Field(start: at - 1 - start)
      state = .plain
      return try between(byte, otherwise: nil)
    case .plain:
      return try between(byte, otherwise: byte == Self.quote ? .quoteInField : nil)
    case .quoted:
      if byte == Self.quote { state = .closed }
      if byte == 0x0A { lineFeeds += 1 }
    case .closed where byte == Self.quote:
      field.hasDoubledQuotes = true
      state = .quoted
    case .closed:
      return try between(byte, otherwise: .textAfterQuote)
    case .carriageReturn:
      guard byte == 0x0A else { throw fail(.loneCarriageReturn, at - 2 - start) }
      return true
    }
    return false
  }

  /// Where a field may end.
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
      // What is too long is that wherever the text is cut into chunks.
      try checkSizes(fieldEnd: openEnd - 1)
      throw fail(reason, at - 1 - start)
    }
    return false
  }

  private mutating func endField(_ end: Int) throws(CSVError) {
    field.end = end - start - (field.isQuoted ? 1 : 0)
    try checkSizes(fieldEnd: field.end)
    if fields.count >= limits.columns {
      throw fail(.tooManyFields(limit: limits.columns), field.start)
    }
    fields.append(field)
    state = .begin
  }

  private mutating func end() throws(CSVError) -> Bool {
    switch state {
    case .begin:
      // Behind a line end there is no row; behind a delimiter there is an empty field.
      if fields.isEmpty { return false }
      field = Field(start: at - start)
      try endField(at)
    case .plain, .closed: try endField(at)
    case .quoted:
      try checkSizes(fieldEnd: openEnd)
      throw fail(.unclosedQuote, field.start - 1)
    case .carriageReturn: throw fail(.loneCarriageReturn, at - 1 - start)
    }
    return try complete()
  }

  private mutating func complete() throws(CSVError) -> Bool {
    isComplete = true
    if at - start > limits.row { throw fail(.rowTooLong(limit: limits.row), 0) }
    guard highBits >= 0x80 else { return true }
    let row = start..<at
    let invalid = pending.withUnsafeBufferPointer {
      UTF8Check.firstInvalid(UnsafeBufferPointer(rebasing: $0[row]))
    }
    if let invalid { throw CSVError(reason: .invalidUTF8, position: position(invalid)) }
    return true
  }

  private mutating func startRow() {
    origin.offset += at - start
    origin.line += lineFeeds + 1
    start = at
    state = .begin
    lineFeeds = 0
    highBits = 0
    isComplete = false
    fields.removeAll(keepingCapacity: true)
  }
}

// MARK: - Checks

extension CSVScanner {
  /// The end of what there is of the field, without the quote that may close it.
  private var openEnd: Int { at - start - (state == .closed ? 1 : 0) }

  /// Refuses what is too long: an unclosed quote would otherwise keep the rest of the file in memory.
  ///
  /// Where both the field and the row are, the error is of the limit that comes first in the text.
  private mutating func checkSizes(fieldEnd: Int) throws(CSVError) {
    let fieldLimit = field.start + limits.field
    let isRowTooLong = at - start > limits.row
    if state != .begin, state != .carriageReturn, fieldEnd > fieldLimit,
      !isRowTooLong || fieldLimit <= limits.row
    {
      throw fail(.fieldTooLong(limit: limits.field), field.start)
    }
    if isRowTooLong { throw fail(.rowTooLong(limit: limits.row), 0) }
  }

  /// Makes an error after which the reader stops, because the next row cannot be found.
  private mutating func fail(_ reason: CSVError.Reason, _ offset: Int) -> CSVError {
    let error = CSVError(reason: reason, position: position(offset))
    failure = error
    pending = []
    start = 0
    at = 0
    return error
  }

  /// Leaves out a byte order mark at the start; false when it takes more bytes to tell.
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
