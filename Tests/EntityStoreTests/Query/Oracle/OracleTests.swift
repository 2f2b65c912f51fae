import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// Random conditions of all forms over random records: whatever the plan, the answer is that of a
/// plain evaluation of every record.
@Suite struct OracleTests {
  private static let conditionCount =
    SeededNumbers.environmentNumber("LODESTORE_ORACLE_CONDITIONS") ?? 250
  private static let recordCount =
    SeededNumbers.environmentNumber("LODESTORE_ORACLE_RECORDS") ?? 120

  @Test func `Planned answers equal those of a plain evaluation of every record`() throws {
    try withSpecimens(count: Self.recordCount, salt: 71) { store, records in
      try store.core.read { core in
        var check = try OracleCheck(core, records, salt: 72)
        var checked = 0
        // After the usual number of conditions, the test continues until each plan shape has
        // occurred.
        for number in 1...(Self.conditionCount * 8) {
          try check.next()
          checked = number
          let isComplete = PlanShape.allCases.allSatisfy { check.shapes[$0] != nil }
          if check.failureCount > 12 || number >= Self.conditionCount && isComplete { break }
        }
        let missing = PlanShape.allCases.filter { check.shapes[$0] == nil }
        #expect(missing == [], "of \(check.shapes), \(SeededNumbers.replay)")
        #expect(
          check.unsupportedCount * 20 < checked, "\(check.unsupportedCount) of \(checked) unchecked"
        )
        if Self.conditionCount > 1_000 {
          print(
            "oracle: \(Self.conditionCount) conditions, \(check.runCount) runs, "
              + "\(check.unsupportedCount) not known to the oracle, \(check.shapes)")
        }
      }
    }
  }
}
