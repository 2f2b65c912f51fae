import Foundation
import Testing

@testable import LodestoreReplicas

/// Histories of writers, followers, takeovers and collections on a simulated storage.
///
/// `LODESTORE_SEED` replays a history, and `LODESTORE_CASES` is the number of histories. The script
/// `simulate` in this folder runs a million of them.
@Suite(.timeLimit(.minutes(30))) struct SimulationTests {
  private static let seed = number("LODESTORE_SEED") ?? .random(in: 0...UInt64.max / 2)
  private static let count = number("LODESTORE_CASES") ?? 200

  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }

  @Test func `Every history restores to the last replicated write, without a fork`() {
    var coverage = Simulation.Coverage()
    for seed in Self.seed..<Self.seed + Self.count {
      let simulation = Simulation(seed: seed)
      if case .failed(let text) = simulation.run() {
        Issue.record("\(text); LODESTORE_SEED=\(seed) LODESTORE_CASES=1 repeats the history")
      }
      coverage.add(simulation.coverage)
    }
    guard Self.count >= 1000 else { return }
    #expect(coverage.takeovers > 0 && coverage.fenced > 0 && coverage.adopted > 0)
    #expect(coverage.collections > 0 && coverage.swaps > 0)
  }

  @Test func `A history is the same with clocks that agree and clocks ten years off`() {
    for seed in Self.seed..<Self.seed + 50 {
      let apart = Simulation(seed: seed)
      let together = Simulation(seed: seed, options: Simulation.Options(clockYears: 0))
      #expect(apart.run() == together.run(), "LODESTORE_SEED=\(seed)")
      #expect(apart.trace == together.trace, "LODESTORE_SEED=\(seed)")
    }
  }

  @Test func `A history is repeated by its seed`() {
    let first = Simulation(seed: Self.seed)
    let second = Simulation(seed: Self.seed)
    #expect(first.run() == second.run())
    #expect(first.trace == second.trace && first.tick == second.tick)
  }
}
