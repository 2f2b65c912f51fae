import LodestoreBytes

extension TextAnalyzer {
  /// A folded scalar with the range of its source.
  struct Element {
    var scalar: UInt32
    var letterCase: LetterCase
    var composes: Bool
    var source: Range<Int>
    /// Whether nothing stands between this scalar and the one before it.
    var isAdjacent: Bool
  }

  /// Finds the end of the segment at the offset, and closes the open word unless a hyphen joins
  /// the two.
  mutating func beginSegment() {
    segmentEnd = WordBreaks(text: text, tables: tables).segmentEnd(from: offset)
    guard open == .word || open == .emoji else { return }
    if open == .word, pending == .hyphen { return }
    if open == .word, pending == .nothing, sourceEnd == offset, isHyphen() {
      pending = .hyphen
      sourceEnd = segmentEnd
      offset = segmentEnd
    } else {
      close()
    }
  }

  /// Whether the segment is a hyphen and nothing else.
  private func isHyphen() -> Bool {
    let (scalar, length) = UTF8Scalar.decode(text, at: offset)
    guard length == segmentEnd &- offset else { return false }
    return scalar == 0x2d || scalar == 0x2010 || scalar == 0x2011
  }

  /// Takes the next scalar of the segment.
  mutating func takeScalar() {
    let (scalar, length) = UTF8Scalar.decode(text, at: offset)
    let facts = tables.facts(scalar)
    let source = offset..<offset &+ length
    offset &+= length
    let isAdjacent = source.lowerBound == sourceEnd
    guard facts.has(ScalarFacts.isExpanded) else {
      let folded = facts.has(ScalarFacts.isReplaced) ? facts.payload : scalar
      take(
        Element(
          scalar: folded, letterCase: facts.letterCase, composes: facts.has(ScalarFacts.composes),
          source: source, isAdjacent: isAdjacent), facts.role)
      return
    }
    for index in 0..<tables.expansionCount(of: facts) {
      let (folded, facts) = tables.expansion(of: facts, at: index)
      take(
        Element(
          scalar: folded, letterCase: facts.letterCase, composes: facts.has(ScalarFacts.composes),
          source: source, isAdjacent: isAdjacent || index > 0), facts.role)
    }
  }

  private mutating func take(_ element: Element, _ role: WordRole) {
    switch role {
    case .letter: takeWordScalar(element, isDigit: false)
    case .digit: takeWordScalar(element, isDigit: true)
    case .gram: takeGram(element)
    case .emoji: takeEmoji(element)
    case .mark: takeMark(element)
    case .ignored:
      if isContinued(by: element) { extend(over: element) }
    case .apostrophe: takeSign(element, isApostrophe: true)
    case .separator: takeSign(element, isApostrophe: false)
    }
  }

  /// Whether nothing stands between the open word or run and `element`.
  @inline(__always)
  func isContinued(by element: Element) -> Bool {
    open != .nothing && pending == .nothing && element.isAdjacent
  }

  private mutating func extend(over element: Element) {
    sourceEnd = element.source.upperBound
    current.source = current.source.lowerBound..<sourceEnd
  }

  private mutating func takeMark(_ element: Element) {
    guard isContinued(by: element) else { return }
    if open == .emoji || scalarCount >= TextAnalysis.partLimit {
      extend(over: element)
    } else {
      append(element)
    }
  }

  /// Appends `element` to the current piece, character or emoji.
  @inline(__always)
  mutating func append(_ element: Element) {
    let scalar = element.scalar
    if scalar < 0x80 {
      append(UInt8(truncatingIfNeeded: scalar))
    } else {
      appendLong(scalar)
    }
    scalarCount &+= 1
    if element.composes { mustCompose = true }
    sourceEnd = element.source.upperBound
    current.bytes = current.bytes.lowerBound..<used
    current.source = current.source.lowerBound..<sourceEnd
  }

  private mutating func appendLong(_ scalar: UInt32) {
    func continuation(_ bits: UInt32) -> UInt8 {
      UInt8(truncatingIfNeeded: 0x80 | bits & 0x3f)
    }
    if scalar < 0x800 {
      append(UInt8(truncatingIfNeeded: 0xc0 | scalar >> 6))
    } else {
      if scalar < 0x10000 {
        append(UInt8(truncatingIfNeeded: 0xe0 | scalar >> 12))
      } else {
        append(UInt8(truncatingIfNeeded: 0xf0 | scalar >> 18))
        append(continuation(scalar >> 12))
      }
      append(continuation(scalar >> 6))
    }
    append(continuation(scalar))
  }

  /// Begins a piece, a character or an emoji with `element`.
  mutating func beginStretch(with element: Element) {
    current = Stretch(bytes: used..<used, source: element.source)
    mustCompose = false
    append(element)
  }

  /// Ends the current stretch and brings it into NFC.
  mutating func endStretch() {
    guard mustCompose else { return }
    current.bytes = current.bytes.lowerBound..<compose(current.bytes)
    mustCompose = false
  }

  private mutating func takeSign(_ element: Element, isApostrophe: Bool) {
    switch open {
    case .nothing: return
    case .emoji: close()
    case .run:
      // U+30FB stands between words of one name in Japanese.
      if element.scalar == 0x30fb, isContinued(by: element) {
        pending = .middleDot
        sourceEnd = element.source.upperBound
      } else {
        close()
      }
    case .word:
      switch pending {
      case .nothing:
        pending = isApostrophe ? .apostrophe : .sign
        hasFullStop = element.scalar == 0x2e
      case .apostrophe, .sign:
        if !isApostrophe { pending = .sign }
        hasFullStop = hasFullStop || element.scalar == 0x2e
      case .hyphen, .middleDot: close()
      }
    }
  }
}
