internal import LodestoreFormat

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What must be true of the records that a query finds.
///
/// There are three ways to say one, with one meaning:
///
///     Pod.where { $0.stars > 3; $0.name.hasPrefix("AF") }        // lines; all must be true
///     Condition(#Predicate<Pod> { $0.stars > 3 })                // Foundation's macro
///     try Condition(format: "stars > 3 AND name BEGINSWITH 'AF'")  // a format string
///
/// Logic has two values. Null is equal to null and to nothing else; every other comparison with
/// null is false; ``not(_:)`` turns false into true, so that
/// `not($0.rating > 3)` is true where there is no rating. Text is equal, ordered and searched as Swift's `String` does it: by canonical
/// equivalence and by characters. Not-a-number is equal to nothing and has no order.
///
/// Names and types are checked against the schema when a query is prepared, before any record is
/// read; what cannot be used is ``StoreError/Code/invalidQuery``, with its position in a format string.
public struct Condition<E: Entity>: Sendable {
  /// An error of the condition is kept, and thrown when the query is run.
  let content: Result<Content, StoreError>

  struct Content: Sendable {
    var tree: ConditionTree
    var positions: [String: FormatPosition] = [:]
    /// Levels that lines, ``anyOf(_:)`` and ``not(_:)`` have put around it.
    var depth = 0
    /// Whether no line says anything.
    var isUnsaid = false
  }

  /// What is nested deeper would overflow the stack of a thread, and is no condition.
  static var deepestNesting: Int { 500 }

  static func tooDeep() -> Condition {
    Condition(
      .failure(
        .badQuery(
          "its condition is nested deeper than \(deepestNesting) levels; use isIn for long lists")))
  }

  init(_ tree: ConditionTree) { content = .success(Content(tree: tree)) }

  init(_ content: Result<Content, StoreError>) { self.content = content }

  /// True for every record.
  public static var all: Condition { Condition(.constant(true)) }

  /// True for no record.
  public static var none: Condition { Condition(.constant(false)) }

  /// The condition whose lines `build` has; all must be true.
  ///
  ///     Condition<Pod> { $0.name.hasPrefix("AF"); $0.license["type"] == "MIT" }
  public init(@ConditionBuilder<E> _ build: (E.Attributes) -> Condition<E>) {
    self = build(E.attributes)
  }

  /// Takes over a predicate of Foundation.
  ///
  /// Every form that compiles gives the answer of the predicate's own `evaluate`. What the store
  /// cannot look up or check on a record's bytes is evaluated on the decoded entity, behind what
  /// stands in front of it. Where `evaluate` would trap or throw, as in a division by zero, the
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
  /// `%@` stands for the next of `arguments` as one value, `%K` for one that is a key path, so that
  /// no text from outside is ever parsed.
  ///
  ///     try Condition(format: "name BEGINSWITH[c] %@ AND %K > %d", name, "downloads", 100)
  ///
  /// - Parameter arguments: values of attributes, enumerations with a raw value, and arrays and sets of them.
  /// - Throws: ``StoreError/Code/invalidQuery``, whose cause is a ``PredicateSyntaxError`` with line,
  ///   column, the offending token and what was expected.
  public init(format: String, _ arguments: any Sendable...) throws(StoreError) {
    try self.init(format: format, arguments: arguments)
  }

  /// Parses a predicate format string with arguments and the values of its `$variables`.
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
  /// The condition as a format string, which parses to the same condition while it keeps to the
  /// limits of format strings.
  ///
  /// What only Swift code can tell appears in angle brackets, which no format string has.
  public var description: String {
    switch content {
    case .success(let content): ConditionPrinter.text(content.tree)
    case .failure(let error): "<\(error.message)>"
    }
  }
}
