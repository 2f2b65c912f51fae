#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A node of a `#Predicate` that can be lowered.
///
/// Three ways through the same tree: conditions and operands go into a ``ConditionTree``; what
/// a tree cannot express is compiled into Swift code that gives what `evaluate` gives, and throws where
/// `evaluate` throws or traps. Every node compiles; the other two say "opaque" unless they know
/// better.
protocol PredicateNode<Output>: PredicateExpression {
  /// Swift code for the node.
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output>

  /// The node as a side of a comparison.
  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand

  /// The node as a condition; nil when only its code can tell. Asked only of Boolean nodes.
  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree?

  /// The node, a `Bool?`, as a condition that is `whenNil` where it is nil; nil when only its code
  /// can tell.
  func lowered<E: Entity>(
    in scope: PredicateScope<E>, whenNil: ConditionTree
  ) throws(StoreError) -> ConditionTree?

  /// The source, as far as it is known.
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

/// What the code of a predicate works on: the entity, and the values of the variables that its
/// inner closures declare, by their slots.
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
