import Foundation
import LodestoreBytes
import LodestorePages
import Testing

@testable import EntityStore

/// The figures of sealed files, printed; `LODESTORE_FIGURES=1` runs them, in a release build for
/// the manual's numbers.
@Suite(
  "Figures of sealed files",
  .enabled(if: ProcessInfo.processInfo.environment["LODESTORE_FIGURES"] != nil), .serialized)
struct SealedFigureTests {
  private static func seconds(_ body: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    return try clock.measure(body) / .seconds(1)
  }

  @Test func `the figures of sealing, hashing, checking and opening are measured`() throws {
    let folder = try TemporaryFolder(isOnDisk: true)
    let store = try Store(at: folder.storePath, entities: [Film.self])
    let text = String(repeating: "a film of some length ", count: 40)
    try store.write { transaction in
      try transaction.insert(
        (1...30_000).map { Film(title: "\(text)\($0)", episode: $0, code: "c\($0)") })
    }
    let sealed = folder.path + "/sealed.lodestore"
    let sealing = try Self.seconds { try SealedFileTests.seal(store, to: sealed) }
    store.close()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: sealed))
    let megabytes = Double(bytes.count) / 1e6
    let hashing = Self.seconds {
      var tree = VerityTree()
      bytes.withUnsafeBytes { tree.update(ByteView($0)) }
      tree.finish()
    }
    let checking = try Self.seconds {
      let isSound = try PageChecker.check(path: sealed).isSound
      #expect(isSound)
    }
    print("sealed \(megabytes) MB: \(megabytes / sealing) MB/s")
    print("fs-verity: \(megabytes / hashing) MB/s; pages: \(megabytes / checking) MB/s")
    usleep(40_000)
    let first = try Self.seconds { try Store(at: sealed, entities: [Film.self]).close() }
    var times: [Double] = []
    for _ in 0..<101 {
      times.append(try Self.seconds { try Store(at: sealed, entities: [Film.self]).close() })
    }
    print("opened first in \(first * 1e3) ms, then in \(times.sorted()[50] * 1e3) ms (median)")
    let reading = try Self.seconds { _ = try Seal(ofFileAt: sealed) }
    print("the seal alone: \(reading * 1e3) ms")
  }
}
