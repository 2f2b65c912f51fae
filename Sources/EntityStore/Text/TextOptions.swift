/// The options of text comparisons: `[c]`, `[d]` and `[n]` in format strings.
package struct TextOptions: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Ignores the difference between upper and lower case.
  package static let caseInsensitive = TextOptions(rawValue: 1)
  /// Ignores diacritics.
  package static let diacriticInsensitive = TextOptions(rawValue: 2)
  /// Compares both sides by their bytes; the author of the condition states that they are
  /// normalized.
  package static let normalized = TextOptions(rawValue: 4)
}
