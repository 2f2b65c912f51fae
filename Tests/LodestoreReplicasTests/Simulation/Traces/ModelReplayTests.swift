import Foundation
import Testing

/// Runs of the model for spin, replayed on the machines of the protocol.
///
/// The program `Model/trace` records the runs. `LODESTORE_TRACES` names a file with other ones.
@Suite struct ModelReplayTests {
  private static let path =
    ProcessInfo.processInfo.environment["LODESTORE_TRACES"]
    ?? URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path + "/Model/traces.txt"

  @Test func `The machines take each step of the model's runs`() throws {
    let text = try String(contentsOfFile: Self.path, encoding: .utf8)
    var verbs: Set<Substring> = []
    var count = 0
    for run in text.split(separator: "run ").dropFirst(text.hasPrefix("#") ? 1 : 0) {
      let replay = try ModelReplay()
      let lines = run.split(separator: "\n")
      for line in lines.dropFirst() {
        guard let step = ModelStep(line) else { continue }
        verbs.insert(step.verb)
        guard replay.replay(step) else { break }
      }
      let failure = replay.failure
      #expect(failure == nil, "run \(lines.first ?? ""), step \(replay.stepCount)")
      count += 1
    }
    #expect(count > 0)
    // The runs reach all kinds of steps.
    let rare: Set<Substring> = [
      "restore", "garbage", "swap", "late", "ready", "end", "fenced", "committed", "floor",
    ]
    #expect(rare.subtracting(verbs).isEmpty)
  }
}
