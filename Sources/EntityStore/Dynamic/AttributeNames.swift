internal import LodestoreBytes
internal import LodestoreFormat

/// Creates attribute names from the names of members and columns.
///
/// An attribute keeps the name of its member as its source, so the created name need not identify
/// the member. A created name is readable, and differs from the names of other attributes.
package enum AttributeNames {
  /// Returns a valid attribute name for `name`; a valid name is unchanged.
  ///
  /// - Letters with diacritics lose them. Cyrillic and Greek letters, and Latin ones such as `ß`
  ///   and `ø`, become Latin letters, as in `zhanr` for `жанр`.
  /// - Symbols become their names: `price $` is `price_dollar`, `C#` is `C_number`.
  /// - Spaces, hyphens and other punctuation become one `_` between words.
  /// - Every other character becomes its code point: `名` is `u540D`. Punctuation does too when the
  ///   name has no other characters.
  /// - A digit at the start gets a `_` before it, and the name is truncated at 64 bytes.
  ///
  /// An empty name becomes `unnamed`. `_id`, which the store reserves, becomes `_id_`.
  package static func readable(_ name: String) -> String {
    if EntityDescription.isValidAttributeName(name) { return name }
    if name == EntityDescription.nameOfID { return name + "_" }
    var result = Words()
    for scalar in composed(name) { append(scalar, to: &result) }
    if result.text.isEmpty {
      for scalar in name.unicodeScalars { result.append(word: codePoint(scalar)) }
    }
    guard let first = result.text.utf8.first else { return "unnamed" }
    if (0x30...0x39).contains(first) { result.text = "_" + result.text }
    let cut = String(result.text.prefix(EntityDescription.longestName))
    return cut == EntityDescription.nameOfID ? cut + "_" : cut
  }

  /// The name that earlier versions of the library gave to the attribute of a member.
  ///
  /// Before format 6, each character that is not allowed in a name became `_`, and the member's
  /// name was not stored.
  package static func former(_ member: String) -> String {
    if EntityDescription.isValidName(member) { return member }
    var text = ""
    for scalar in member.unicodeScalars { text += isAllowed(scalar) ? String(scalar) : "_" }
    if text.utf8.first.map({ (0x30...0x39).contains($0) }) ?? true { text = "_" + text }
    text = String(text.prefix(EntityDescription.longestName))
    return text == EntityDescription.nameOfID ? text + "_" : text
  }

  /// Returns attribute names for `names`, all different from each other and from those in `taken`.
  ///
  /// A valid name stays when it is free. Every other name is passed to ``readable(_:)``, and gets
  /// a number when the result is taken.
  ///
  /// The result does not depend on the order of `names`.
  package static func distinct(
    _ names: some Collection<String>, besides taken: Set<String> = []
  ) -> [String: String] {
    var result: [String: String] = [:]
    var taken = taken
    for name in names
    where EntityDescription.isValidAttributeName(name) && taken.insert(name).inserted {
      result[name] = name
    }
    let others = names.filter { result[$0] == nil }
    for name in others.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      let base = readable(name)
      var candidate = base
      var number = 2
      while !taken.insert(candidate).inserted {
        let suffix = "_\(number)"
        candidate = base.prefix(EntityDescription.longestName - suffix.utf8.count) + suffix
        number += 1
      }
      result[name] = candidate
    }
    return result
  }

  /// A text of words with one `_` between them.
  private struct Words {
    var text = ""
    private var isBetween = false

    mutating func append(_ letters: some StringProtocol) {
      let isOpen = text.utf8.last.map { $0 != UInt8(ascii: "_") } ?? false
      if isBetween, isOpen, letters != "_" { text += "_" }
      isBetween = false
      text += letters
    }

    mutating func separate() { isBetween = true }

    mutating func append(word: some StringProtocol) {
      separate()
      append(word)
      separate()
    }
  }

  private static func append(_ scalar: Unicode.Scalar, to words: inout Words) {
    if isAllowed(scalar) { return words.append(String(scalar)) }
    if let letters = AttributeLetters.latin[scalar] { return words.append(letters) }
    if let name = AttributeLetters.symbols[scalar] { return words.append(word: name) }
    if let digit = digit(scalar) { return words.append(digit) }
    let letters = decomposed(scalar).filter { !isMark($0) }
    if letters.isEmpty { return }
    if letters.count == 1, isAllowed(letters[0]) {
      words.append(String(letters[0]))
    } else if letters.count == 1, let latin = AttributeLetters.latin[letters[0]] {
      words.append(latin)
    } else if isSeparator(scalar) {
      words.separate()
    } else {
      words.append(word: codePoint(scalar))
    }
  }

  /// The ASCII digit for a digit of another script, a superscript or a subscript.
  private static func digit(_ scalar: Unicode.Scalar) -> String? {
    switch scalar.properties.numericType {
    case .decimal, .digit: scalar.properties.numericValue.map { String(Int($0)) }
    default: nil
    }
  }

  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_": true
    default: false
    }
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: true
    default: false
    }
  }

  private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .spaceSeparator, .lineSeparator, .paragraphSeparator, .control, .format,
      .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
      .initialPunctuation, .finalPunctuation, .otherPunctuation, .modifierSymbol, .otherSymbol,
      .mathSymbol:
      true
    default: false
    }
  }

  private static func codePoint(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return "u" + String(repeating: "0", count: max(4 - digits.count, 0)) + digits
  }

  private static func composed(_ text: String) -> String.UnicodeScalarView {
    mapped(text) { Normalization.appendNFC(of: $0, to: &$1) }
  }

  private static func decomposed(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
    Array(mapped(String(scalar)) { Normalization.appendNFD(of: $0, to: &$1) })
  }

  private static func mapped(
    _ text: String, _ body: (ByteView, inout [UInt8]) -> Void
  ) -> String.UnicodeScalarView {
    var bytes: [UInt8] = []
    Array(text.utf8)._withBytes { body($0, &bytes) }
    return String(decoding: bytes, as: UTF8.self).unicodeScalars
  }
}

/// The spelling of letters and symbols in attribute names.
private enum AttributeLetters {
  /// The Latin spelling of letters that are not ASCII, in upper and lower case.
  static let latin: [Unicode.Scalar: String] = {
    var letters: [Unicode.Scalar: String] = [:]
    for pair in pairs.split(whereSeparator: \.isWhitespace) {
      let parts = pair.split(separator: "=", omittingEmptySubsequences: false)
      guard let scalar = parts.first?.unicodeScalars.first, let text = parts.last else { continue }
      letters[scalar] = String(text)
      let upper = scalar.properties.uppercaseMapping.unicodeScalars
      if let first = upper.first, upper.count == 1, first != scalar {
        letters[first] = text.prefix(1).uppercased() + text.dropFirst()
      }
    }
    return letters
  }()

  private static let pairs = """
    ß=ss ẞ=SS æ=ae œ=oe ø=o đ=d ð=d þ=th ł=l ı=i ŋ=ng ħ=h ŧ=t ə=e ĸ=k ª=a º=o
    а=a б=b в=v г=g д=d е=e ё=yo ж=zh з=z и=i й=y к=k л=l м=m н=n о=o п=p р=r с=s т=t у=u ф=f
    х=kh ц=ts ч=ch ш=sh щ=shch ъ= ы=y ь= э=e ю=yu я=ya є=ye і=i ї=yi ґ=g ў=u ђ=dj ј=j љ=lj њ=nj
    ћ=c џ=dz ѓ=gj ќ=kj ѕ=dz
    α=a β=v γ=g δ=d ε=e ζ=z η=i θ=th ι=i κ=k λ=l μ=m ν=n ξ=x ο=o π=p ρ=r σ=s ς=s τ=t υ=y φ=f
    χ=ch ψ=ps ω=o
    """

  static let symbols: [Unicode.Scalar: String] = [
    "#": "number", "№": "number", "+": "plus", "%": "percent", "‰": "permille", "$": "dollar",
    "€": "euro", "£": "pound", "¥": "yen", "¢": "cent", "₽": "ruble", "₹": "rupee", "₿": "bitcoin",
    "&": "and", "@": "at", "*": "star", "=": "equals", "<": "less", ">": "greater",
    "≤": "at_most", "≥": "at_least", "≠": "not", "±": "plus_minus", "×": "times", "÷": "divided",
    "°": "degree", "µ": "micro", "²": "squared", "³": "cubed", "½": "half", "∑": "sum", "√": "root",
    "∞": "infinity", "§": "section",
  ]
}
