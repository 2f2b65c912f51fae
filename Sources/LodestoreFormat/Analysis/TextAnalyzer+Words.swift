import LodestoreBytes

/// Words of letters and digits, and their parts.
extension TextAnalyzer {
  mutating func takeWordScalar(_ element: Element, isDigit: Bool) {
    guard open == .word, pending != .nothing || element.isAdjacent else {
      beginWord(with: element, isDigit: isDigit)
      return
    }
    let wasDigit = parts[parts.count &- 1].isDigits
    let isChange = wasDigit != isDigit
    switch pending {
    case .nothing:
      if isChange {
        beginPart(with: element, isDigit: isDigit, .sign)
      } else if element.letterCase == .capital, lastCase == .small {
        beginPart(with: element, isDigit: isDigit, .inner)
      } else if scalarCount >= TextAnalysis.partLimit {
        beginWord(with: element, isDigit: isDigit)
      } else {
        splitBeforeLastCapital(isBefore: element)
        noteCase(of: element)
        append(element)
      }
    case .apostrophe:
      pending = .nothing
      let count = pieces.count &- parts[parts.count &- 1].firstPiece &+ 1
      if isChange || count >= TextAnalysis.pieceLimit || scalarCount >= TextAnalysis.partLimit {
        beginPart(with: element, isDigit: isDigit, .sign)
      } else {
        endPiece()
        beginPiece(with: element)
      }
    case .sign:
      pending = .nothing
      let isInNumber = wasDigit && isDigit
      beginPart(
        with: element, isDigit: isDigit, isInNumber ? .inner : .sign,
        hasFullStop: isInNumber && hasFullStop)
    case .hyphen:
      pending = .nothing
      if element.isAdjacent {
        beginPart(with: element, isDigit: isDigit, .hyphen)
      } else {
        beginWord(with: element, isDigit: isDigit)
      }
    case .middleDot: beginWord(with: element, isDigit: isDigit)
    }
  }

  private mutating func beginWord(with element: Element, isDigit: Bool) {
    close()
    open = .word
    parts.removeAll(keepingCapacity: true)
    pieces.removeAll(keepingCapacity: true)
    wordScalarCount = 0
    addPart(with: element, isDigit: isDigit, .hyphen)
  }

  /// Begins another part of the word; another word if this one is at its limits.
  private mutating func beginPart(
    with element: Element, isDigit: Bool, _ gap: Gap, hasFullStop: Bool = false
  ) {
    endPart()
    if parts.count >= TextAnalysis.wordLimit || wordScalarCount >= TextAnalysis.partLimit {
      beginWord(with: element, isDigit: isDigit)
      return
    }
    if hasFullStop { append(UInt8(ascii: ".")) }
    addPart(with: element, isDigit: isDigit, gap)
  }

  private mutating func addPart(with element: Element, isDigit: Bool, _ gap: Gap) {
    parts.append(
      Part(
        stretch: Stretch(bytes: used..<used, source: element.source), gap: gap,
        isDigits: isDigit, firstPiece: pieces.count))
    scalarCount = 0
    beginPiece(with: element)
  }

  private mutating func beginPiece(with element: Element) {
    lastCase = .none
    capitalCount = 0
    noteCase(of: element)
    beginStretch(with: element)
  }

  private mutating func noteCase(of element: Element) {
    switch element.letterCase {
    case .continued: return
    case .capital:
      capitalCount &+= 1
      // A character such as U+3394, THz, has letters of two parts.
      let start = element.source.lowerBound
      lastCapital = (used, start, max(start, sourceEnd), scalarCount)
    case .none, .small: capitalCount = 0
    }
    lastCase = element.letterCase
  }

  private mutating func endPiece() {
    endStretch()
    pieces.append(current)
  }

  private mutating func endPart() {
    endPiece()
    let index = parts.count &- 1
    let start = parts[index].stretch
    parts[index].stretch = Stretch(
      bytes: start.bytes.lowerBound..<current.bytes.upperBound,
      source: start.source.lowerBound..<current.source.upperBound)
    wordScalarCount &+= scalarCount
  }

  /// Makes the last capital of several the beginning of a part, where a small letter follows.
  private mutating func splitBeforeLastCapital(isBefore element: Element) {
    guard element.letterCase == .small, lastCase == .capital, capitalCount > 1 else { return }
    let source = current.source
    let count = scalarCount
    let isComposed = mustCompose
    current.bytes = current.bytes.lowerBound..<lastCapital.byte
    current.source = source.lowerBound..<lastCapital.sourceBefore
    scalarCount = lastCapital.count
    endPart()
    current = Stretch(
      bytes: current.bytes.upperBound..<used,
      source: lastCapital.source..<source.upperBound)
    parts.append(
      Part(stretch: current, gap: .inner, isDigits: false, firstPiece: pieces.count))
    scalarCount = count &- lastCapital.count
    mustCompose = isComposed
    capitalCount = 0
  }
}

extension TextAnalyzer {
  /// Adds the terms of the open word.
  mutating func closeWord() {
    endPart()
    if parts.count == 1, pieces.count == 1 {
      add(current.bytes, .part, at: position, current.source)
      position &+= 1
      return
    }
    var levels: UInt8 = 0
    for part in parts.dropFirst() { levels |= 1 << part.gap.rawValue }
    for index in parts.indices {
      for gap in [Gap.hyphen, .sign, .inner] where levels & 1 << gap.rawValue != 0 {
        addGroup(at: index, within: gap)
      }
      let part = parts[index].stretch
      add(part.bytes, .part, at: position, part.source)
      addPieces(ofPart: index)
      position &+= 1
    }
  }

  /// Adds the parts around `index` that `gap` and smaller gaps separate, if the part is the first
  /// or the last of them.
  private mutating func addGroup(at index: Int, within gap: Gap) {
    var first = index
    while first > 0, parts[first].gap.rawValue <= gap.rawValue { first &-= 1 }
    var last = index
    while last &+ 1 < parts.count, parts[last &+ 1].gap.rawValue <= gap.rawValue { last &+= 1 }
    guard first < last, index == first || index == last,
      parts[(first &+ 1)...last].contains(where: { $0.gap == gap })
    else { return }
    let (start, end) = (parts[first].stretch, parts[last].stretch)
    add(
      start.bytes.lowerBound..<end.bytes.upperBound,
      first == 0 && last == parts.count &- 1 ? .whole : .inner, at: position,
      start.source.lowerBound..<end.source.upperBound)
  }

  private mutating func addPieces(ofPart index: Int) {
    let end = index &+ 1 < parts.count ? parts[index &+ 1].firstPiece : pieces.count
    guard end &- parts[index].firstPiece > 1 else { return }
    for piece in pieces[parts[index].firstPiece..<end] {
      add(piece.bytes, .inner, at: position, piece.source)
    }
  }
}
