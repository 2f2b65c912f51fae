import LodestoreBytes

/// Word boundaries by the default rules of UAX #29 for Unicode 17.0.
///
/// The comments name the rules of the annex. A byte that is not UTF-8 counts as a scalar of the
/// class Other.
struct WordBreaks {
  let text: ByteView
  let tables: AnalysisTables

  /// A scalar with its class, or the end of the text.
  private struct Element {
    var wordClass = WordClass.other
    var isPictograph = false
    var end: Int
  }

  @inline(__always)
  private func element(at offset: Int) -> Element {
    let (scalar, length) = UTF8Scalar.decode(text, at: offset)
    let facts = tables.facts(scalar)
    return Element(
      wordClass: facts.wordClass, isPictograph: facts.isPictograph, end: offset &+ length)
  }

  /// The end of the segment that begins at `start`, which must be a boundary before the end of the
  /// text.
  func segmentEnd(from start: Int) -> Int {
    var last = element(at: start)
    if last.wordClass.isLineEnd {
      guard last.wordClass == .carriageReturn, last.end < text.count else { return last.end }
      let next = element(at: last.end)
      return next.wordClass == .lineFeed ? next.end : last.end  // WB3
    }
    var end = last.end
    var isAfterJoiner = last.wordClass == .joiner
    // WB15 and WB16: regional indicators are joined in pairs.
    var hasPair = false
    while end < text.count {
      let next = element(at: end)
      if next.wordClass.isAttached {  // WB4
        isAfterJoiner = next.wordClass == .joiner
        end = next.end
        continue
      }
      let isDirect = end == last.end
      if isAfterJoiner, next.isPictograph {  // WB3c
      } else if joins(last.wordClass, next.wordClass, isDirect: isDirect) {
        if next.wordClass == .regionalIndicator {
          if hasPair { return end }
          hasPair = true
        }
      } else if let further = elementAfter(next, joinedTo: last.wordClass) {
        last = further
        end = further.end
        isAfterJoiner = false
        continue
      } else if last.wordClass == .hebrewLetter, next.wordClass == .singleQuote {  // WB7a
      } else {
        return end
      }
      last = next
      end = next.end
      isAfterJoiner = false
    }
    return end
  }

  /// Whether two neighbours are joined by the rules for two scalars.
  @inline(__always)
  private func joins(_ last: WordClass, _ next: WordClass, isDirect: Bool) -> Bool {
    switch next {
    case .letter, .hebrewLetter:  // WB5, WB10, WB13b
      last.isLetter || last == .numeric || last == .extendNumLet
    case .numeric:  // WB8, WB9, WB13b
      last.isLetter || last == .numeric || last == .extendNumLet
    case .katakana: last == .katakana || last == .extendNumLet  // WB13, WB13b
    case .extendNumLet:  // WB13a
      last.isLetter || last == .numeric || last == .katakana || last == .extendNumLet
    case .space: last == .space && isDirect  // WB3d
    case .regionalIndicator: last == .regionalIndicator
    default: false
    }
  }

  /// The scalar after `middle`, if `middle` joins it to a scalar of the class `last`.
  private func elementAfter(_ middle: Element, joinedTo last: WordClass) -> Element? {
    let isLetters =  // WB6 and WB7
      last.isLetter && (middle.wordClass == .midLetter || middle.wordClass.isMidNumLetQ)
    let isNumbers =  // WB11 and WB12
      last == .numeric && (middle.wordClass == .midNum || middle.wordClass.isMidNumLetQ)
    let isHebrew = last == .hebrewLetter && middle.wordClass == .doubleQuote  // WB7b and WB7c
    guard isLetters || isNumbers || isHebrew else { return nil }
    var end = middle.end
    while end < text.count {
      let next = element(at: end)
      if next.wordClass.isAttached {
        end = next.end
        continue
      }
      let isJoined =
        isLetters && next.wordClass.isLetter || isNumbers && next.wordClass == .numeric
        || isHebrew && next.wordClass == .hebrewLetter
      return isJoined ? next : nil
    }
    return nil
  }
}
