internal import LodestoreEssentials

/// A node of a `#Predicate` that can be lowered.
///
/// A node has up to three forms. Nodes that a ``ConditionTree`` can express become conditions and
/// operands. All other nodes are compiled into Swift code, which gives the result of `evaluate` and
/// throws where `evaluate` throws or traps. Every node also has a text, for messages. Every node
/// can be compiled; by default a node is opaque and no condition.
protocol PredicateNode<Output>: PredicateExpression {
  /// Compiles the node into Swift code.
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output>

  /// Returns the node as a side of a comparison.
  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand

  /// Returns a Boolean node as a condition, or `nil` if it must be compiled.
  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree?

  /// Returns a node of type `Bool?` as a condition that is `whenNil` for nil; returns `nil` if the
  /// node must be compiled.
  func lowered<E: Entity>(
    in scope: PredicateScope<E>, whenNil: ConditionTree
  ) throws(StoreError) -> ConditionTree?

  /// Returns the node's source, with a placeholder for unknown parts.
  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText
}

extension PredicateNode {
  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand { .opaque }

  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    operand(in: scope).asCondition
  }

  func lowered<E: Entity>(
    in scope: PredicateScope<E>, whenNil: ConditionTree
  ) throws(StoreError) -> ConditionTree? {
    operand(in: scope).asCondition(whenNil: whenNil)
  }
}

/// The Swift code of a node.
struct Compiled<E: Entity, Output> {
  let run: (inout PredicateFrame<E>) throws -> Output
}

/// The state of a predicate's code: the entity, and the values of the variables of inner closures,
/// by slot.
struct PredicateFrame<E: Entity> {
  let entity: E
  private var slots: [Any] = []

  init(_ entity: E) { self.entity = entity }

  mutating func bind(_ value: Any, to slot: Int) {
    if slot < slots.count { slots[slot] = value } else { slots.append(value) }
  }

  func value<T>(of slot: Int, as type: T.Type) throws -> T {
    guard slots.indices.contains(slot), let value = slots[slot] as? T else {
      throw PredicateEvaluationError("no value of type \(T.self)", in: "$\(slot + 1)")
    }
    return value
  }
}
