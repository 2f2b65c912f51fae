import Foundation
import LMDB
import Testing

@testable import EntityStore

/// Files of every format version that there was, kept as they were written.
///
/// The present version opens each file, reads and verifies it, writes to it and verifies it again.
@Suite struct `Files of earlier versions` {
  /// The kept files that the engine of these tests reads.
  static let folder = folder(of: .ofEngine)

  /// The folder of the kept files of an LMDB format.
  ///
  /// The files of LMDB 1.0 have the same pairs in the same trees as those of LMDB 0.9.
  static func folder(of format: PageFormat) -> String {
    let files = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Files")
    return format == .lmdb09 ? files.path : files.appendingPathComponent("lmdb-1.0").path
  }

  static let files = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    .filter { $0.hasSuffix(".lodestore") }.sorted()

  /// Runs `body` with a copy of the kept file, and verifies it before and afterwards.
  private func withCopy<R>(_ file: String, _ body: (String) throws -> R) throws -> R {
    try withTemporaryPath { path in
      try FileManager.default.copyItem(atPath: Self.folder + "/" + file, toPath: path)
      try expectSound(path)
      return try body(path)
    }
  }

  @Test func `the file of the first version exists`() {
    #expect(Self.files.contains("format-1.lodestore"))
  }

  private static let other = PageFormat.all.first { $0 != .ofEngine } ?? .ofEngine

  @Test(arguments: files, [StoreOptions.Access.existing, .create])
  func `a file of the other LMDB is refused for writing, unchanged, with the remedy`(
    _ file: String, access: StoreOptions.Access
  ) throws {
    let other = Self.other
    let folder = try TemporaryFolder()
    let path = folder.storePath
    try FileManager.default.copyItem(atPath: Self.folder(of: other) + "/" + file, toPath: path)
    let before = FileManager.default.contents(atPath: path)
    var options = StoreOptions()
    options.access = access
    for _ in 0..<2 {
      let error = try storeError(.otherEngine) {
        try Store(at: path, entities: [PersonV2.self], options: options)
      }
      #expect(error.message.hasPrefix("cannot open "))
      #expect(
        error.message.contains(
          "'\(path)': \(other.engine) made the file, and this program runs LMDB "))
      #expect(error.message.contains("'kvdump convert'"))
    }
    #expect(FileManager.default.contents(atPath: path) == before)
    #expect(!FileManager.default.fileExists(atPath: path + "-lock"))
  }

  @Test func `a page of LMDB 1.0 that claims a later commit is damaged`() throws {
    let kept = Self.folder(of: .lmdb10) + "/format-5.lodestore"
    let bytes = try #require(FileManager.default.contents(atPath: kept))
    let pages = 2..<bytes.count / 4_096
    // The numbered pages include the first page of each long value. Its further pages have no
    // header.
    let numbered = pages.filter { bytes[$0 * 4_096] == $0 && bytes[$0 * 4_096 + 8] == 1 }
    #expect(numbered.contains { bytes[$0 * 4_096 + 18] == PageFlag.overflow })
    let folder = try TemporaryFolder()
    let path = folder.storePath
    for page in numbered {
      var damaged = bytes
      damaged[page * 4_096 + 12] = 1
      try damaged.write(to: URL(fileURLWithPath: path))
      #expect(try !PageChecker.check(path: path).isSound, "page \(page)")
    }
  }

  @Test(arguments: files)
  func `a file of the other LMDB is read like an own file, without a write`(
    _ file: String
  ) throws {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    try FileManager.default.copyItem(
      atPath: Self.folder(of: Self.other) + "/" + file, toPath: path)
    let before = FileManager.default.contents(atPath: path)
    let store = try Store(
      at: path, entities: [PersonV2.self, CorpusSpecimen.self], options: .readOnly)
    #expect(try store.read { try $0.fetch(CorpusSpecimen.all) } == CorpusSpecimen.all)
    try expectPeople(store)
    try expectBuckets(store)
    _ = try storeError(.readOnly) {
      try store.write { try $0.delete(RecordID<CorpusSpecimen>(rawValue: 2)) }
    }
    store.close()
    // The kept files have only one commit, so there is no previous commit to open.
    var options = StoreOptions()
    options.access = .previousCommit
    _ = try storeError(.noPreviousCommit) {
      try Store(at: path, entities: [PersonV2.self], options: options)
    }
    try expectSound(path)
    #expect(FileManager.default.contents(atPath: path) == before)
    #expect(!FileManager.default.fileExists(atPath: path + "-lock"))
  }

  @Test(arguments: files)
  func `a file is read without a byte of it being changed`(_ file: String) throws {
    try withCopy(file) { path in
      let before = FileManager.default.contents(atPath: path)
      let store = try Store(
        at: path, entities: [PersonV2.self, CorpusSpecimen.self], options: .readOnly)
      #expect(try store.read { try $0.fetch(CorpusSpecimen.all) } == CorpusSpecimen.all)
      try expectPeople(store)
      try expectBuckets(store)
      store.close()
      #expect(FileManager.default.contents(atPath: path) == before)
    }
  }

  @Test(arguments: files)
  func `a written file keeps its former content`(_ file: String) throws {
    try withCopy(file) { path in
      let store = try Store(
        at: path, entities: [PersonV2.self, CorpusSpecimen.self, CorpusTrip.self])
      #expect(try store.read { try $0.fetch(CorpusSpecimen.all) } == CorpusSpecimen.all)
      #expect(try store.read { try $0.fetch(CorpusTrip.all) } == CorpusTrip.all)
      try expectPeople(store)
      try expectBuckets(store)
      // The record with id 4 was deleted, and its id is not used again.
      let trip = try store.write {
        try $0.insert(CorpusTrip(title: "west", leader: .init(rawValue: 2))).id
      }
      #expect(trip.rawValue == 5)
      try store.write { transaction in
        var people = try transaction.fetch(PersonV2.all)
        people[0].level = 9
        try transaction.update(people[0])
        try transaction.put(["size": 7], for: "pages", in: "settings")
        try transaction.delete(RecordID<CorpusSpecimen>(rawValue: 2))
      }
      let rest = CorpusSpecimen.all.filter { $0.id.rawValue != 2 }
      #expect(try store.read { try $0.fetch(CorpusSpecimen.all) } == rest)
      #expect(try store.read { try $0.fetch(trip)?.leader.rawValue } == 2)
      store.close()
    }
  }

  @Test(arguments: files)
  func `the counts of imports of a file continue`(_ file: String) throws {
    try withCopy(file) { path in
      let store = try StoreCore(path: path, options: .readOnly)
      defer { store.close() }
      let reports = try store.read { try ImportLog("Specimen", $0).reports() }
      #expect(reports.map(\.run) == [1, 2] && reports.map(\.ending) == [.finished, .cancelled])
    }
  }

  @Test func `links and derived attributes of a file are kept, and continue`() throws {
    try withCopy("format-4.lodestore") { path throws in
      let store = try Store(at: path, entities: CorpusMusic.entities)
      let schema = store.core.schema.number
      let bands = try store.fetch(CorpusBand.all)
      #expect(bands.map(\.sortName) == ["ete", "ost"] && bands.map(\.playerCount) == [3, 1])
      #expect(bands.map(\.songSeconds) == [350, 0] && bands.map(\.longest) == [250, nil])
      #expect(try store.fetch(CorpusSong.all).map(\.bandName) == ["Été", "Été", nil])
      let players = try store.read { try $0.related(CorpusBand.players, of: bands[0].id) }
      #expect(players.map(\.name) == ["Ann", "Bob", "Cid"])
      _ = try storeError(.invalidValue) { try store.insert(CorpusSong("d", 0, nil)) }
      try store.write { transaction throws in
        try transaction.delete(players[1].id)
        try transaction.insert(CorpusSong("d", 300, bands[1].id))
        try transaction.modify(bands[0].id) { $0.name = "Winter" }
      }
      let after = try store.fetch(CorpusBand.all)
      #expect(after.map(\.playerCount) == [2, 0] && after.map(\.longest) == [250, 300])
      #expect(try store.fetch(CorpusSong.all).first?.bandName == "Winter")
      // The first write has created the tree of digests, which changed the schema number.
      #expect(store.core.schema.number == schema.next)
      store.close()
    }
  }

  @Test func `the history of a file is read, undone and continued`() throws {
    try withCopy("format-5.lodestore") { path throws in
      let store = try Store(at: path, entities: [CorpusNote.self])
      let told = try store.history()
      #expect(told.map(\.author) == ["first", "second"])
      #expect(told.map(\.contextName) == [nil, "part"])
      let changes = told.flatMap(\.changes).map { "\($0.kind) \($0.recordID) \($0.attributes)" }
      #expect(
        changes == (1...4).map { "inserted \($0) []" } + [#"updated 1 ["length"]"#, "deleted 3 []"])
      try store.read { snapshot throws in
        let (updated, deleted) = (Array(told[1].changes)[0], Array(told[1].changes)[1])
        #expect(try snapshot.value(before: updated, as: CorpusNote.self)?.length == 0)
        #expect(try snapshot.preserved(\CorpusNote.Attributes.title, of: deleted) == "c")
        #expect(try snapshot.historyToken(ofConsumer: "index")?.number == 1)
      }
      #expect(try store.write { try $0.undo(told[1].token) } == 2)
      #expect(try store.fetch(CorpusNote.all).map(\.title) == ["a", "b", "c", "d"])
      #expect(try store.history(.after(told[1].token)).count == 1)
      store.close()
    }
  }

  private func expectPeople(_ store: Store) throws {
    let people = try store.read { try $0.fetch(PersonV2.all) }
    #expect(people.map(\.name) == ["Ada", "Bob", "Eve"] && people.map(\.age) == [36, 20, 7])
    #expect(people.map(\.level) == [3, 3, 4] && people.map(\.city) == [nil, nil, "Köln"])
    #expect(people.map(\.email) == ["a@b.c", nil, nil])
  }

  private func expectBuckets(_ store: Store) throws {
    let (bytes, pages) = try store.read {
      (
        try $0.data(for: "bytes", in: "settings"),
        try $0.value([String: Int].self, for: "pages", in: "settings")
      )
    }
    #expect(bytes == Data([1, 2, 3]) && pages == ["size": 100])
  }
}
