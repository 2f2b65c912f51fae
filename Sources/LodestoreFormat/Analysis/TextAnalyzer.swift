import LodestoreBytes

/// The state of an analysis: where it is in the text, the open word or run, and the finished terms.
///
/// One analyzer can take one text after the other, and then allocates no memory for each. The bytes
/// of terms and of the open word are in ``memory``, one after the other.
package struct TextAnalyzer: ~Copyable {
  /// A term that has been finished.
  struct Term {
    var bytes: Range<Int>
    var role: TermRole
    /// The number of the word or run, from 0.
    var word: Int
    var position: Int
    var range: Range<Int>
    /// The position has the same term already.
    var isRepeated = false
  }

  /// Parts of a word that stand side by side, and terms of words of several parts.
  enum TermRole {
    /// The only part of a word, or one of several.
    case part
    /// The whole of a word of several parts.
    case whole
    /// Some parts of a word, or a piece of a part.
    case inner
    /// A single character of a script without spaces.
    case single
    /// Two neighbouring characters of a script without spaces.
    case pair
  }

  /// A stretch of the folded text with its place in the source.
  struct Stretch {
    var bytes: Range<Int>
    var source: Range<Int>

    mutating func move(by distance: Int) {
      bytes = bytes.lowerBound &+ distance..<bytes.upperBound &+ distance
    }
  }

  /// The gap between a part and the one before it, from the smallest level of groups on.
  enum Gap: UInt8 {
    /// A change of case, or a sign between two digits.
    case inner = 1
    /// A change between letters and digits, or a sign between letters.
    case sign = 2
    case hyphen = 3
  }

  struct Part {
    var stretch: Stretch
    var gap: Gap
    var isDigits: Bool
    /// The first piece of the part in ``pieces``.
    var firstPiece: Int
  }

  enum Open { case nothing, word, run, emoji }

  /// The scalars that have come since the last one of the open word or run.
  enum Pending { case nothing, apostrophe, sign, hyphen, middleDot }

  /// The size of ``memory``: finished terms, the longest word, and copies of its cut terms.
  private static let memorySize = 1 << 16
  /// Terms are given out when they fill this much of the memory.
  private static let batchSize = 1 << 13

  private let owned = OwnedBytes(byteCount: Self.memorySize, alignment: 8)
  let memory: MutableByteView
  let tables = AnalysisTables.shared
  /// The text, which is valid during a call only.
  var text = ByteView()
  var offset = 0
  /// The end of the segment that is being read; not beyond ``offset`` between two segments.
  var segmentEnd = 0
  var position = 0
  /// The number of words and runs before the open one.
  var word = 0
  /// The number of bytes in use.
  var used = 0
  var terms: [Term] = []

  var open = Open.nothing
  var pending = Pending.nothing
  /// Whether a full stop is among the signs since the last digit.
  var hasFullStop = false
  /// The end in the source of the last scalar, or of the hyphen or middle dot after it.
  var sourceEnd = 0
  /// The piece, character or emoji that is being read.
  var current = Stretch(bytes: 0..<0, source: 0..<0)
  /// The number of scalars in ``current``, and of a word in the other pieces of its last part.
  var scalarCount = 0
  var mustCompose = false
  /// The character of a run before ``current``.
  var earlier: Stretch?

  var parts: [Part] = []
  var pieces: [Stretch] = []
  var wordScalarCount = 0
  var lastCase = LetterCase.none
  /// The number of capitals without another letter between them, and the place of the last one.
  var capitalCount = 0
  var lastCapital = (byte: 0, source: 0, sourceBefore: 0, count: 0)

  package init() {
    memory = owned.view
    terms.reserveCapacity(64)
  }

  mutating func begin(_ text: ByteView) {
    self.text = text
    offset = 0
    segmentEnd = 0
    position = 0
    word = 0
    used = 0
    open = .nothing
    pending = .nothing
    earlier = nil
    terms.removeAll(keepingCapacity: true)
  }

  /// Finds further terms and returns whether there are any.
  mutating func advance() -> Bool {
    forgetTerms()
    while offset < text.count, used < Self.batchSize {
      if offset < segmentEnd {
        takeScalar()
      } else if open != .nothing || !takeASCII() {
        beginSegment()
      }
    }
    if offset == text.count { close() }
    return !terms.isEmpty
  }

  /// Removes the finished terms, and moves the open word or run to the beginning of the memory.
  private mutating func forgetTerms() {
    terms.removeAll(keepingCapacity: true)
    let start: Int
    switch open {
    case .nothing:
      used = 0
      return
    case .word: start = parts[0].stretch.bytes.lowerBound
    case .run: start = (earlier ?? current).bytes.lowerBound
    case .emoji: start = current.bytes.lowerBound
    }
    memory.copyMemory(from: ByteView(memory).part(from: start, count: used &- start))
    used &-= start
    current.move(by: -start)
    earlier?.move(by: -start)
    lastCapital.byte &-= start
    for index in parts.indices { parts[index].stretch.move(by: -start) }
    for index in pieces.indices { pieces[index].move(by: -start) }
  }

  /// Closes the open word or run.
  mutating func close() {
    switch open {
    case .nothing: return
    case .word: closeWord()
    case .run: closeRun()
    case .emoji: closeEmoji()
    }
    open = .nothing
    pending = .nothing
    word &+= 1
  }

  /// Adds a term, which is cut where it is too long.
  @inline(__always)
  mutating func add(
    _ bytes: Range<Int>, _ role: TermRole, at position: Int, _ range: Range<Int>
  ) {
    if bytes.count > TextAnalysis.termLimit {
      addCut(cut(bytes), role, at: position, range)
    } else {
      let isRepeated = role == .inner && isRepeated(bytes, at: position)
      terms.append(
        Term(
          bytes: bytes, role: role, word: word, position: position, range: range,
          isRepeated: isRepeated))
    }
  }

  private mutating func addCut(
    _ bytes: Range<Int>, _ role: TermRole, at position: Int, _ range: Range<Int>
  ) {
    let isRepeated = isRepeated(bytes, at: position)
    terms.append(
      Term(
        bytes: bytes, role: role, word: word, position: position, range: range,
        isRepeated: isRepeated))
  }

  /// Whether the position has the same term already: the same piece twice, or cut terms.
  private func isRepeated(_ bytes: Range<Int>, at position: Int) -> Bool {
    let view = ByteView(memory)
    let term = view.part(from: bytes.lowerBound, count: bytes.count)
    return terms.reversed().prefix { $0.position == position }.contains { other in
      view.part(from: other.bytes.lowerBound, count: other.bytes.count).elementsEqual(term)
    }
  }

  private mutating func cut(_ bytes: Range<Int>) -> Range<Int> {
    var end = bytes.lowerBound &+ TextAnalysis.termLimit &- TextAnalysis.cutMark.count
    while memory[end] & 0xc0 == 0x80 { end &-= 1 }
    let start = used
    for offset in bytes.lowerBound..<end { append(memory[offset]) }
    for byte in TextAnalysis.cutMark { append(byte) }
    return start..<used
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    memory[used] = byte
    used &+= 1
  }

  /// Brings the last bytes in use into NFC and returns their new end.
  mutating func compose(_ bytes: Range<Int>) -> Int {
    var normal: [UInt8] = []
    Normalization.appendNFC(
      of: ByteView(memory).part(from: bytes.lowerBound, count: bytes.count), to: &normal)
    let tail = ByteView(memory).part(
      from: bytes.upperBound, count: used &- bytes.upperBound)
    let end = bytes.lowerBound &+ normal.count
    memory.part(from: end, count: tail.count).copyMemory(from: tail)
    normal._withBytes {
      memory.part(from: bytes.lowerBound, count: normal.count).copyMemory(from: $0)
    }
    used = end &+ tail.count
    return end
  }
}
