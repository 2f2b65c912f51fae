/// A property of scalars that a regular expression can name.
enum ScalarProperty: Sendable {
  case categories(Set<Unicode.GeneralCategory>)
  case any, ascii, assigned
  case alphabetic, uppercase, lowercase, whiteSpace, emoji, ideographic
  /// Letters, marks, decimal digits, connectors and joiners, written `\w`.
  case word
  /// The tabulator and the space separators, written `\h`.
  case blank
  /// Line ends, written `\v`.
  case lineEnd
  case alphanumeric, hexadecimalDigit, graphic, printable, control

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    switch self {
    case .any: return true
    case .ascii: return scalar.isASCII
    case .assigned: return properties.generalCategory != .unassigned
    case .categories(let set): return set.contains(properties.generalCategory)
    case .alphabetic: return properties.isAlphabetic
    case .uppercase: return properties.isUppercase
    case .lowercase: return properties.isLowercase
    case .whiteSpace: return properties.isWhitespace
    case .emoji: return properties.isEmoji
    case .ideographic: return properties.isIdeographic
    case .word:
      return properties.isAlphabetic || properties.isJoinControl
        || Self.wordCategories.contains(properties.generalCategory)
    case .blank: return scalar.value == 9 || properties.generalCategory == .spaceSeparator
    case .lineEnd: return LineEnd.contains(scalar.value)
    case .alphanumeric:
      return properties.isAlphabetic || properties.generalCategory == .decimalNumber
    case .hexadecimalDigit: return properties.isHexDigit
    case .graphic: return Self.isGraphic(properties)
    case .printable:
      return Self.isGraphic(properties) || properties.generalCategory == .spaceSeparator
    case .control: return properties.generalCategory == .control
    }
  }

  private static let wordCategories: Set<Unicode.GeneralCategory> = [
    .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .connectorPunctuation,
  ]

  private static func isGraphic(_ properties: Unicode.Scalar.Properties) -> Bool {
    let category = properties.generalCategory
    return !properties.isWhitespace && category != .control && category != .surrogate
      && category != .unassigned
  }
}

/// The line ends, which `.` does not match and before which `$` matches.
enum LineEnd {
  @inline(__always)
  static func contains(_ scalar: UInt32) -> Bool {
    (0x0a...0x0d).contains(scalar) || scalar == 0x85 || scalar == 0x2028 || scalar == 0x2029
  }
}

extension ScalarProperty {
  /// Creates the property named in `\p{…}` or `[:…:]`, ignoring case, blanks, hyphens and
  /// underscores.
  init?(name: String) {
    var key = name.lowercased().filter { !" -_".contains($0) }
    for prefix in ["generalcategory=", "gc="] where key.hasPrefix(prefix) {
      key = String(key.dropFirst(prefix.count))
    }
    if let categories = Self.categories[key] {
      self = .categories(categories)
    } else if let property = Self.properties[key] {
      self = property
    } else {
      return nil
    }
  }

  private static let properties: [String: ScalarProperty] = [
    "any": .any, "ascii": .ascii, "assigned": .assigned, "alphabetic": .alphabetic,
    "alpha": .alphabetic, "uppercase": .uppercase, "upper": .uppercase, "lowercase": .lowercase,
    "lower": .lowercase, "whitespace": .whiteSpace, "wspace": .whiteSpace, "space": .whiteSpace,
    "emoji": .emoji, "ideographic": .ideographic, "ideo": .ideographic, "word": .word,
    "blank": .blank, "alnum": .alphanumeric, "xdigit": .hexadecimalDigit,
    "hexdigit": .hexadecimalDigit, "graph": .graphic, "print": .printable, "cntrl": .control,
  ]

  private static let categories: [String: Set<Unicode.GeneralCategory>] = {
    let single: [(String, String, Unicode.GeneralCategory)] = [
      ("lu", "uppercaseletter", .uppercaseLetter), ("ll", "lowercaseletter", .lowercaseLetter),
      ("lt", "titlecaseletter", .titlecaseLetter), ("lm", "modifierletter", .modifierLetter),
      ("lo", "otherletter", .otherLetter), ("mn", "nonspacingmark", .nonspacingMark),
      ("mc", "spacingmark", .spacingMark), ("me", "enclosingmark", .enclosingMark),
      ("nd", "decimalnumber", .decimalNumber), ("nl", "letternumber", .letterNumber),
      ("no", "othernumber", .otherNumber), ("pc", "connectorpunctuation", .connectorPunctuation),
      ("pd", "dashpunctuation", .dashPunctuation), ("ps", "openpunctuation", .openPunctuation),
      ("pe", "closepunctuation", .closePunctuation),
      ("pi", "initialpunctuation", .initialPunctuation),
      ("pf", "finalpunctuation", .finalPunctuation),
      ("po", "otherpunctuation", .otherPunctuation), ("sm", "mathsymbol", .mathSymbol),
      ("sc", "currencysymbol", .currencySymbol), ("sk", "modifiersymbol", .modifierSymbol),
      ("so", "othersymbol", .otherSymbol), ("zs", "spaceseparator", .spaceSeparator),
      ("zl", "lineseparator", .lineSeparator), ("zp", "paragraphseparator", .paragraphSeparator),
      ("cc", "control", .control), ("cf", "format", .format), ("cs", "surrogate", .surrogate),
      ("co", "privateuse", .privateUse), ("cn", "unassigned", .unassigned),
    ]
    var result: [String: Set<Unicode.GeneralCategory>] = [:]
    for (short, long, category) in single {
      result[short] = [category]
      result[long] = [category]
      result[String(short.prefix(1)), default: []].insert(category)
    }
    result["lc"] = [.uppercaseLetter, .lowercaseLetter, .titlecaseLetter]
    let groups = [
      "letter": "l", "mark": "m", "number": "n", "punctuation": "p", "punct": "p", "symbol": "s",
      "separator": "z", "other": "c", "digit": "nd", "casedletter": "lc",
    ]
    for (name, short) in groups { result[name] = result[short] }
    return result
  }()
}
