/// Joins the lines of a closure, each of which must be true, into one condition.
///
///     Film.where {
///       $0.energy > 3
///       if let name { $0.title == name }
///       anyOf($0.kind == .bolide, $0.isConfirmed)
///       !$0.isHidden
///     }
///
/// A line is a ``Condition`` or a Boolean attribute. Lines that `if`, `switch` and `for` leave out
/// do not count.
@resultBuilder
public enum ConditionBuilder<E: Entity> {
  /// Takes a line that is a condition.
  @_documentation(visibility: internal)
  public static func buildExpression(_ condition: Condition<E>) -> Condition<E> { condition }

  /// Takes a line that is a Boolean attribute, which must be true.
  @_documentation(visibility: internal)
  public static func buildExpression(_ attribute: Attribute<E, Bool>) -> Condition<E> {
    attribute.condition
  }

  /// Joins the conditions of all lines with AND.
  @_documentation(visibility: internal)
  public static func buildBlock(_ conditions: Condition<E>...) -> Condition<E> {
    .all(of: conditions)
  }

  /// Takes the result of an `if` without `else`.
  @_documentation(visibility: internal)
  public static func buildOptional(_ condition: Condition<E>?) -> Condition<E> {
    condition ?? .all(of: [])
  }

  /// Takes the first branch of an `if` or `switch`.
  @_documentation(visibility: internal)
  public static func buildEither(first condition: Condition<E>) -> Condition<E> { condition }

  /// Takes another branch of an `if` or `switch`.
  @_documentation(visibility: internal)
  public static func buildEither(second condition: Condition<E>) -> Condition<E> { condition }

  /// Joins the conditions of a `for` loop.
  @_documentation(visibility: internal)
  public static func buildArray(_ conditions: [Condition<E>]) -> Condition<E> {
    .all(of: conditions)
  }

  /// Takes the result of an `if #available`.
  @_documentation(visibility: internal)
  public static func buildLimitedAvailability(_ condition: Condition<E>) -> Condition<E> {
    condition
  }
}

/// A ``Condition`` or a Boolean attribute, as an argument of ``anyOf(_:)`` and similar functions.
///
/// Do not conform to this protocol.
public protocol ConditionTerm<Root>: Sendable {
  /// The entity of the condition.
  @_documentation(visibility: internal)
  associatedtype Root: Entity
  /// The term as a condition.
  @_documentation(visibility: internal)
  var condition: Condition<Root> { get }
}

extension Condition: ConditionTerm {
  /// The condition itself.
  @_documentation(visibility: internal)
  public var condition: Condition { self }
}

extension Attribute: ConditionTerm where Value == Bool {
  /// The condition that the attribute is true.
  @_documentation(visibility: internal)
  public var condition: Condition<E> { self == true }
}

/// Whether at least one of the conditions is true; false without conditions.
///
/// The conditions are evaluated in order, up to the first true one. The function takes an array of
/// conditions, too:
///
///     Film.where { film in anyOf(words.map { film.title.contains($0) }) }
public func anyOf<E: Entity>(_ terms: any ConditionTerm<E>...) -> Condition<E> {
  .any(of: terms.map { $0.condition })
}

/// Whether one of the conditions of an array is true.
@_documentation(visibility: internal)
public func anyOf<E: Entity>(_ conditions: [Condition<E>]) -> Condition<E> { .any(of: conditions) }

/// Whether all conditions are true, like the lines of a closure; for use inside ``anyOf(_:)``.
///
/// The function takes an array of conditions, too.
public func allOf<E: Entity>(_ terms: any ConditionTerm<E>...) -> Condition<E> {
  .all(of: terms.map { $0.condition })
}

/// Whether all conditions of an array are true.
@_documentation(visibility: internal)
public func allOf<E: Entity>(_ conditions: [Condition<E>]) -> Condition<E> { .all(of: conditions) }

/// Whether none of the conditions is true.
public func noneOf<E: Entity>(_ terms: any ConditionTerm<E>...) -> Condition<E> {
  .any(of: terms.map { $0.condition }).negated
}

/// Whether the condition is false.
public func not<E: Entity>(_ term: any ConditionTerm<E>) -> Condition<E> { term.condition.negated }

/// Whether the condition is false.
public prefix func ! <E: Entity>(condition: Condition<E>) -> Condition<E> { condition.negated }

/// Whether a Boolean attribute is false.
public prefix func ! <E: Entity>(attribute: Attribute<E, Bool>) -> Condition<E> {
  attribute == false
}

extension Condition {
  /// Whether all of `conditions` are true; true for an empty array.
  static func all(of conditions: [Condition]) -> Condition { joined(conditions) { .all(of: $0) } }

  /// Whether at least one of `conditions` is true; false for an empty array.
  static func any(of conditions: [Condition]) -> Condition {
    conditions.isEmpty ? .none : joined(conditions) { .any(of: $0) }
  }

  var negated: Condition {
    guard case .success(var content) = content else { return self }
    guard content.depth < Self.deepestNesting else { return .tooDeep() }
    content.tree = content.tree.negated
    content.depth += 1
    return Condition(.success(content))
  }

  private static func joined(
    _ conditions: [Condition], _ join: ([ConditionTree]) -> ConditionTree
  ) -> Condition {
    guard conditions.count != 1 else { return conditions[0] }
    var joined = Content(tree: .constant(true))
    var trees: [ConditionTree] = []
    for condition in conditions {
      guard case .success(let content) = condition.content else { return condition }
      // A condition does not count if an `if` has left out all of its lines.
      if content.hasNoLines { continue }
      trees.append(content.tree)
      joined.positions.merge(content.positions) { first, _ in first }
      joined.depth = max(joined.depth, content.depth + 1)
    }
    guard joined.depth <= deepestNesting else { return tooDeep() }
    joined.hasNoLines = trees.isEmpty
    joined.tree = join(trees)
    return Condition(.success(joined))
  }
}
