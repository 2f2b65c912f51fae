#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PredicateExpressions.CollectionIndexSubscript: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let wrapped = try scope.compile(wrapped)
    let index = try scope.compile(index)
    return Compiled { frame in
      let collection = try wrapped.run(&frame)
      let index = try index.run(&frame)
      guard index >= collection.startIndex && index < collection.endIndex else {
        throw scope.failure("index out of range", self)
      }
      return collection[index]
    }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    scope.text(wrapped).followed(by: "[\(scope.text(index).string)]")
  }
}

extension PredicateExpressions.CollectionRangeSubscript: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let wrapped = try scope.compile(wrapped)
    let range = try scope.compile(range)
    return Compiled { frame in
      let collection = try wrapped.run(&frame)
      let range = try range.run(&frame)
      guard range.lowerBound >= collection.startIndex && range.upperBound <= collection.endIndex
      else { throw scope.failure("range out of range", self) }
      return collection[range]
    }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    scope.text(wrapped).followed(by: "[\(scope.text(range).string)]")
  }
}

extension PredicateExpressions.DictionaryKeySubscript: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let wrapped = try scope.compile(wrapped)
    let key = try scope.compile(key)
    return Compiled { try wrapped.run(&$0)[key.run(&$0)] }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    scope.text(wrapped).followed(by: "[\(scope.text(key).string)]")
  }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let wrapped = try scope.compile(wrapped)
    let key = try scope.compile(key)
    let fallback = try scope.compile(self.default)
    return Compiled { frame in
      if let value = try wrapped.run(&frame)[key.run(&frame)] { return value }
      return try fallback.run(&frame)
    }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    let arguments = "\(scope.text(key).string), default: \(scope.text(self.default).string)"
    return scope.text(wrapped).followed(by: "[\(arguments)]")
  }
}
