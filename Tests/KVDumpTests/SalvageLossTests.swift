import EntityStore
import Foundation
import LMDB
import LodestoreFormat
import LodestorePages
import Testing

@testable import KVDumpCommands
@testable import LodestoreRepair
@testable import LodestoreVerifier

/// A take of a song, of which a history is kept.
private struct Take: Entity {
  var id = RecordID<Take>()
  var title: String

  static let schema = EntitySchema<Take>(
    "Take", attributes: [.init("title", \.title)], history: .kept(images: true))

  init(_ title: String) { self.title = title }
  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    id = reader.id()
  }
  func encode(into writer: inout RecordWriter) { writer.write(title) }
}

/// An entity that counts the takes that lead to a record.
private struct Reel: Entity {
  var id = RecordID<Reel>()
  var name: String
  private(set) var cutCount = 0

  static let cuts = ToMany<Reel, Cut>(inverse: \.reel)
  static let schema = EntitySchema<Reel>(
    "Reel",
    attributes: [.init("name", \.name), .derived("cutCount", \.cutCount, .count(cuts))],
    relationships: [.init("cuts", cuts)])

  init(_ name: String) { self.name = name }
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    cutCount = try reader.read()
  }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

private struct Cut: Entity {
  var id = RecordID<Cut>()
  var reel: Reel.ID?

  static let schema = EntitySchema<Cut>("Cut", attributes: [.toOne("reel", \.reel)])

  init(_ reel: Reel.ID) { self.reel = reel }
  init(from reader: inout RecordReader) throws(StoreError) { reel = try reader.read() }
  func encode(into writer: inout RecordWriter) { writer.write(reel) }
}

/// A note of an entity whose limit allows no record.
private struct Memo: Entity {
  var id = RecordID<Memo>()
  var text: String

  static let schema = EntitySchema<Memo>("Memo", attributes: [.init("text", \.text)])

  init(_ text: String) { self.text = text }
  init(from reader: inout RecordReader) throws(StoreError) {
    text = try reader.read()
    id = reader.id()
  }
  func encode(into writer: inout RecordWriter) { writer.write(text) }
}

/// `kvdump salvage` copies or reports every part that it does not know or cannot trust.
///
/// A regression test: trees and header fields of later versions, and the history, were left out
/// without a report. A counter out of range prevented every record from being saved, because
/// counters have no checksum.
@Suite struct `Salvage of unknown parts` {
  private static func salvage(
    _ folder: StoreFolder
  ) async throws -> (status: KVDumpCommands.ExitStatus, messages: String, out: String) {
    let memory = MemoryConsole()
    let out = folder.path + "/out.lodestore"
    let status = await KVDump.execute(["salvage", folder.store, out], on: memory.console)
    return (status, memory.messages.text, out)
  }

  private static func makeMemos(_ path: String, count: Int = 3, size: Int = 10) throws {
    let store = try Store(at: path, entities: [Memo.self])
    try store.write { tx throws in
      try tx.insert((0..<count).map { _ in Memo(String(repeating: "m", count: size)) })
    }
    store.close()
  }

  /// A write that inserts a record, and one that updates it.
  private static func makeTakes(_ path: String) throws {
    let store = try Store(at: path, entities: [Take.self])
    var take = try store.write { try $0.insert(Take("first")) }
    take.title = "second"
    let second = take
    try store.write { _ = try $0.update(second) }
    store.close()
  }

  /// Adds a tree of each kind, a header field and a description, none of which the format lists.
  private static func addUnknown(_ path: String) throws {
    try FaultFile.commit(to: path) { raw in
      try raw.transaction.put([1, 2], [3], in: raw.tree("later"))
      try raw.transaction.put([1, 3], [UInt8](repeating: 4, count: 9_000), in: raw.tree("later"))
      try raw.transaction.put(
        littleEndianBytes(UInt64(300)), [5], in: raw.tree("later.numbers", hasIntegerKeys: true))
      try raw.put(Array("later".utf8), [6, 7], .header)
      for tree in [TreeName.catalogue, .catalogueCopy] { try raw.put([3, 0, 0, 0, 1], [8], tree) }
    }
  }

  @Test func `salvage carries the parts of later versions that it can read`() async throws {
    let folder = try StoreFolder()
    try Self.makeMemos(folder.store)
    try Self.addUnknown(folder.store)
    let outcome = try await Self.salvage(folder)
    #expect(
      outcome.status == .success && outcome.messages.contains("nothing was lost"), "\(outcome)")
    #expect(try Verifier.verify(path: outcome.out).isSound)
    try FaultFile.commit(to: outcome.out) { raw throws in
      #expect(try raw.get([1, 2], "later") == [3])
      #expect(try raw.get([1, 3], "later") == [UInt8](repeating: 4, count: 9_000))
      let key = littleEndianBytes(UInt64(300))
      #expect(try raw.get(key, "later.numbers", hasIntegerKeys: true) == [5])
      #expect(try raw.get(Array("later".utf8), .header) == [6, 7])
      #expect(try raw.get([3, 0, 0, 0, 1], .catalogue) == [8])
    }
  }

  /// One damaged byte of a description once lost the entity.
  @Test(arguments: [[TreeName.catalogue], [.catalogueCopy], [.catalogue, .catalogueCopy]])
  func `salvage restores a damaged description from its copy, and from an earlier commit`(
    _ damaged: [TreeName]
  ) async throws {
    let folder = try StoreFolder()
    let store = try Store(at: folder.store, entities: [Reel.self, Cut.self])
    try await store.write { tx throws in
      let reel = try tx.insert(Reel("r")).id
      _ = try tx.insert((0..<3).map { _ in Cut(reel) })
    }
    store.close()
    try FaultFile.commit(to: folder.store) { raw in
      for tree in damaged { try raw.put([2, 0, 0, 0, 1], [1, 2, 3, 4, 5], tree) }
    }
    let outcome = try await Self.salvage(folder)
    let isOlder = damaged.count > 1
    #expect(outcome.status == (isOlder ? .negative : .success), "\(outcome)")
    #expect(outcome.messages.contains("of an earlier commit") == isOlder, "\(outcome)")
    #expect(try Verifier.verify(path: outcome.out).isSound)
    let memory = MemoryConsole()
    _ = await KVDump.execute(
      ["records", outcome.out, "Reel", "--format", "jsonl"], on: memory.console)
    #expect(memory.data.text.contains(#""cutCount":3"#), "\(memory.data.text)")
    #expect(await KVDump.execute(["count", outcome.out, "Cut"], on: memory.console) == .success)
  }

  @Test func `salvage names the parts of a later version that require later writers`() async throws
  {
    let folder = try StoreFolder()
    try Self.makeMemos(folder.store)
    try Self.addUnknown(folder.store)
    let later = FormatVersion.current.rawValue + 1
    try FaultFile.commit(to: folder.store) { raw in
      try raw.put(
        HeaderField.format.key, FormatRequirement(lowestReader: 1, lowestWriter: later).bytes,
        .header)
    }
    let outcome = try await Self.salvage(folder)
    #expect(outcome.status == .negative)
    for text in [
      "writers of version \(later)", "tree 'later' is not carried",
      "tree 'later.numbers' is not carried", "field 'later' is not carried",
      "description 0300000001 is not carried",
    ] { #expect(outcome.messages.contains(text), "\(outcome.messages)") }
    #expect(try Verifier.verify(path: outcome.out).isSound)
    let trees = try PageChecker.check(path: outcome.out).trees.map(\.name)
    #expect(!trees.contains("later") && trees.contains("records.1"))
  }

  @Test(arguments: [false, true])
  func `salvage carries a whole history, and reports any part that it cannot carry`(isDamaged: Bool)
    async throws
  {
    let folder = try StoreFolder()
    try Self.makeTakes(folder.store)
    var pairs: [[UInt8]: [UInt8]] = [:]
    try FaultFile.commit(to: folder.store) { raw in
      for pair in try raw.pairs(.history) { pairs[pair.key] = pair.body }
      if isDamaged {
        try raw.put(required(pairs.keys.first { $0[0] == 1 }), [1, 2, 3, 4, 5], .history)
      }
    }
    #expect(pairs.count == 3)
    let outcome = try await Self.salvage(folder)
    #expect(outcome.status == (isDamaged ? .negative : .success), "\(outcome)")
    #expect(outcome.messages.contains("history: begins anew") == isDamaged, "\(outcome.messages)")
    #expect(try Verifier.verify(path: outcome.out).isSound)
    try FaultFile.commit(to: outcome.out) { raw in
      var carried: [[UInt8]: [UInt8]] = [:]
      for pair in try raw.pairs(.history) { carried[pair.key] = pair.body }
      #expect((carried == pairs) == !isDamaged)
    }
  }

  @Test(
    arguments: [
      // Each case is a counter's key, its value, and its value in the new store. There is one
      // entity with the records 1 to 3, and no relationship.
      ([2], 1 << 40, 2), ([2], 0, 2), ([2], 1 << 32, 2), ([2], 9, 9),
      ([2], (1 << 32) - 1, (1 << 32) - 1),
      ([3], 0, 1), ([3], .max, 1), ([3], 7, 7),
      ([1, 0, 0, 0, 1], 0, 4), ([1, 0, 0, 0, 1], 1 << 63 + 1, 4),
      ([1, 0, 0, 0, 1], 1 << 63, 1 << 63),
      ([1, 0, 0, 0, 1], 40, 40),
    ] as [([UInt8], UInt64, UInt64)])
  func `salvage takes a counter within its range, and counts again otherwise`(
    _ key: [UInt8], _ said: UInt64, _ taken: UInt64
  ) async throws {
    let folder = try StoreFolder()
    try Self.makeMemos(folder.store)
    try FaultFile.commit(to: folder.store) { try $0.put(key, littleEndianBytes(said), .counters) }
    let outcome = try await Self.salvage(folder)
    #expect(outcome.status == (said == taken ? .success : .negative), "\(outcome)")
    #expect(said == taken || outcome.messages.contains("counter 0\(key[0])"), "\(outcome)")
    #expect(try Verifier.verify(path: outcome.out).isSound)
    try FaultFile.commit(to: outcome.out) { raw throws in
      #expect(try raw.get(key, .counters) == littleEndianBytes(taken))
    }
  }

  /// A file of 3 MB kept the command busy for minutes: each node had its run read.
  @Test func `salvage reads a run that many nodes name a few times at most`() throws {
    let folder = try StoreFolder()
    let run = CraftedPages.firstRun(nodeCount: 200)
    try CraftedPages(
      nodes: Array(repeating: .init(run: run, byteCount: 1_999 * 4_096), count: 200),
      runs: [run: 2_000], lastPage: run + 1_999
    ).write(to: folder.store)
    let file = try DamagedFile(path: folder.store)
    let meta = try #require(file.metas.first)
    let tree = try #require(try PageSurvey.names(file, meta.main).trees.first)
    var byteCount = 0
    var pages = PageSet(bound: file.pageCount)
    let counts = try file.walk(tree.record, pages: &pages) { leaf in
      for pair in leaf.pairs { byteCount += pair?.body.count ?? 0 }
      return true
    }
    #expect(byteCount >= 1_999 * 4_096 && byteCount <= 8 * 2_010 * 4_096)
    #expect(!counts.fit(tree.record))
  }

  #if os(Linux)
    /// A regression test: records of lost pages were held in memory until they were written, 133 MB
    /// for a store of 79 MB.
    @Test func `records outside of any tree stay in the file`() async throws {
      let folder = try StoreFolder()
      let (count, size) = (2_500, 12_000)
      try Self.makeMemos(folder.store, count: count, size: size)
      var file = try FaultFile(path: folder.store)
      for page in file.pages(ofType: 1) {
        for index in 0..<FaultFile.pageSize {
          file.put(UInt8.max, page * FaultFile.pageSize + index)
        }
      }
      try file.write(to: folder.store)
      file.bytes = []
      let small = folder.path + "/small.lodestore"
      try Self.makeMemos(small)
      await #expect(processExitsWith: .success) {
        [
          path = folder.store as String, small = small as String, count = count as Int,
          size = size as Int
        ] in
        func read(_ path: String) throws -> Int {
          let store = try DamagedStore(path: path)
          let records = try SalvagedRecords(store)
          var found = 0
          for entity in store.entities {
            for _ in 0..<2 { try records.forEach(of: entity) { _, bytes in found += bytes.count } }
          }
          return found
        }
        // A first read loads the program's own pages, which would otherwise count as memory of the
        // second read.
        _ = try read(small)
        let before = try PeakMemory.reset()
        #expect(try read(path) >= 2 * count * size)
        #expect(try PeakMemory.inKilobytes() - before < 8_000)
      }
    }
  #endif
}

extension RawStore {
  fileprivate func get(
    _ key: [UInt8], _ tree: String, hasIntegerKeys: Bool = false
  ) throws -> [UInt8] {
    let tree = try self.tree(tree, hasIntegerKeys: hasIntegerKeys)
    return Array(try required(transaction.get(key, in: tree)))
  }
}

#if os(Linux)
  /// The peak memory of this process, which the system lets the process reset.
  private enum PeakMemory {
    /// Resets the peak memory, and returns the present memory use in kilobytes.
    static func reset() throws -> Int {
      try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
      return try inKilobytes()
    }

    static func inKilobytes() throws -> Int {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = try required(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
      return try required(Int(line.filter(\.isNumber)))
    }
  }
#endif
