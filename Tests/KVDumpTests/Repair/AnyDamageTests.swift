import Foundation
import LodestoreVerifier
import Testing

@testable import KVDumpCommands

/// Random damage of bytes and pages, whose kind and place nobody chose.
@Suite struct `Salvage of random damage` {
  /// The variable `LODESTORE_CASES` sets the number of damaged files.
  @Test func `salvage of any damage gives a sound store or a refusal`() async throws {
    let cases =
      (ProcessInfo.processInfo.environment["LODESTORE_CASES"].flatMap(Int.init) ?? 1_500) / 100
    let seed =
      ProcessInfo.processInfo.environment["LODESTORE_SEED"].flatMap(UInt64.init)
      ?? .random(in: 0...(.max))
    var state = seed
    func below(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
    let folder = try StoreFolder()
    try `Salvage`.make(folder.store)
    let sound = try FilePages(folder.store)
    var whole = 0
    for number in 0..<cases {
      var pages = sound
      for _ in 0...below(20) {
        let start = below(pages.bytes.count)
        let end = min(pages.bytes.count, start + 1 + below([1, 16, 5_000][below(3)]))
        switch below(4) {
        case 0: for index in start..<end { pages.bytes[index] = [0, 0xff][below(2)] }
        case 1: for index in start..<end { pages.bytes[index] = UInt8(below(256)) }
        case 2: pages.bytes[start] ^= 1 << UInt8(below(8))
        default:
          let (from, to) = (below(sound.count), below(sound.count))
          for index in 0..<4_096 {
            pages.bytes[to * 4_096 + index] = sound.bytes[from * 4_096 + index]
          }
        }
      }
      if below(8) == 0 { pages.bytes.removeLast(below(pages.bytes.count)) }
      let path = folder.path + "/damaged.lodestore"
      let out = folder.path + "/out.lodestore"
      try pages.write(path)
      try? FileManager.default.removeItem(atPath: out)
      let outcome = try await SalvageRun.outcome(path, into: out)
      if FileManager.default.fileExists(atPath: out) {
        let report = try Verifier.verify(path: out)
        #expect(report.isSound, "LODESTORE_SEED=\(seed), case \(number): \(report.findings)")
        whole += 1
      } else {
        #expect(
          ![.success, .negative].contains(outcome.status), "LODESTORE_SEED=\(seed), case \(number)")
      }
    }
    print("of \(cases) damaged files \(whole) were saved in part or whole")
    #expect(whole > cases / 2, "LODESTORE_SEED=\(seed)")
  }
}
