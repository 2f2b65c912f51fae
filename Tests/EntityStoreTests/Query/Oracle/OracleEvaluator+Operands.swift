import Foundation

@testable import EntityStore
@testable import LodestoreFormat

extension OracleEvaluator {
  func fact(_ operand: Operand, _ record: FactRecord, _ scope: Scope) throws -> Fact {
    switch operand {
    case .value(let value): return try Fact(value)
    case .values(let values): return .list(try values.map { try Fact($0) })
    case .list(let parts): return .list(try parts.map { try fact($0, record, scope) })
    case .path(let path): return try follow(path, record, scope)
    case .arithmetic(let symbol, let a, let b):
      return try arithmetic(symbol, fact(a, record, scope), fact(b, record, scope))
    case .negative(let inner):
      return try arithmetic(.subtract, .value(.integer(0)), fact(inner, record, scope))
    case .conditional(let test, let a, let b):
      return try fact(evaluate(test, on: record, scope) ? a : b, record, scope)
    case .subquery(let collection, let variable, let test, let steps):
      let found = try (fact(collection, record, scope).elements ?? []).filter {
        try evaluate(test, on: record, scope + [(variable, $0)])
      }
      return try follow(steps[...], from: .list(found))
    case .call(let function, let arguments):
      guard let argument = arguments.first else { throw Unsupported(what: "\(function)") }
      return try call(function, fact(argument, record, scope))
    case .cast, .variable: throw Unsupported(what: "\(operand)")
    }
  }

  // MARK: Paths

  private func follow(_ path: ValuePath, _ record: FactRecord, _ scope: Scope) throws -> Fact {
    if case .variable(let name) = path.root {
      guard let element = scope.last(where: { $0.name == name })?.element else {
        throw Unsupported(what: name)
      }
      return try follow(path.steps[...], from: element)
    }
    guard case .member(let name)? = path.steps.first else {
      return .value(.integer(unsigned: record.id))
    }
    if name == "_id" { return .value(.integer(unsigned: record.id)) }
    guard let fact = record.facts[name] else { throw Unsupported(what: name) }
    return try follow(path.steps.dropFirst(), from: fact)
  }

  private func follow(_ steps: ArraySlice<ValuePath.Step>, from fact: Fact) throws -> Fact {
    guard let step = steps.first else { return fact }
    let rest = steps.dropFirst()
    switch (step, fact) {
    case (.member(let name), .object(let members)):
      return try follow(rest, from: members[name] ?? .null)
    case (.member, .list(let elements)):
      let found = try elements.map { try follow(steps, from: $0) }.filter { !$0.isNull }
      return found.isEmpty ? .null : .list(found)
    case (.member, .value): return try follow(rest, from: .null)
    case (.element(let index), .list(let elements)):
      return try follow(rest, from: elements.indices.contains(index) ? elements[index] : .null)
    case (.first, .list(let elements)): return try follow(rest, from: elements.first ?? .null)
    case (.last, .list(let elements)): return try follow(rest, from: elements.last ?? .null)
    case (.element, .value), (.first, .value), (.last, .value): return try follow(rest, from: .null)
    case (.size, _): return .value(.integer(Int64(fact.elements?.count ?? 0)))
    case (.aggregate(.count), _):
      return .value(.integer(Int64(fact.elements?.count ?? (fact.isNull ? 0 : 1))))
    case (.aggregate(let function), _):
      return try aggregate(
        function, (fact.elements ?? [fact]).map { try follow(rest, from: $0) })
    case (.element, .object), (.first, .object), (.last, .object):
      throw Unsupported(what: "an index of an object")
    }
  }

  // MARK: Numbers

  private enum Number {
    case integer(Int128), double(Double)

    init?(_ fact: Fact) {
      switch fact.scalar {
      case .bool(let flag)?: self = .integer(flag ? 1 : 0)
      case .integer(let number)?: self = .integer(Int128(number))
      case .unsigned(let number)?: self = .integer(Int128(number))
      case .double(let number)?: self = .double(number)
      default: return nil
      }
    }

    var double: Double {
      switch self {
      case .integer(let number): Double(number)
      case .double(let number): number
      }
    }

    /// The number as a fact; null for an integer beyond 64 bits.
    var fact: Fact {
      switch self {
      case .double(let number): .value(.double(number))
      case .integer(let number):
        .value(
          Int64(exactly: number).map { .integer($0) }
            ?? UInt64(exactly: number).map { .unsigned($0) } ?? .null)
      }
    }
  }

  private func arithmetic(_ symbol: ArithmeticOperator, _ a: Fact, _ b: Fact) throws -> Fact {
    guard let a = Number(a), let b = Number(b) else {
      if a.isNull || b.isNull { return .null }
      throw Unsupported(what: "arithmetic on other than numbers")
    }
    if case (.integer(let x), .integer(let y)) = (a, b), symbol != .power {
      let result: Int128? =
        switch symbol {
        case .add: x + y
        case .subtract: x - y
        case .multiply: x.multipliedReportingOverflow(by: y).overflow ? nil : x * y
        case .divide: y == 0 ? nil : x / y
        case .remainder: y == 0 ? nil : x % y
        case .power: nil
        case .and: x & y
        case .or: x | y
        case .exclusiveOr: x ^ y
        case .shiftLeft: y < 0 ? nil : x == 0 ? 0 : y > 64 ? nil : x << y
        case .shiftRight: y < 0 ? nil : x >> y
        }
      return result.map { Number.integer($0).fact } ?? .null
    }
    if symbol.isBitwise { return .null }
    let (x, y) = (a.double, b.double)
    let result: Double =
      switch symbol {
      case .add: x + y
      case .subtract: x - y
      case .multiply: x * y
      case .divide: x / y
      case .remainder: x.truncatingRemainder(dividingBy: y)
      case .power: pow(x, y)
      case .and, .or, .exclusiveOr, .shiftLeft, .shiftRight: .nan
      }
    return .value(.double(result))
  }

  /// Applies `function` to the values that are not null.
  ///
  /// Without values, a count or sum is 0, and other results are null.
  private func aggregate(_ function: CollectionOperator, _ facts: [Fact]) throws -> Fact {
    let numbers = facts.filter { !$0.isNull }
    switch function {
    case .count: return .value(.integer(Int64(numbers.count)))
    case .sum:
      return try numbers.filter { Number($0) != nil }
        .reduce(.value(.integer(0))) { try arithmetic(.add, $0, $1) }
    case .avg:
      let found = numbers.compactMap { Number($0)?.double }
      return found.isEmpty ? .null : .value(.double(found.reduce(0, +) / Double(found.count)))
    case .min, .max:
      guard numbers.allSatisfy({ Number($0) != nil }) else { throw Unsupported(what: "min") }
      return numbers.reduce(.null) { best, next in
        guard let a = Number(best)?.double, let b = Number(next)?.double else { return next }
        return (function == .min ? b < a : b > a) ? next : best
      }
    }
  }

  private func call(_ function: OperandFunction, _ fact: Fact) throws -> Fact {
    switch (function, fact) {
    case (.uppercase, .value(.string(let text))): return .value(.string(text.uppercased()))
    case (.lowercase, .value(.string(let text))): return .value(.string(text.lowercased()))
    case (.length, .value(.string(let text))): return .value(.integer(Int64(text.count)))
    case (.abs, .value(.double(let number))): return .value(.double(abs(number)))
    case (.abs, .value(.integer(let number))):
      return Number.integer(abs(Int128(number))).fact
    case (.sqrt, .value(.double(let number))): return .value(.double(number.squareRoot()))
    case (.sqrt, .value(.integer(let number))):
      return .value(.double(Double(number).squareRoot()))
    case (.count, _): return try aggregate(.count, fact.elements ?? [fact])
    case (_, .value(.null)): return .null
    default: throw Unsupported(what: "\(function)")
    }
  }
}
