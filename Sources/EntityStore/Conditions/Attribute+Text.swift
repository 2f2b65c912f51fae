internal import LodestoreFormat

/// The differences between texts that a comparison ignores.
public struct TextComparison: OptionSet, Sendable, Hashable {
  /// The set as bits.
  public let rawValue: UInt8

  /// Creates a set from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Ignores the difference between upper and lower case.
  public static let caseInsensitive = TextComparison(rawValue: 1)
  /// Ignores diacritics, such as accents.
  public static let diacriticInsensitive = TextComparison(rawValue: 2)

  var options: TextOptions { TextOptions(rawValue: rawValue & 3) }
}

/// A type whose values conditions can compare as text: a text, an optional text, or JSON that can
/// be a text.
///
/// Do not conform to this protocol.
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
  /// The text, if the JSON is a text.
  public var _conditionText: String? { stringValue }
}

extension Attribute where Value: TextAttribute {
  /// Whether the text begins with `prefix`; false for null.
  ///
  /// If an index serves the attribute, only the entries with the prefix are read.
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

  /// Whether the whole text fits `pattern`, in which `?` stands for one character and `*` for any
  /// number of them.
  ///
  /// A `\` before a character takes it literally. SQL's wildcards have no special meaning: `_` is
  /// an ordinary character, and so is `%` in a pattern with `*` or `?`. A pattern with `%` that
  /// contains no `*` and no `?` is refused.
  public func isLike(_ pattern: String, _ comparison: TextComparison = []) -> Condition<E> {
    tested(.like, pattern, comparison)
  }

  /// Whether the whole text matches a regular expression, in time linear in the length of the text.
  ///
  /// The syntax is the common part of ICU's. Back references and lookaround are refused when the
  /// query is prepared.
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
