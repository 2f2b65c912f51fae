internal import LodestoreBytes
internal import LodestoreFormat

extension TextNeedle {
  enum Anchor { case start, end, anywhere }

  /// The number of byte matches that do not end at whole characters, after which a search that is
  /// linear in the worst case takes over.
  private static let mostAttempts = 16

  /// Returns whether the constant occurs at the anchor, as whole characters.
  func isFound(in utf8: ByteView, _ anchor: Anchor) -> Bool {
    if bytes.isEmpty { return true }
    return bytes._withBytes { needle in
      if isBytewise { return isFound(needle, inBytes: utf8, anchor) }
      guard isFolding else { return isFound(needle, inUnfolded: utf8, anchor) }
      if utf8.isASCII { return isASCII && isFound(needle, inASCII: utf8, anchor) }
      return withNormal(utf8) { normal in
        normal.isPlainText
          ? isFound(needle, inUnfolded: normal, anchor) : isFound(needle, inNormal: normal, anchor)
      }
    }
  }

  private func isFound(_ needle: ByteView, inBytes text: ByteView, _ anchor: Anchor) -> Bool {
    let start = text.count &- needle.count
    guard start >= 0 else { return false }
    return switch anchor {
    case .start: text.hasPrefix(needle)
    case .end: text.slice(from: start).hasPrefix(needle)
    case .anywhere: ByteSearch.first(needle, in: text) != nil
    }
  }

  /// Searches the bytes as they are, and then the normalized text if the first search does not
  /// decide.
  ///
  /// Plain text may already be folded, and folding it again changes nothing.
  private func isFound(_ needle: ByteView, inUnfolded text: ByteView, _ anchor: Anchor) -> Bool {
    let start = text.count &- needle.count
    var isHit = false
    if start >= 0 {
      switch anchor {
      case .start:
        isHit = text.hasPrefix(needle)
        if isHit, isPlain, isPlainBoundary(text, needle.count) { return true }
      case .end:
        isHit = text.slice(from: start).hasPrefix(needle)
        if isHit, isPlain, isPlainBoundary(text, start) { return true }
      case .anywhere:
        guard let verdict = plainOccurrence(of: needle, in: text) else { break }
        if verdict { return true }
        isHit = true
      }
    }
    if !isHit, hasOneSpelling || text.isPlainText { return false }
    // In plain text a hit is rejected only if it splits CR LF.
    if isHit, text.isPlainText { return false }
    return withNormal(text) { isFound(needle, inNormal: $0, anchor) }
  }

  /// Returns `nil` if the needle's bytes do not occur, otherwise whether they occur as whole
  /// characters.
  private func plainOccurrence(of needle: ByteView, in text: ByteView) -> Bool? {
    guard var hit = ByteSearch.first(needle, in: text) else { return nil }
    guard isPlain else { return false }
    var attempts = 0
    while true {
      if isPlainBoundary(text, hit), isPlainBoundary(text, hit &+ needle.count) { return true }
      attempts &+= 1
      if attempts == Self.mostAttempts { return isFound(needle, inNormalOf: text) }
      guard let next = ByteSearch.first(needle, in: text, from: hit &+ 1) else { return false }
      hit = next
    }
  }

  private func isFound(_ needle: ByteView, inNormalOf text: ByteView) -> Bool {
    withNormal(text) { isFound(needle, inNormal: $0, .anywhere) }
  }

  /// Returns whether `offset` is certainly a boundary between characters, as between two scalars
  /// below U+0300.
  private func isPlainBoundary(_ text: ByteView, _ offset: Int) -> Bool {
    guard offset > 0, offset < text.count else { return true }
    let before = text[offset &- 1]
    let after = text[offset]
    guard after < 0xcc else { return false }
    if before < 0x80 { return before != 0x0d || after != 0x0a }
    return offset >= 2 && before & 0xc0 == 0x80 && text[offset &- 2] & 0xc0 == 0xc0
      && text[offset &- 2] < 0xcc
  }

  private func isFound(_ needle: ByteView, inASCII text: ByteView, _ anchor: Anchor) -> Bool {
    let start = text.count &- needle.count
    guard start >= 0 else { return false }
    switch anchor {
    case .start:
      let head = text[..<needle.count]
      return TextOrder.asciiOrder(head, needle, isCaseless: isCaseless) == 0
        && isPlainBoundary(text, needle.count)
    case .end:
      return TextOrder.asciiOrder(text.slice(from: start), needle, isCaseless: isCaseless) == 0
        && isPlainBoundary(text, start)
    case .anywhere:
      var from = 0
      var attempts = 0
      while let hit = nextHit(needle, text, from) {
        if isPlainBoundary(text, hit), isPlainBoundary(text, hit &+ needle.count) { return true }
        attempts &+= 1
        if attempts == Self.mostAttempts { return isFound(needle, inNormalOf: text) }
        from = hit &+ 1
      }
      return false
    }
  }

  private func nextHit(_ needle: ByteView, _ text: ByteView, _ from: Int) -> Int? {
    isCaseless
      ? ByteSearch.first(needle, in: text, from: from, isCaseless: true)
      : ByteSearch.first(needle, in: text, from: from)
  }

  /// Searches a text that has been folded like the constant.
  ///
  /// Equal characters have the same bytes in normal form. So the constant occurs at each place
  /// where its bytes occur, if a character starts at their start and a character ends at their end.
  private func isFound(_ needle: ByteView, inNormal normal: ByteView, _ anchor: Anchor) -> Bool {
    var text = String(decoding: normal, as: UTF8.self)
    let characters = text
    return text.withUTF8 { utf8 in
      let text = ByteView(utf8)
      var boundaries = CharacterBoundaries(characters)
      let start = text.count &- needle.count
      guard start >= 0 else { return false }
      switch anchor {
      case .start: return text.hasPrefix(needle) && boundaries.contains(needle.count)
      case .end: return text.slice(from: start).hasPrefix(needle) && boundaries.contains(start)
      case .anywhere:
        var ends = boundaries
        var search = RepeatedByteSearch(needle)
        while let hit = search.next(in: text) {
          if boundaries.contains(hit), ends.contains(hit &+ needle.count) { return true }
        }
        return false
      }
    }
  }
}
