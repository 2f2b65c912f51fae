import Synchronization

@testable import EntityStore

/// The steps of a run that are counted.
struct Steps {
  var entries = 0
  var records = 0
  /// The number of results passed to the caller.
  var results = 0

  /// The largest difference between the two counts of entries, records or results.
  func gap(to other: Steps) -> Int {
    max(other.entries - entries, other.records - records, other.results - results)
  }
}

/// Queries whose runs loop over many entries, records or results.
enum WatchedRun: CaseIterable {
  case scan, scanOfFew, scanBackwards
  case indexRange, manyKeys, union, idsOfEntries, countOfEntries, coveredValues
  case indexOrder, indexOrderOfFew
  case sort, firstOfSort
  case groups, groupsOfEntries, groupsOfFile, totals

  /// The record of a run until it was done or cancelled.
  struct Trace {
    var isCancelled = false
    /// The number of times that the run asked whether to continue.
    var questions = 0
    var steps = Steps()
    /// The number of results when the run was cancelled.
    var resultsWhenCancelled: Int?
  }

  /// Runs the query on motes.
  ///
  /// The check with the number `cancelledAt` finds the run cancelled.
  func trace(_ core: TransactionCore, cancelledAt: Int?) throws -> Trace {
    let answers = Answers(cancelledAt)
    var request = try query.request()
    if self == .scanBackwards {
      request.order = [
        SortTerm(ValuePath(attribute: ValuePath.recordIDName), isDescending: true)
      ]
    }
    let run = try PlanRun(
      try core.plan(request, for: try core.entity(Mote.self)), core: core,
      control: RunControl(isCancelled: { answers.next() }))
    var trace = Trace()
    do {
      try visit(run) {
        trace.steps.results += 1
        answers.results.store(trace.steps.results, ordering: .relaxed)
      }
    } catch let error as StoreError where error.code == .cancelled {
      trace.isCancelled = true
    }
    trace.questions = answers.questions.load(ordering: .relaxed)
    trace.steps.entries = run.counts.entriesRead
    trace.steps.records = run.counts.recordsRead
    if trace.isCancelled {
      trace.resultsWhenCancelled = answers.resultsWhenCancelled.load(ordering: .relaxed)
    }
    return trace
  }

  private var query: Query<Mote> {
    get throws {
      let all = Mote.all
      switch self {
      case .scan, .scanBackwards, .groupsOfEntries, .groupsOfFile: return all
      case .scanOfFew, .totals:
        return all.where { anyOf($0.text.matches("t.*(1|2|3)[0-9]* .*"), $0.text.contains("9")) }
      case .groups: return all.where { $0.text.contains("t") }
      case .indexRange, .idsOfEntries, .countOfEntries, .coveredValues:
        return all.where { $0.number >= 0 }.requiringIndex()
      case .manyKeys:
        return try all.where(format: "number IN %@", Array(0..<20_000)).requiringIndex()
      case .union: return try all.where(format: "number < 6000 OR number > 6500").requiringIndex()
      case .indexOrder: return all.sorted(by: \.number.ascending).limit(11_000)
      case .indexOrderOfFew:
        return all.where {
          $0.number >= 0; $0.text.contains("9")
        }
        .sorted(by: \.number.descending).limit(11_000).requiringIndex()
      case .sort: return all.sorted(by: \.text.ascending, \.number.descending)
      case .firstOfSort: return all.sorted(by: \.text.descending).limit(9_000)
      }
    }
  }

  private func visit(_ run: PlanRun, _ onResult: @escaping () -> Void) throws {
    switch self {
    case .idsOfEntries: _ = try run.ids()
    case .countOfEntries: _ = try run.count()
    case .coveredValues:
      let number = try ConditionBinding(run.entity).attribute(of: ValuePath(attribute: "number"))
      _ = try run.forEachCovered([number.number]) { _ in
        onResult()
        return true
      }
    case .groups: _ = try run.groups(by: [ValuePath(attribute: "text")], [GroupTerm(.count)])
    case .groupsOfEntries: _ = try run.groups(by: [ValuePath(attribute: "number")])
    case .groupsOfFile:
      run.groupMemory = 1 << 16
      _ = try run.groups(by: [ValuePath(attribute: "text")], [GroupTerm(.count)])
    case .totals: _ = try run.totals([GroupTerm(.average, ValuePath(attribute: "number"))])
    default:
      try run.forEach { _, _ in
        onResult()
        return true
      }
    }
  }
}

/// Answers a run's questions whether it is cancelled, and counts them.
private final class Answers: Sendable {
  private let cancelledAt: Int?
  let questions = Atomic(0)
  let results = Atomic(0)
  let resultsWhenCancelled = Atomic(0)

  init(_ cancelledAt: Int?) { self.cancelledAt = cancelledAt }

  func next() -> Bool {
    let question = questions.add(1, ordering: .relaxed).newValue
    guard question == cancelledAt else { return false }
    resultsWhenCancelled.store(results.load(ordering: .relaxed), ordering: .relaxed)
    return true
  }
}
