internal import EntityStore
internal import LodestoreFormat

/// The reasons why a query reads all records, and the declarations that would save it.
struct ScanAdvice {
  /// A reason and its remedy for each comparison, in the words of the condition.
  private(set) var texts: [String] = []

  private static let most = 3

  init(_ entity: DynamicEntity, _ selection: Selection) {
    let matches = selection.matches.map { ConditionScan.Comparison(path: $0.path) }
    for comparison in matches + ConditionScan(selection.condition ?? "").comparisons {
      guard let text = Self.text(comparison, entity), !texts.contains(text) else { continue }
      texts.append(text)
    }
    texts = Array(texts.prefix(Self.most))
  }

  private static func text(
    _ comparison: ConditionScan.Comparison, _ entity: DynamicEntity
  ) -> String? {
    let parts = comparison.path.split(separator: ".").map(String.init)
    guard let name = parts.first, let attribute = entity.description.attribute(named: name) else {
      return nil
    }
    if attribute.type == .json || attribute.type == .document {
      return inside(comparison, Array(parts.dropFirst()), attribute, entity)
    }
    guard parts.count == 1, attribute.type.isIndexable else { return nil }
    let key = "\\\(entity.name).\(name)"
    let keys = entity.indexes.filter { $0.description.attributes.contains(attribute.number) }
    let leading = keys.first { $0.description.attributes.first == attribute.number }
    if comparison.ignoresCase {
      let sorted = "sort\(name.prefix(1).uppercased())\(name.dropFirst())"
      return
        "'\(comparison.text)' ignores case, and an index has exact texts. "
        + (leading.map { "Without '[\(comparison.options)]' it uses '\($0.shortName)'. " } ?? "")
        + "To ignore case by an index, declare '@Derived(.canonical(\(key))) private(set) var "
        + "\(sorted) = \"\"' with '#Index<\(entity.name)>([\\.\(sorted)])', and select "
        + "'\(sorted) BEGINSWITH canonical:(\"…\")'."
    }
    if comparison.readsEachValue {
      return
        "'\(comparison.text)' is compared with each value, which no index can save. "
        + "An index serves ==, <, >, BETWEEN, IN and BEGINSWITH."
    }
    if leading != nil {
      return
        "An index begins with '\(name)', but to read the records in their order costs less here: "
        + "the condition selects many records, or has another comparison after OR."
    }
    return
      "No index begins with '\(name)'"
      + (keys.first.map { "; '\($0.shortName)' has it after another attribute" } ?? "")
      + ". If '\(comparison.text)' is frequent and selects few records, declare "
      + "'#Index<\(entity.name)>([\\.\(name)])', or import with '--index \(name)'."
  }

  private static func inside(
    _ comparison: ConditionScan.Comparison, _ path: [String],
    _ attribute: EntityDescription.Attribute, _ entity: DynamicEntity
  ) -> String? {
    let isIndexed = entity.description.declaredAttributes.contains {
      $0.derivation?.source == attribute.number && $0.derivation?.path == path
    }
    guard !isIndexed else { return nil }
    guard !path.isEmpty else {
      return
        "'\(attribute.name)' is JSON, and no index has complete JSON values. Compare one member, "
        + "as in '\(attribute.name).member == 1', or the elements of an array by ANY with an "
        + "index over the elements."
    }
    let name =
      attribute.name + path.map { "\($0.prefix(1).uppercased())\($0.dropFirst())" }.joined()
    let members = path.map { "\"\($0)\"" }.joined(separator: ", ")
    return
      "No index has '\(comparison.path)', a member of the JSON attribute '\(attribute.name)'. If "
      + "'\(comparison.text)' is frequent and selects few records, declare "
      + "'@Derived(.member(\\\(entity.name).\(attribute.name), \(members), as: String.self)) "
      + "private(set) var \(name): String?' with '#Index<\(entity.name)>([\\.\(name)])'. The "
      + "condition stays as it is."
  }
}

/// The paths and operators in the text of a condition, without its grammar.
struct ConditionScan {
  struct Comparison: Equatable {
    var path: String
    var `operator` = "=="
    var options = ""

    /// The comparison without its value.
    var text: String { "\(path) \(`operator`)" + (options.isEmpty ? "" : "[\(options)]") }
    var ignoresCase: Bool { !options.isEmpty }
    /// Whether no order of the values helps to find those that the comparison selects.
    var readsEachValue: Bool {
      ["CONTAINS", "ENDSWITH", "MATCHES", "LIKE", "!=", "<>"].contains(`operator`)
    }
  }

  private(set) var comparisons: [Comparison] = []

  init(_ condition: String) {
    let tokens = Self.tokens(condition)
    for (position, token) in tokens.enumerated() where Self.isPath(token) {
      var comparison = Comparison(path: String(token.drop { $0 == "#" }))
      let next = position + 1 < tokens.count ? tokens[position + 1] : ""
      if Self.isSymbol(next) || Self.words.contains(next.uppercased()) {
        comparison.operator = next.uppercased()
        if position + 2 < tokens.count, tokens[position + 2].hasPrefix("[") {
          comparison.options = tokens[position + 2].filter(\.isLetter)
        }
      }
      comparisons.append(comparison)
    }
  }

  private static let words: Set<String> = [
    "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "IN", "BETWEEN",
  ]

  private static func isSymbol(_ token: String) -> Bool {
    token.first.map { "=<>!".contains($0) } ?? false
  }

  private static func isPath(_ token: String) -> Bool {
    guard let first = token.first(where: { $0 != "#" }) else { return false }
    return (first.isLetter || first == "_") && !words.contains(token.uppercased())
  }

  /// Words with their dots, runs of operator characters, and options in brackets.
  private static func tokens(_ text: String) -> [String] {
    var tokens: [String] = []
    var rest = text[...]
    while let first = rest.first {
      if first == "\"" || first == "'" {
        rest = rest.dropFirst()
        while let next = rest.first, next != first { rest = rest.dropFirst(next == "\\" ? 2 : 1) }
        rest = rest.dropFirst()
        continue
      }
      let token =
        if first == "[" {
          rest.prefix { $0 != "]" }
        } else if "=<>!".contains(first) {
          rest.prefix { "=<>!".contains($0) }
        } else {
          rest.prefix { $0.isLetter || $0.isNumber || "_.#@".contains($0) }
        }
      if !token.isEmpty { tokens.append(String(token)) }
      rest = rest.dropFirst(max(token.count, 1))
    }
    return tokens
  }
}
