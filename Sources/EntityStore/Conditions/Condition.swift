public import LodestoreEssentials
internal import LodestoreFormat

/// A condition that the records found by a query fulfil.
///
/// There are three ways to write a condition, with the same meaning:
///
///     Pod.where { $0.stars > 3; $0.name.hasPrefix("AF") }        // lines; all must be true
///     Condition(#Predicate<Pod> { $0.stars > 3 })                // Foundation's macro
///     try Condition(format: "stars > 3 AND name BEGINSWITH 'AF'")  // a format string
///
/// Conditions have two truth values. Null equals null and nothing else; every other comparison with
/// null is false. ``not(_:)`` turns false into true, so `not($0.rating > 3)` is true for a record
/// without a rating. Texts are compared and searched as by Swift's `String`: by canonical
/// equivalence and by characters. Not-a-number equals nothing and has no order.
///
/// Names and types are checked against the schema when a query is prepared, before any record is
/// read. A condition that cannot be used throws ``StoreError/Code/invalidQuery``, with the position
/// in a format string.
public struct Condition<E: Entity>: Sendable {
  /// The condition, or the error that running a query with it throws.
  let content: Result<Content, StoreError>

  struct Content: Sendable {
    var tree: ConditionTree
    var positions: [String: FormatPosition] = [:]
    /// The number of nested lists of lines, calls of ``anyOf(_:)`` and calls of ``not(_:)``.
    var depth = 0
    /// Whether the condition has no line, so that a condition around it leaves it out.
    var hasNoLines = false
  }

  /// The greatest nesting of a condition.
  ///
  /// Deeper nesting would overflow a thread's stack, so such a condition is refused.
  static var deepestNesting: Int { 500 }

  static func tooDeep() -> Condition {
    Condition(
      .failure(
        .badQuery(
          "its condition is nested deeper than \(deepestNesting) levels; use isIn for long lists")))
  }

  init(_ tree: ConditionTree) { content = .success(Content(tree: tree)) }

  init(_ content: Result<Content, StoreError>) { self.content = content }

  /// The condition that is true for every record.
  public static var all: Condition { Condition(.constant(true)) }

  /// The condition that is true for no record.
  public static var none: Condition { Condition(.constant(false)) }

  /// Creates a condition from the lines of a closure, all of which must be true.
  ///
  ///     Condition<Pod> { $0.name.hasPrefix("AF"); $0.license["type"] == "MIT" }
  public init(@ConditionBuilder<E> _ build: (E.Attributes) -> Condition<E>) {
    self = build(E.attributes)
  }

  /// Creates a condition from a predicate of Foundation.
  ///
  /// Every form that compiles gives the same answer as the predicate's own `evaluate`. A part that
  /// the store cannot look up, or check on a record's bytes, is evaluated on the decoded entity,
  /// after the parts before it. Where `evaluate` would trap or throw, as in a division by zero, the
  /// query throws ``StoreError/Code/conditionFailed``.
  public init(_ predicate: Predicate<E>) {
    do throws(StoreError) {
      self.init(try ConditionTree(predicate))
    } catch {
      self.init(.failure(error))
    }
  }

  /// Parses a predicate format string, in the grammar of Apple's Predicate Programming Guide.
  ///
  /// `%@` stands for the next of `arguments` as one value, and `%K` for the next one as a key path.
  /// Arguments are never parsed, so they may come from outside.
  ///
  ///     try Condition(format: "name BEGINSWITH[c] %@ AND %K > %d", name, "downloads", 100)
  ///
  /// - Parameter arguments: values of attributes, enumerations with a raw value, and arrays and
  ///   sets of them.
  /// - Throws: ``StoreError/Code/invalidQuery``, whose cause is a ``PredicateSyntaxError`` with
  ///   line, column, the offending token and the expected syntax.
  public init(format: String, _ arguments: any Sendable...) throws(StoreError) {
    try self.init(format: format, arguments: arguments)
  }

  /// Parses a predicate format string with arguments and values for its `$variables`.
  public init(
    format: String, arguments: [any Sendable], variables: [String: any Sendable] = [:]
  ) throws(StoreError) {
    var known: [String: FormatArgument] = [:]
    for (name, value) in variables { known[name] = try FormatArgument(value, "$\(name)") }
    let parsed = try ConditionParser.parse(
      format, arguments: try FormatArgument.arguments(arguments), variables: known)
    try RawValueCheck(E.schema.cases, parsed.positions).check(parsed.tree)
    content = .success(Content(tree: parsed.tree, positions: parsed.positions))
  }
}

extension Condition: CustomStringConvertible {
  /// The condition as a format string.
  ///
  /// If the condition is within the limits of format strings, parsing the text gives the same
  /// condition. A part that only Swift code can evaluate is shown in angle brackets, which do not
  /// parse.
  public var description: String {
    switch content {
    case .success(let content): ConditionPrinter.text(content.tree)
    case .failure(let error): "<\(error.message)>"
    }
  }
}
