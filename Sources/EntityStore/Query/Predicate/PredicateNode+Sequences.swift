#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PredicateExpressions.SequenceContains: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Bool> {
    let sequence = try scope.compile(sequence)
    let element = try scope.compile(element)
    return Compiled { try sequence.run(&$0).contains(element.run(&$0)) }
  }

  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    guard case .constant(let list) = scope.operand(sequence) else { return nil }
    let element = scope.operand(element)
    if let range = list as? any ConstantRange {
      return PredicateOperand.isMember(element, of: range)
    }
    return PredicateOperand.isMember(element, of: list, as: RHS.Output.self) { value in
      (list as? LHS.Output)?.contains(value) ?? false
    }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    scope.text(sequence).followed(by: ".contains(\(scope.text(element).string))")
  }
}

extension PredicateExpressions.SequenceStartsWith: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Bool> {
    let base = try scope.compile(base)
    let prefix = try scope.compile(prefix)
    return Compiled { try base.run(&$0).starts(with: prefix.run(&$0)) }
  }

  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    guard Base.Output.self == String.self, Prefix.Output.self == String.self else { return nil }
    return PredicateOperand.compareText(
      scope.operand(base), .beginsWith, scope.operand(prefix)
    ) { $0.starts(with: $1) }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    scope.text(base).followed(by: ".starts(with: \(scope.text(prefix).string))")
  }
}

extension PredicateExpressions.CollectionContainsCollection: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Bool> {
    let base = try scope.compile(base)
    let other = try scope.compile(other)
    return Compiled { try base.run(&$0).contains(other.run(&$0)) }
  }

  func lowered<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> ConditionTree? {
    guard Base.Output.self == String.self, Other.Output.self == String.self else { return nil }
    return PredicateOperand.compareText(
      scope.operand(base), .contains, scope.operand(other)
    ) { text, part in
      (text as? Base.Output).flatMap { base in
        (part as? Other.Output).map { base.contains($0) }
      } ?? false
    }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    scope.text(base).followed(by: ".contains(\(scope.text(other).string))")
  }
}

extension PredicateExpressions.SequenceContainsWhere: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Bool> {
    let sequence = try scope.compile(sequence)
    let (inner, slot) = scope.binding(variable)
    let test = try inner.compile(test)
    return Compiled { frame in
      for element in try sequence.run(&frame) {
        frame.bind(element, to: slot)
        if try test.run(&frame) { return true }
      }
      return false
    }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    let test = scope.binding(variable).scope.text(test).string
    return scope.text(sequence).followed(by: ".contains { \(test) }")
  }
}

extension PredicateExpressions.SequenceAllSatisfy: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Bool> {
    let sequence = try scope.compile(sequence)
    let (inner, slot) = scope.binding(variable)
    let test = try inner.compile(test)
    return Compiled { frame in
      for element in try sequence.run(&frame) {
        frame.bind(element, to: slot)
        guard try test.run(&frame) else { return false }
      }
      return true
    }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    let test = scope.binding(variable).scope.text(test).string
    return scope.text(sequence).followed(by: ".allSatisfy { \(test) }")
  }
}

extension PredicateExpressions.Filter: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let sequence = try scope.compile(sequence)
    let (inner, slot) = scope.binding(variable)
    let filter = try inner.compile(filter)
    return Compiled { frame in
      var result: Output = []
      for element in try sequence.run(&frame) {
        frame.bind(element, to: slot)
        if try filter.run(&frame) { result.append(element) }
      }
      return result
    }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    let test = scope.binding(variable).scope.text(filter).string
    return scope.text(sequence).followed(by: ".filter { \(test) }")
  }
}

extension PredicateExpressions.SequenceMinimum: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let elements = try scope.compile(elements)
    return Compiled { try elements.run(&$0).min() }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    scope.text(elements).followed(by: ".min()")
  }
}

extension PredicateExpressions.SequenceMaximum: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let elements = try scope.compile(elements)
    return Compiled { try elements.run(&$0).max() }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    scope.text(elements).followed(by: ".max()")
  }
}
