internal import LodestoreFormat

/// What does not matter when texts are compared.
public struct TextComparison: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt8

  /// Makes a set from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Upper and lower case are the same.
  public static let caseInsensitive = TextComparison(rawValue: 1)
  /// Letters with and without marks are the same.
  public static let diacriticInsensitive = TextComparison(rawValue: 2)

  var options: TextOptions { TextOptions(rawValue: rawValue & 3) }
}

/// A text, or an optional one, or JSON that can be a text, as a condition sees it.
///
/// Do not conform to it.
@_documentation(visibility: internal)
public protocol TextAttribute: Sendable {
  /// The text; `nil` for null.
  var _conditionText: String? { get }
}

extension String: TextAttribute {
  /// The text itself.
  public var _conditionText: String? { self }
}

extension Optional: TextAttribute where Wrapped == String {
  /// The text, if there is one.
  public var _conditionText: String? { self }
}

extension JSONValue: TextAttribute {
  /// The text, where the JSON is one.
  public var _conditionText: String? { stringValue }
}

extension Attribute where Value: TextAttribute {
  /// Whether the text begins with `prefix`; false for null.
  ///
  /// With an index that can be used for the attribute, only the entries with the prefix are read.
  public func hasPrefix(_ prefix: String, _ comparison: TextComparison = []) -> Condition<E> {
    tested(.beginsWith, prefix, comparison)
  }

  /// Whether the text ends with `suffix`; false for null.
  public func hasSuffix(_ suffix: String, _ comparison: TextComparison = []) -> Condition<E> {
    tested(.endsWith, suffix, comparison)
  }

  /// Whether the text contains `part`; false for null.
  @_disfavoredOverload
  public func contains(_ part: String, _ comparison: TextComparison = []) -> Condition<E> {
    tested(.contains, part, comparison)
  }

  /// Whether the whole text is like `pattern`, in which `?` is one character and `*` any number of
  /// them; `\` takes the next as it is.
  ///
  /// SQL's wildcards are none: `_` is a character as any other, and so is `%` beside a `*` or `?`;
  /// a pattern with `%` and neither of them is refused.
  public func isLike(_ pattern: String, _ comparison: TextComparison = []) -> Condition<E> {
    tested(.like, pattern, comparison)
  }

  /// Whether the whole text matches a regular expression, in time linear in the text.
  ///
  /// The common part of ICU's syntax; back references and lookaround are refused when the query is
  /// prepared.
  public func matches(_ expression: String, _ comparison: TextComparison = []) -> Condition<E> {
    tested(.matches, expression, comparison)
  }

  /// Whether the texts are equal under `comparison`.
  public func isEqual(to text: String, _ comparison: TextComparison) -> Condition<E> {
    tested(.equal, text, comparison)
  }

  private func tested(
    _ operator: Comparison.Operator, _ text: String, _ comparison: TextComparison
  ) -> Condition<E> {
    compared(`operator`, .value(.string(text)), options: comparison.options)
  }
}
