import LodestoreBytes

/// Runs of characters of scripts without spaces, and emoji.
extension TextAnalyzer {
  mutating func takeGram(_ element: Element) {
    let isNext =
      open == .run && element.isAdjacent && (pending == .nothing || pending == .middleDot)
    if isNext {
      endCharacter()
      earlier = current
      pending = .nothing
    } else {
      close()
      open = .run
      earlier = nil
    }
    scalarCount = 0
    beginStretch(with: element)
  }

  /// Adds the terms of the character before the current one, which is complete.
  private mutating func endCharacter() {
    endStretch()
    guard let earlier else { return }
    add(earlier.bytes, .single, at: position, earlier.source)
    let pair = earlier.bytes.lowerBound..<current.bytes.upperBound
    add(pair, .pair, at: position, earlier.source.lowerBound..<current.source.upperBound)
    position &+= 1
  }

  mutating func closeRun() {
    endCharacter()
    add(current.bytes, .single, at: position, current.source)
    position &+= 1
    earlier = nil
  }

  mutating func takeEmoji(_ element: Element) {
    if open == .emoji, element.isAdjacent, scalarCount < TextAnalysis.partLimit {
      append(element)
      return
    }
    close()
    open = .emoji
    scalarCount = 0
    beginStretch(with: element)
  }

  mutating func closeEmoji() {
    endStretch()
    add(current.bytes, .part, at: position, current.source)
    position &+= 1
  }
}
