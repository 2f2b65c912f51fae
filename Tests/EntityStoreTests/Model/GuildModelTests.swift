import EntityStore
import Foundation
import Testing

/// Operations of many kinds, one after the other, compared with a model in memory.
@Suite struct `Combined operations against a model` {
  /// The variable `LODESTORE_COMBINED_OPERATIONS` sets the number of operations.
  @Test func `combined operations leave the store, the model and lists kept by updates equal`()
    async throws
  {
    let wanted = SeededNumbers.environmentNumber("LODESTORE_COMBINED_OPERATIONS") ?? 500
    var numbers = SeededNumbers(salt: 19_271)
    var done = 0
    var steps: [String: Int] = [:]
    while done < wanted {
      let folder = try TemporaryFolder()
      var run = try GuildRun(folder: folder.path, numbers: SeededNumbers(seed: numbers.next()))
      let most = min(wanted - done, 2_000)
      while run.operations < most { try await run.step() }
      try run.close()
      done += run.operations
      steps.merge(run.steps, uniquingKeysWith: +)
    }
    let text = steps.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }
    print("\(done) combined operations: \(text.joined(separator: ", "))")
  }
}
