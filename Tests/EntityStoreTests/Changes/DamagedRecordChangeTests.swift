import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

/// Every path that changes or removes records, on a damaged one.
@Suite struct `Damaged records that are to be changed` {
  private typealias Item = ChangePath.Item

  /// The properties of a test case apart from the damage and the path.
  private struct Setting: CustomStringConvertible {
    var id: UInt64
    var verifiesChecksums: Bool
    var hasSink: Bool

    var description: String {
      "record \(id)\(verifiesChecksums ? ", checksums verified" : "")\(hasSink ? ", sink" : "")"
    }

    static let all = [false, true].flatMap { verifies in
      [false, true].flatMap { hasSink in
        // Record 3 has an older layout, and record 9 the current one.
        [3, 9].map { Setting(id: $0, verifiesChecksums: verifies, hasSink: hasSink) }
      }
    }
  }

  /// Each damage is met on each path with one setting, which the seed draws; with all settings if
  /// `LODESTORE_CASES` is set.
  @Test(arguments: RecordDamage.allCases, ChangePath.allCases)
  func `damaged records cause an error with their id, or are changed without harm to others`(
    _ damage: RecordDamage, _ path: ChangePath
  ) async throws {
    let settings = Setting.all.filter { !$0.hasSink || path != .buildingIndexes }
    let isLong = SeededNumbers.environmentNumber("LODESTORE_CASES") != nil
    let salt = "\(damage) \(path)".utf8.reduce(17) { $0 &* 31 &+ UInt64($1) }
    var numbers = SeededNumbers(salt: salt)
    for setting in isLong ? settings : [settings[numbers.below(settings.count)]] {
      try await meet(damage, on: path, setting)
    }
  }

  private func meet(
    _ damage: RecordDamage, on path: ChangePath, _ setting: Setting
  ) async throws {
    let folder = try TemporaryFolder()
    try WareFile.content.get().write(to: URL(fileURLWithPath: folder.storePath))
    var options = StoreOptions()
    options.durability = .mayLoseLastCommit
    options.verifiesChecksums = setting.verifiesChecksums
    let store = try Store(at: folder.storePath, entities: [Item.self], options: options)
    try store.core.write { core in
      let entity = try core.entity(named: "Ware")
      let bytes = Array(try #require(try core.record(setting.id, of: entity)))
      try core.writing.put(
        littleEndianBytes(setting.id), try damage.apply(to: bytes, of: entity),
        in: entity.records)
    }
    let before = try contents(store)
    if setting.hasSink { _ = store.core.observers.add { _ in ReadingSink() } }
    let comment = Comment(rawValue: "\(damage) met by \(path), \(setting)")
    var failure: StoreError?
    do {
      if path == .buildingIndexes {
        store.close()
        let built = try Store(
          at: folder.storePath, entities: [Ware<ThirdWare>.self], options: options)
        built.close()
      } else {
        try await path.run(in: store, setting.id)
      }
    } catch let error as StoreError {
      failure = error
    }
    let after =
      path == .buildingIndexes
      ? try Store(
        at: folder.storePath,
        entities: [failure == nil ? Ware<ThirdWare>.self : Item.self] as [any Entity.Type],
        options: options) : store
    if let failure {
      #expect(failure.code == .damaged, "\(comment): \(failure)")
      #expect(failure.entity == "Ware" && failure.recordID == setting.id, "\(comment): \(failure)")
      #expect(try contents(after) == before, comment)
    } else {
      #expect(!mustThrow(damage, path, setting), comment)
    }
    // All other records have their entries after each outcome, and there are no further entries.
    let findings = try Verifier.verify(environment: after.core.environment).findings
    #expect(findings.filter { $0.record != setting.id && $0.rule != .digestContent } == [], comment)
    after.close()
  }

  private func mustThrow(
    _ damage: RecordDamage, _ path: ChangePath, _ setting: Setting
  ) -> Bool {
    // The delete of all records reads them only if a sink needs them.
    if path == .deleteAll, !setting.hasSink { return false }
    if path.keeps { return false }
    if damage.isOfShape || setting.verifiesChecksums { return true }
    // The damaged record has the key of another record. If the path removes that record too, the
    // second look-up finds no entry.
    return path.carriesOver || damage.takesKey && (path.removesSome || path == .updateOfKey)
  }

  private func contents(_ store: Store) throws -> [UInt64: [UInt8]] {
    try store.core.read { core in
      var found: [UInt64: [UInt8]] = [:]
      try core.forEachStored(of: try core.entity(named: "Ware")) { (id, bytes) throws(StoreError) in
        found[id] = Array(bytes)
      }
      return found
    }
  }

  @Test func `damaged records do not block a removal of all records without listeners`() throws {
    for damage in RecordDamage.allCases {
      let folder = try TemporaryFolder()
      try WareFile.content.get().write(to: URL(fileURLWithPath: folder.storePath))
      var options = StoreOptions()
      options.verifiesChecksums = true
      let store = try Store(at: folder.storePath, entities: [Item.self], options: options)
      try store.core.write { core in
        let entity = try core.entity(named: "Ware")
        let bytes = Array(try #require(try core.record(9, of: entity)))
        try core.writing.put(
          littleEndianBytes(UInt64(9)), try damage.apply(to: bytes, of: entity),
          in: entity.records)
      }
      let recording = ChangeRecording(.eachRemoval)
      recording.listen(to: store)
      try store.write { try $0.delete(Item.all) }
      #expect(recording.changes.dropFirst().map(\.id) == Array(1...12), "\(damage)")
      store.close()
      try expectSound(folder.storePath)
    }
  }

  /// When the damaged record is found, sinks have already received the changes of the records
  /// before it.
  @Test func `damaged records are not reported as removed if the closure catches the error`() throws
  {
    for damage in RecordDamage.allCases where damage.isOfShape {
      let folder = try TemporaryFolder()
      try WareFile.content.get().write(to: URL(fileURLWithPath: folder.storePath))
      let store = try Store(at: folder.storePath, entities: [Item.self])
      try store.core.write { core in
        let entity = try core.entity(named: "Ware")
        let bytes = Array(try #require(try core.record(9, of: entity)))
        try core.writing.put(
          littleEndianBytes(UInt64(9)), try damage.apply(to: bytes, of: entity),
          in: entity.records)
      }
      let before = try contents(store)
      let recording = ChangeRecording([.oldRecord, .eachRemoval])
      recording.listen(to: store)
      try store.write { tx in
        let error = #expect(throws: StoreError.self) { try tx.delete(Item.all) }
        #expect(error?.code == .damaged, "\(damage)")
        // The write needs another change, because sinks receive no commit that changed nothing.
        try tx.put(Data([1]), for: "key", in: "bucket")
      }
      #expect(recording.changes.isEmpty, "\(damage)")
      #expect(try contents(store) == before, "\(damage)")
      store.close()
    }
  }
}
