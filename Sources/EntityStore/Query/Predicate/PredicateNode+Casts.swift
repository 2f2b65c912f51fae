#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PredicateExpressions.ConditionalCast: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let input = try scope.compile(input)
    return Compiled { try input.run(&$0) as? Desired }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    PredicateText(scope.text(input), "as?", PredicateText("\(Desired.self)"), .cast)
  }
}

extension PredicateExpressions.ForceCast: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let input = try scope.compile(input)
    return Compiled { frame in
      guard let value = try input.run(&frame) as? Desired else {
        throw scope.failure("value of another type", self)
      }
      return value
    }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    PredicateText(scope.text(input), "as!", PredicateText("\(Desired.self)"), .cast)
  }
}

extension PredicateExpressions.TypeCheck: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Bool> {
    let input = try scope.compile(input)
    return Compiled { try input.run(&$0) is Desired }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    PredicateText(scope.text(input), "is", PredicateText("\(Desired.self)"), .cast)
  }
}

extension PredicateExpressions.StringContainsRegex: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Bool> {
    let subject = try scope.compile(subject)
    let regex = try scope.compile(regex)
    return Compiled { try subject.run(&$0).contains(regex.run(&$0)) }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    scope.text(subject).followed(by: ".contains(/…/)")
  }
}
