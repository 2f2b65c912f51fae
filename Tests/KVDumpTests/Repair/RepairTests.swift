import EntityStore
import Foundation
import LodestoreVerifier
import Testing

@testable import LodestoreRepair

/// Damages files whose records are all known with their bytes and places, and compares them with
/// the saved records.
@Suite struct `Repair of generated damage` {
  /// The number of stores to make, each of which is damaged once in every way.
  ///
  /// `LODESTORE_CASES` sets the number of files, and `LODESTORE_SEED` their content.
  private static let storeCount =
    (ProcessInfo.processInfo.environment["LODESTORE_CASES"].flatMap(Int.init) ?? 4_000) / 2_000

  private static let seed =
    ProcessInfo.processInfo.environment["LODESTORE_SEED"].flatMap(UInt64.init) ?? 101

  /// Kinds of damage that lose several pages of the last commit, so the newest value of a record
  /// may be unknown.
  private static let uncertain: Set<RepairDamage> = [.tornCommit, .truncated, .bothMetas]

  @Test func `salvage loses no intact record, and reports a loss only if there is one`() throws {
    var (intact, saved, replaced, positions, savedPositions) = (0, 0, 0, 0, 0)
    for number in 0..<max(1, Self.storeCount) {
      let sample = try DamagedSample(Self.seed &+ UInt64(number))
      let unchanged = try sample.trial(nil)
      #expect(
        unchanged?.isWhole == true && unchanged?.falseWhole == [], "LODESTORE_SEED=\(Self.seed)")
      for kind in RepairDamage.allCases {
        guard let outcome = try sample.trial(kind) else { continue }
        let place = "\(kind), LODESTORE_SEED=\(Self.seed), store \(number)"
        #expect(outcome.refused == nil, "\(place)")
        #expect(outcome.falseWhole.isEmpty, "\(place): \(outcome.falseWhole.prefix(5))")
        guard !Self.uncertain.contains(kind) else { continue }
        #expect(outcome.savedLinks == outcome.intactLinks, "\(place): \(outcome.lost.prefix(5))")
        positions += outcome.intactPositions
        savedPositions += outcome.savedPositions
        #expect(outcome.replaced.isEmpty, "\(place): \(outcome.replaced.prefix(5))")
        intact += outcome.intact
        saved += outcome.saved
        replaced += outcome.replaced.count
      }
    }
    #expect(intact > 1_000 && 1_000 * (intact - saved) <= intact, "LODESTORE_SEED=\(Self.seed)")
    // A flipped bit in a position may leave two equally likely orders, which salvage reports.
    #expect(500 * (positions - savedPositions) <= positions, "LODESTORE_SEED=\(Self.seed)")
    print("of \(intact) intact records \(saved) were saved, \(replaced) with an older value")
  }

  /// Damage for which an earlier salvage lost links or returned older values.
  @Test(
    arguments: zip(
      [RepairDamage.randomPages, .linksBothSides], [29, 3_419_401_082_853_340_849] as [UInt64]))
  func `salvage takes the newest intact pair if both copies are damaged`(
    _ kind: RepairDamage, _ seed: UInt64
  ) throws {
    let outcome = try required(try DamagedSample(seed).trial(kind))
    #expect(outcome.refused == nil && outcome.falseWhole.isEmpty)
    #expect(outcome.intact > 100 && outcome.saved == outcome.intact, "\(outcome.lost)")
    #expect(outcome.replaced.isEmpty, "\(outcome.replaced)")
    #expect(outcome.savedLinks == outcome.intactLinks, "\(outcome.lost)")
    #expect(outcome.savedPositions == outcome.intactPositions)
  }
}

@Suite struct `Repair of a store in use` {
  @Test func `salvage of a store in use is refused, and leaves nothing`() throws {
    let folder = try StoreFolder()
    var numbers = RepairNumbers(1)
    _ = try RepairSample.make(folder.store, &numbers)
    let out = folder.path + "/out.lodestore"
    let store = try Store(at: folder.store, entities: RepairSample.entities)
    let error = #expect(throws: StoreError.self) {
      try StoreRepair.salvage(from: folder.store, to: out)
    }
    #expect(error?.code == .busy && error?.message.contains("open") == true)
    #expect(!FileManager.default.fileExists(atPath: out))
    store.close()
    let report = try StoreRepair.salvage(from: folder.store, to: out)
    #expect(report.isWhole && report.description == "nothing was lost", "\(report)")
    #expect(report.parts.contains { $0.kind == .records && $0.name == "Owner" && $0.saved > 90 })
    #expect(try Verifier.verify(path: out).isSound)
  }
}
