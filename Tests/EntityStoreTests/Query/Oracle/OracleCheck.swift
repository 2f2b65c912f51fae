import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// Evaluates random conditions by every plan, and compares the answers with the oracle's answers.
struct OracleCheck {
  private let core: TransactionCore
  private let entity: StoredEntity
  private let records: [FactRecord]
  private var conditions: OracleConditions
  private var random: SeededNumbers
  private(set) var shapes: [PlanShape: Int] = [:]
  private(set) var failureCount = 0
  private(set) var unsupportedCount = 0
  private(set) var runCount = 0

  init(_ core: TransactionCore, _ records: [FactRecord], salt: UInt64) throws {
    self.core = core
    self.records = records
    entity = try core.entity(named: "Specimen")
    conditions = OracleConditions(salt: salt, values: valuesByAttribute(records))
    random = SeededNumbers(salt: salt &+ 1)
  }

  /// Checks one more random condition.
  mutating func next() throws {
    var request = QueryRequest()
    let isOfRanges = random.oneIn(5)
    if isOfRanges {
      (request.condition, request.order) = conditions.severalRanges()
    } else {
      request.condition = conditions.condition()
      request.order = conditions.order()
    }
    let all: [UInt64]
    do {
      all = try expected(request)
    } catch is OracleEvaluator.Unsupported {
      unsupportedCount += 1
      all = try answer(request, .scan)
    }
    if isOfRanges || random.oneIn(3) { request.limit = random.oneIn(8) ? 0 : random.below(40) }
    if random.oneIn(6) { request.offset = random.below(30) }
    for lie in PlanningLie.allCases {
      if let difference = differenceOrError(request, lie, all) {
        report(request, lie, difference)
        return
      }
    }
    try checkPrinted(request, all)
    if random.oneIn(4) { try checkPages(request, all) }
  }

  private func expected(_ request: QueryRequest) throws -> [UInt64] {
    let oracle = OracleEvaluator()
    let found = try records.filter { try oracle.evaluate(request.condition, on: $0) }
    return OracleOrder(request.order).sorted(found).map(\.id)
  }

  private mutating func answer(
    _ request: QueryRequest, _ lie: PlanningLie
  ) throws -> [UInt64] {
    try PlanRun(lie.plan(request, for: entity, core: core, &random), core: core).ids()
  }

  private mutating func differenceOrError(
    _ request: QueryRequest, _ lie: PlanningLie, _ all: [UInt64]
  ) -> String? {
    do { return try difference(request, lie, all) } catch { return "\(error)" }
  }

  /// Describes how the answers of one plan differ from the oracle's answers.
  private mutating func difference(
    _ request: QueryRequest, _ lie: PlanningLie, _ all: [UInt64]
  ) throws -> String? {
    let plan = try lie.plan(request, for: entity, core: core, &random)
    for shape in PlanShape.shapes(of: plan) { shapes[shape, default: 0] += 1 }
    runCount += 1
    let expected = Array(all.dropFirst(request.offset).prefix(request.limit ?? .max))
    let lines = plan.description.lines.map { "\($0.title) \($0.text)" }
    func wrong(_ what: String, _ found: [UInt64]) -> String {
      let missing = Set(expected).subtracting(found).sorted()
      let same = zip(found, expected).prefix { $0 == $1 }.count
      let extra = Set(found).subtracting(expected).sorted()
      return "\(what): \(found.count) for \(expected.count), lacks \(missing.prefix(5)), has "
        + "\(extra.prefix(5)) too, from \(same) on \(found.dropFirst(same).prefix(6)) for "
        + "\(expected.dropFirst(same).prefix(6)); "
        + lines.joined(separator: "; ")
    }
    let ids = try PlanRun(plan, core: core).ids()
    if ids != expected { return wrong("ids", ids) }
    var visited: [UInt64] = []
    try PlanRun(plan, core: core).forEach { id, _ in
      visited.append(id)
      return true
    }
    if visited != expected { return wrong("forEach", visited) }
    let count = try PlanRun(plan, core: core).count()
    if count != expected.count { return wrong("count \(count)", ids) }
    return nil
  }

  private mutating func report(_ request: QueryRequest, _ lie: PlanningLie, _ text: String) {
    failureCount += 1
    let smaller = shrunk(request, lie)
    let order = smaller.order.map(\.sketch).joined(separator: ", ")
    let again =
      (try? expected(smaller)).flatMap { differenceOrError(smaller, lie, $0) } ?? "as before"
    Issue.record(
      """
      \(ConditionPrinter.text(smaller.condition)), order \(order), limit \
      \(smaller.limit ?? -1), offset \(smaller.offset), \(lie): \(again); at first: \(text), \
      \(SeededNumbers.replay)
      """)
  }

  /// A smaller part of the request that still fails.
  private mutating func shrunk(_ request: QueryRequest, _ lie: PlanningLie) -> QueryRequest {
    var best = request
    var goesOn = true
    while goesOn {
      goesOn = false
      for candidate in smaller(than: best) {
        var isWrong = false
        for _ in 0..<8 where !isWrong {
          guard let all = try? expected(candidate) else { break }
          isWrong = differenceOrError(candidate, lie, all) != nil
        }
        if isWrong {
          best = candidate
          goesOn = true
          break
        }
      }
    }
    return best
  }

  private func smaller(than request: QueryRequest) -> [QueryRequest] {
    var found: [QueryRequest] = []
    func add(_ change: (inout QueryRequest) -> Void) {
      var copy = request
      change(&copy)
      found.append(copy)
    }
    if request.limit != nil { add { $0.limit = nil } }
    if request.offset > 0 { add { $0.offset = 0 } }
    for index in request.order.indices { add { $0.order.remove(at: index) } }
    switch request.condition {
    case .all(let parts), .any(let parts):
      for part in parts { add { $0.condition = part } }
      for index in parts.indices {
        var rest = parts
        rest.remove(at: index)
        if case .all = request.condition {
          add { $0.condition = .all(of: rest) }
        } else {
          add { $0.condition = .any(of: rest) }
        }
      }
      for (index, part) in parts.enumerated() {
        var inner = QueryRequest(condition: part)
        inner.order = []
        for smaller in smaller(than: inner) {
          var changed = parts
          changed[index] = smaller.condition
          if case .all = request.condition {
            add { $0.condition = .all(changed) }
          } else {
            add { $0.condition = .any(changed) }
          }
        }
      }
    case .not(let part): add { $0.condition = part }
    default: break
    }
    return found
  }

  // MARK: As text, in pages

  private mutating func checkPrinted(_ request: QueryRequest, _ all: [UInt64]) throws {
    let text = ConditionPrinter.text(request.condition)
    var again = request
    again.limit = nil
    again.offset = 0
    again.condition = try ConditionParser.parse(
      text, limits: FormatLimits(nodes: .max, bytes: .max)
    ).tree
    let ids = try answer(again, .none)
    if ids != all {
      failureCount += 1
      Issue.record("\(text) reads as another condition, \(SeededNumbers.replay)")
    }
  }

  /// Checks pages from tokens, one after the other, each planned in its own way.
  private mutating func checkPages(_ request: QueryRequest, _ all: [UInt64]) throws {
    var request = request
    request.offset = 0
    var pages: [UInt64] = []
    var plans: [String] = []
    repeat {
      request.limit = 1 + random.below(60)
      let lie = PlanningLie.allCases[random.below(PlanningLie.allCases.count)]
      let plan = try lie.plan(request, for: entity, core: core, &random)
      plans.append(plan.description.lines.map { "\($0.title) \($0.text)" }.joined(separator: "; "))
      let run = try PlanRun(plan, core: core)
      request.after = try run.forEachOfPage { id, _ in pages.append(id) }
    } while request.after != nil && pages.count <= all.count
    if pages != all {
      failureCount += 1
      let index = zip(pages, all).prefix { $0 == $1 }.count
      Issue.record(
        """
        pages of \(ConditionPrinter.text(request.condition)), order \(request.order.map(\.sketch)): \
        \(pages.count) for \(all.count), other from \(index) on, \
        \(pages.dropFirst(index).prefix(5)) for \(all.dropFirst(index).prefix(5)); \(plans), \
        \(SeededNumbers.replay)
        """)
    }
  }
}

extension SortTerm {
  /// `-name[c] nulls first`.
  fileprivate var sketch: String {
    let options = options.isEmpty ? "" : "[\(options.rawValue)]"
    let nulls = nullsFirst.map { $0 ? " nulls first" : " nulls last" } ?? ""
    return (isDescending ? "-" : "") + ConditionPrinter.text(operand) + options + nulls
  }
}
