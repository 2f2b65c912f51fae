internal import LodestoreEssentials
internal import LodestoreFormat

/// The code of a whole condition.
///
/// `@unchecked Sendable`: the code is made of the parts of a predicate, which is `Sendable`, but
/// the compiler cannot see this.
private struct SendableCode<E: Entity>: @unchecked Sendable {
  let run: (inout PredicateFrame<E>) throws -> Bool
}

/// The meaning of a variable in a predicate.
enum PredicateBinding {
  case record
  /// The value of an optional node, which earlier conditions have found not to be nil.
  case unwrapped(any PredicateExpression)
  /// The slot of an element or a value, which is set while the code runs.
  case slot(Int)
}

private struct BoundVariable {
  let key: PredicateExpressions.VariableID
  let binding: PredicateBinding
}

/// The variables at a position in a predicate and their meanings.
///
/// The type is a class because copying a generic struct whose type is known only at run time is
/// slow. A scope does not change after it has been returned.
final class PredicateScope<E: Entity> {
  let attributes: PredicateAttributes
  private var bound: [BoundVariable] = []
  private var slotCount = 0
  /// The attributes that earlier conditions have found not to be null.
  private var present: [String] = []
  /// The closures that bind all variables except the record's, for nodes of another library.
  private var binders: [(inout PredicateFrame<E>, inout PredicateBindings) throws -> Void] = []
  private let record: PredicateExpressions.Variable<E>

  init(record: PredicateExpressions.Variable<E>) {
    attributes = .of(E.self)
    self.record = record
  }

  private init(copying other: PredicateScope) {
    attributes = other.attributes
    bound = other.bound
    slotCount = other.slotCount
    present = other.present
    binders = other.binders
    record = other.record
  }

  func binding(of key: PredicateExpressions.VariableID) -> PredicateBinding? {
    key == record.key ? .record : bound.last { $0.key == key }?.binding
  }

  /// Returns the scope of a closure that runs for each value, and the slot of the value.
  func binding<T>(
    _ variable: PredicateExpressions.Variable<T>
  ) -> (scope: PredicateScope, slot: Int) {
    let scope = PredicateScope(copying: self)
    let slot = slotCount
    scope.slotCount += 1
    scope.bound.append(BoundVariable(key: variable.key, binding: .slot(slot)))
    scope.binders.append { frame, bindings in
      bindings[variable] = try frame.value(of: slot, as: T.self)
    }
    return (scope, slot)
  }

  /// Returns the scope of a condition after one that has found `node` not to be nil.
  func unwrapping<T>(
    _ node: some PredicateExpression<T?>, as variable: PredicateExpressions.Variable<T>
  ) -> PredicateScope {
    let scope = PredicateScope(copying: self)
    scope.bound.append(BoundVariable(key: variable.key, binding: .unwrapped(node)))
    scope.binders.append { frame, bindings in
      bindings[variable] = try self.compile(node).run(&frame)
    }
    return scope
  }

  /// Returns the scope of a part that is evaluated only if `condition` has the result `value`.
  func assuming(_ condition: ConditionTree, is value: Bool) -> PredicateScope {
    let found = condition.presentAttributes(being: value)
    guard !found.isEmpty else { return self }
    let scope = PredicateScope(copying: self)
    scope.present += found
    return scope
  }

  func isPresent(_ attribute: String) -> Bool { present.contains(attribute) }
}

extension ConditionTree {
  /// Returns the attributes that are not null whenever the condition has the result `value`.
  fileprivate func presentAttributes(being value: Bool) -> [String] {
    switch self {
    case .all(let parts) where value: return parts.flatMap { $0.presentAttributes(being: true) }
    case .any(let parts) where !value: return parts.flatMap { $0.presentAttributes(being: false) }
    case .not(let part): return part.presentAttributes(being: !value)
    case .comparison(let comparison):
      guard comparison.operator == (value ? .notEqual : .equal),
        comparison.right == .value(.null), case .path(let path) = comparison.left,
        path.root == .record, path.steps.count == 1, case .member(let name)? = path.steps.first
      else { return [] }
      return [name]
    default: return []
    }
  }
}

extension PredicateScope {
  func operand(_ node: some PredicateExpression) -> PredicateOperand {
    (node as? any PredicateNode)?.operand(in: self) ?? .opaque
  }

  func text(_ node: some PredicateExpression) -> PredicateText {
    (node as? any PredicateNode)?.text(in: self) ?? PredicateText(function: "\(type(of: node))", [])
  }

  /// Returns the node as a condition.
  ///
  /// Parts that a condition tree cannot express become code.
  func condition(_ node: some PredicateExpression<Bool>) throws(StoreError) -> ConditionTree {
    if let node = node as? any PredicateNode, let condition = try node.lowered(in: self) {
      return condition
    }
    return try closure(node)
  }

  func condition<T>(
    _ node: some PredicateExpression<T?>, whenNil: ConditionTree
  ) throws(StoreError) -> ConditionTree? {
    try (node as? any PredicateNode)?.lowered(in: self, whenNil: whenNil)
  }

  private func closure(_ node: some PredicateExpression<Bool>) throws(StoreError) -> ConditionTree {
    let code = SendableCode(run: try compile(node).run)
    return .closure(
      ConditionClosure(text: text(node).string) { (entity: E) in
        var frame = PredicateFrame(entity)
        return try code.run(&frame)
      })
  }

  func compile<N: PredicateExpression>(_ node: N) throws(StoreError) -> Compiled<E, N.Output> {
    guard let known = node as? any PredicateNode else { return foreign(node) }
    guard let code = try erasedCode(of: known) as? Compiled<E, N.Output> else {
      throw .unusableExpression(text(node).string, entity: E.schema.name)
    }
    return code
  }

  /// Compiles `node`, whose code has the type `Compiled<E, Output>`.
  func compile<Output>(
    erased node: any PredicateExpression, as type: Output.Type
  ) throws(StoreError) -> Compiled<E, Output>? {
    func open<N: PredicateExpression>(_ node: N) throws(StoreError) -> Any { try compile(node) }
    return try open(node) as? Compiled<E, Output>
  }

  private func erasedCode(of node: some PredicateNode) throws(StoreError) -> Any {
    try node.compile(in: self)
  }

  /// Returns the code for a node of another library, which calls the node's own `evaluate`.
  func foreign<N: PredicateExpression>(_ node: N) -> Compiled<E, N.Output> {
    let record = record
    let binders = binders
    return Compiled { frame in
      var bindings = PredicateBindings((record, frame.entity))
      for bind in binders { try bind(&frame, &bindings) }
      return try node.evaluate(bindings)
    }
  }

  /// Returns the error that the code of `node` throws if it has no value.
  func failure(
    _ fault: PredicateFault, _ node: some PredicateExpression
  ) -> PredicateEvaluationError {
    PredicateEvaluationError(fault.rawValue, in: text(node).string)
  }
}

extension ConditionTree {
  /// Lowers `predicate` part by part, to conditions where a tree has the same meaning, and
  /// otherwise to Swift code on the decoded entity.
  ///
  /// Throws ``StoreError/Code/invalidQuery`` with the name of a part that can be neither lowered
  /// nor evaluated.
  init<E: Entity>(_ predicate: Predicate<E>) throws(StoreError) {
    self = try PredicateScope(record: predicate.variable).condition(predicate.expression)
  }
}

extension StoreError {
  static func unusableExpression(_ expression: String, entity: String) -> StoreError {
    StoreError(
      .invalidQuery,
      "cannot use the predicate on \(entity): '\(expression)' can be neither looked up nor "
        + "evaluated; write it with #Predicate", entity: entity)
  }

  static func unboundVariable(entity: String) -> StoreError {
    StoreError(
      .invalidQuery,
      "cannot use the predicate on \(entity): it has a variable that is neither the record nor "
        + "declared by a closure in it; write it with #Predicate", entity: entity)
  }
}
