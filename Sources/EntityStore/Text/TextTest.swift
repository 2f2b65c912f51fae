internal import LodestoreBytes
internal import LodestoreFormat

/// A comparison of texts with a constant, prepared once for many texts.
///
/// Without options, texts are compared like Swift's `String`, by canonical equivalence and whole
/// `Character`s. So "\r\n" does not contain "\n", and "e\u{301}" does not begin with "e". With
/// `[c]` and `[d]`, both sides are folded first; see ``TextFolding``. `[n]` overrides the other
/// options and compares bytes, but LIKE still counts `Character`s.
///
/// MATCHES compares scalars as they are stored; see ``RegularExpression``. The only option it uses
/// is `[c]`.
///
/// Bytes that are not UTF-8 never trap, but the result for them is undefined.
struct TextTest: Sendable {
  enum Operation: Sendable, Hashable {
    case equal, less, lessOrEqual, greater, greaterOrEqual
    case beginsWith, endsWith, contains, like, matches
  }

  private let operation: Operation
  private let needle: TextNeedle
  private let pattern: LikePattern?
  private let expression: RegularExpression?

  /// Creates the test; throws for a pattern that cannot be used.
  init(_ operation: Operation, _ operand: String, options: TextOptions) throws(PatternError) {
    self.operation = operation
    pattern = operation == .like ? try LikePattern(operand, options: options) : nil
    expression =
      operation == .matches
      ? try RegularExpression(operand, isCaseless: options.contains(.caseInsensitive)) : nil
    needle = TextNeedle(operation == .like || operation == .matches ? "" : operand, options)
  }

  /// The only bytes that pass the test; `nil` unless the test is for equality with a text that has
  /// one spelling.
  var onlySpelling: [UInt8]? {
    operation == .equal && !needle.isFolding && (needle.isBytewise || needle.hasOneSpelling)
      ? needle.bytes : nil
  }

  func admits(_ utf8: ByteView) -> Bool {
    switch operation {
    case .equal: needle.isEqual(to: utf8)
    case .less: needle.order(of: utf8) < 0
    case .lessOrEqual: needle.order(of: utf8) <= 0
    case .greater: needle.order(of: utf8) > 0
    case .greaterOrEqual: needle.order(of: utf8) >= 0
    case .beginsWith: needle.isFound(in: utf8, .start)
    case .endsWith: needle.isFound(in: utf8, .end)
    case .contains: needle.isFound(in: utf8, .anywhere)
    case .like: pattern?.admits(utf8) ?? false
    case .matches: expression?.admits(utf8) ?? false
    }
  }
}
