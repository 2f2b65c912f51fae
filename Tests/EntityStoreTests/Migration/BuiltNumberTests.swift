import LMDB
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import LodestorePages
@testable import LodestoreVerifier

/// The file states how far an index is built, so a damaged file may state any number.
@Suite struct `The number up to which an index is built` {
  /// A file with three players and an index over `note` that is being built.
  private static func make(_ path: String, next: UInt64) throws {
    let store = try Store(at: path, entities: [Player.self])
    try store.insert((0..<3).map { Player(name: "p\($0)", note: "n") })
    store.close()
    let core = try StoreCore(path: path, options: StoreOptions())
    defer { core.close() }
    try core.write { core throws in
      var description = try #require(core.schema.entities.first).description
      let note = try #require(description.attribute(named: "note")).number
      description.building = [.init(number: 9, attributes: [note], isUnique: false)]
      _ = try core.store.environment.tree(
        TreeName.index(entity: description.number, index: 9).text, isCreated: true,
        hasIntegerKeys: false, in: core.writing)
      try core.store.trees.put(description, in: core.writing)
      try core.store.trees.putNextToIndex(
        next, at: CounterKey.building(entity: description.number, index: 9), in: core.writing)
      try core.store.trees.raiseSchemaNumber(in: core.writing)
    }
  }

  @Test(arguments: [0, 1 << 63 + 1, .max] as [UInt64])
  func `a build number that no record can have is damage, to readers and to writers`(_ next: UInt64)
    throws
  {
    let folder = try TemporaryFolder()
    try Self.make(folder.storePath, next: next)
    let store = try Store(at: folder.storePath, entities: [PlayerName.self])
    let ofReader = try storeError(.damaged) { try store.indexBuilds() }
    #expect(ofReader.index == "Player.note" && ofReader.message.contains("\(next)"))
    _ = try storeError(.damaged) { try store.insert(PlayerName(name: "new")) }
    #expect(try store.read { try $0.count(PlayerName.all) } == 3)
    store.close()
    // If the number is beyond the three records, the verifier also reports that they lack entries.
    let rules = try Verifier.verify(path: folder.storePath).findings.map(\.rule)
    #expect(rules.first == .counterBuilding, "\(rules)")
  }

  @Test(arguments: [1, 1 << 63] as [UInt64])
  func `a build number that a record can have is accepted`(_ next: UInt64) throws {
    let folder = try TemporaryFolder()
    try Self.make(folder.storePath, next: next)
    let store = try Store(at: folder.storePath, entities: [PlayerName.self])
    #expect(try store.indexBuilds().map(\.progress.completed) == [next == 1 ? 0 : 3])
    try store.insert(PlayerName(name: "new"))
    store.close()
    let report = try Verifier.verify(path: folder.storePath)
    // The three older records have no entries. Only a file whose index is built up to no record may
    // lack them.
    #expect(report.findings.count == (next == 1 ? 0 : 3), "\(report.findings)")
  }
}
