import Synchronization
import Testing

@testable import EntityStore

/// A run asks often whether to continue.
///
/// The distance is counted in records and not in time.
@Suite struct CancellationTests {
  private static let count = 6_000
  /// The maximum number of entries, records or results between two questions.
  private static let longestGap = 1_024

  @Test(arguments: WatchedRun.allCases)
  func `A run checks for cancellation every thousand steps, and stops at once`(
    run: WatchedRun
  ) throws {
    try withTemporaryStore([Mote.self]) { store in
      try store.write { transaction in
        _ = try transaction.insert(
          (0..<Self.count).lazy.map { number in
            Mote(number: number &* 7_919 % Self.count, text: "text \(number % 1_000)")
          })
      }
      try store.core.read { core throws in
        let whole = try run.trace(core, cancelledAt: nil)
        #expect(!whole.isCancelled)
        #expect(whole.questions >= Self.count / Self.longestGap)
        var last = Steps()
        for question in 1...whole.questions {
          let part = try run.trace(core, cancelledAt: question)
          #expect(part.isCancelled && part.questions == question)
          #expect(part.resultsWhenCancelled == part.steps.results)
          #expect(last.gap(to: part.steps) <= Self.longestGap, "before question \(question)")
          last = part.steps
        }
        #expect(last.gap(to: whole.steps) <= Self.longestGap, "behind the last question")
      }
    }
  }

  @Test func `A batch checks for cancellation every thousand records`() throws {
    try withTemporaryStore([Mote.self]) { store in
      try store.write { transaction in
        _ = try transaction.insert((0..<5_000).lazy.map { Mote(number: $0, text: "") })
      }
      let results = try store.results(Mote.all)
      var questions = 0
      let all = try results.values {
        questions += 1
        return false
      }
      #expect(all.count == 5_000 && questions >= 4)
      questions = 0
      let error = #expect(throws: StoreError.self) {
        _ = try results.values {
          questions += 1
          return questions == 3
        }
      }
      #expect(error?.code == .cancelled && questions == 3)
    }
  }

  @Test func `The elements that a SUBQUERY reads are steps too`() throws {
    try withTemporaryStore([Trial.self]) { store in
      var trial = Trial(2)
      trial.json = .array((0..<5_000).map { .integer($0) })
      let stored = trial
      try store.write { transaction in _ = try transaction.insert(stored) }
      let query = try Trial.where(format: "SUBQUERY(json, $x, $x < 0).@count == 0")
      try store.core.read { core throws in
        let questions = Mutex(0)
        let control = RunControl(isCancelled: {
          questions.withLock { $0 += 1 }
          return false
        })
        #expect(try core.run(query, control: control).count() == 1)
        #expect(questions.withLock { $0 } >= 4)
      }
    }
  }
}
