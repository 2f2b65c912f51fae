internal import LodestoreBytes

/// The reserved words of format strings, in upper or lower case.
enum FormatKeyword: String, CaseIterable, Sendable {
  case and = "AND"
  case or = "OR"
  case not = "NOT"
  case `in` = "IN"
  case all = "ALL"
  case any = "ANY"
  case some = "SOME"
  case none = "NONE"
  case like = "LIKE"
  case matches = "MATCHES"
  case search = "SEARCH"
  case searchAny = "SEARCHANY"
  case searchPrefix = "SEARCHPREFIX"
  case within = "WITHIN"
  case near = "NEAR"
  case contains = "CONTAINS"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  case between = "BETWEEN"
  case null = "NULL"
  case `nil` = "NIL"
  case itself = "SELF"
  case `true` = "TRUE"
  case yes = "YES"
  case `false` = "FALSE"
  case no = "NO"
  case first = "FIRST"
  case last = "LAST"
  case size = "SIZE"
  case caseInsensitive = "CASEINSENSITIVE"
  case ci = "CI"
  case anyKey = "ANYKEY"
  case subquery = "SUBQUERY"
  case fetch = "FETCH"
  case cast = "CAST"
  case ternary = "TERNARY"
  case truePredicate = "TRUEPREDICATE"
  case falsePredicate = "FALSEPREDICATE"
  case conformsToUTI = "UTI-CONFORMS-TO"
  case equalsUTI = "UTI-EQUALS"

  /// The operator that the word stands for, if any.
  var comparison: Comparison.Operator? {
    switch self {
    case .in: .in
    case .like: .like
    case .matches: .matches
    case .search: .search
    case .searchAny: .searchAny
    case .searchPrefix: .searchPrefix
    case .within: .within
    case .near: .near
    case .contains: .contains
    case .beginsWith: .beginsWith
    case .endsWith: .endsWith
    case .between: .between
    default: nil
    }
  }

  /// Whether the word is read as a name where the keyword is not allowed, as in `size > 3`.
  ///
  /// ``ConditionPrinter`` still writes it with a `#`, as a name.
  var isOftenName: Bool {
    switch self {
    case .first, .last, .size, .caseInsensitive, .ci, .subquery, .cast, .ternary, .search,
      .searchAny, .searchPrefix, .within, .near:
      true
    default: false
    }
  }

  /// Creates the keyword that `text` spells, if any.
  init?(_ text: ByteView) {
    guard (2...15).contains(text.count) else { return nil }
    var key: UInt128 = 0
    for byte in text {
      // Lowercase letters become capitals, and other bytes stay as they are.
      key = key << 8 | UInt128((0x61...0x7A).contains(byte) ? byte & 0xDF : byte)
    }
    guard let keyword = Self.table[key] else { return nil }
    self = keyword
  }

  /// The keywords by their bytes as one number.
  ///
  /// The longest word has 15 bytes.
  private static let table = Dictionary(
    uniqueKeysWithValues: allCases.map { keyword in
      (keyword.rawValue.utf8.reduce(0 as UInt128) { $0 << 8 | UInt128($1) }, keyword)
    })

  /// The words that can follow an operand, for suggestions.
  static let operatorWords = [
    "AND", "OR", "IN", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH", "BETWEEN",
  ]
}
