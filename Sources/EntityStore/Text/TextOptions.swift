/// How texts are compared: `[c]`, `[d]` and `[n]` of the format string.
package struct TextOptions: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Letters of either case are the same.
  package static let caseInsensitive = TextOptions(rawValue: 1)
  /// Letters with and without marks are the same.
  package static let diacriticInsensitive = TextOptions(rawValue: 2)
  /// Both sides are compared by their bytes: the author states that they are normalized.
  package static let normalized = TextOptions(rawValue: 4)
}
