import Foundation
import Testing

@testable import EntityStore
@testable import LodestoreFormat

@Suite struct LoweredPredicateTests {
  @Test func `Comparisons of a record agree with evaluate on the entity`() throws {
    try expectSameAnswers(PredicateCases.comparisons())
  }

  @Test func `Logic, ranges, lists and texts agree with evaluate`() throws {
    try expectSameAnswers(PredicateCases.lists())
  }

  @Test func `Optionals, branches, arithmetic and collections agree with evaluate`() throws {
    try expectSameAnswers(PredicateCases.expressions())
  }

  /// Evaluates each predicate on random stored entities, by the store and by Foundation.
  private func expectSameAnswers(_ cases: PredicateCases<AllTypes>) throws {
    var random = SeededNumbers(salt: UInt64(cases.all.count))
    let count = SeededNumbers.environmentNumber("LODESTORE_PREDICATE_ENTITIES") ?? 300
    let entities = (0..<count).map { _ in AllTypes.nasty(&random) }
    try withTemporaryStore([AllTypes.self]) { store in
      try store.write { transaction in
        for entity in entities { _ = try transaction.insert(entity) }
      }
      let trees = try cases.all.map { try ConditionTree($0.predicate) }
      var answers = [Set<Answer>](repeating: [], count: trees.count)
      try store.core.read { core in
        let stored = try core.entity(AllTypes.self)
        let names = AllTypes.schema.attributes.map(\.name)
        for id in 1...UInt64(count) {
          let bytes = try #require(try core.record(id, of: stored))
          let entity = try core.decode(AllTypes.self, bytes, id: id, of: stored)
          let values = try stored.values(of: stored.view(bytes, id: id))
          let record = ReferenceEvaluator.Record(
            id: id, values: Dictionary(uniqueKeysWithValues: zip(names, values)))
          let evaluator = ReferenceEvaluator { closure, _ in
            try closure.evaluate(bytes, id: id, of: stored, core: core)
          }
          for (index, item) in cases.all.enumerated() {
            let expected = Answer { try item.predicate.evaluate(entity) }
            let answer = Answer { try evaluator.evaluate(trees[index], on: record) }
            answers[index].insert(answer)
            if answer != expected {
              // Only the used attributes are printed, because a record with not-a-number as a date
              // cannot be printed.
              let sketch = trees[index].sketch
              let values = record.values.filter { sketch.contains($0.key) }
              Issue.record(
                """
                \(item.name): \(sketch) \(answer), evaluate \(expected), on \(values), \
                \(SeededNumbers.replay)
                """)
            }
          }
        }
      }
      for (item, answers) in zip(cases.all, answers) {
        #expect(answers != [.failure], "\(item.name), \(SeededNumbers.replay)")
      }
    }
  }

  private enum Answer: Equatable {
    case holds, fails, failure

    init(_ body: () throws -> Bool) {
      do { self = try body() ? .holds : .fails } catch { self = .failure }
    }
  }
}
