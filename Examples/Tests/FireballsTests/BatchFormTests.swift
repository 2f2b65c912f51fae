import Fireballs
import Foundation
import Lodestore
import Testing

@Suite struct BatchFormTests {
  @Test(arguments: BatchForm.allCases)
  func `each form inserts equal records and makes no duplicates`(form: BatchForm) async throws {
    try await withFireballs { fireballs in
      let rows = Fireball.repeated(Fireball.samples, to: 1_000)
      let first = try form.insert(rows, into: fireballs.store)
      #expect(first.insertedCount == 1_000)
      let again = try form.insert(rows, into: fireballs.store)
      #expect(again.insertedCount == 0)
      #expect(again.unchangedCount == 1_000)
      let stored = try fireballs.store.fetch(Fireball.all.sorted(by: \.dateTimeStamp))
      let expected = rows.sorted { $0.dateTimeStamp < $1.dateTimeStamp }
      #expect(stored.map(\.dateTimeStamp) == expected.map(\.dateTimeStamp))
      #expect(stored.map(\.velocity) == expected.map(\.velocity))
    }
  }
}
