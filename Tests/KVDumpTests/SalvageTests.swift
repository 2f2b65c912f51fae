import EntityStore
import Foundation
import LMDB
import LodestoreVerifier
import Testing

@testable import KVDumpCommands

/// A folder, in a tree of folders, with notes.
private struct Folder: Entity {
  var id = RecordID<Folder>()
  var name: String
  var parent: Folder.ID?

  static let tags = ToMany<Folder, Tag>(ordered: true)

  struct Attributes: Sendable {
    var id: Attribute<Folder, Folder.ID> { .recordID }
    var name: Attribute<Folder, String> { .init(0) }
    var parent: Attribute<Folder, Folder.ID?> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Folder>(
    "Folder", attributes: [.init("name", \.name), .toOne("parent", \.parent)], unique: [[\.name]],
    relationships: [.init("tags", tags)])

  init(_ name: String, parent: Folder.ID? = nil) {
    self.name = name
    self.parent = parent
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    parent = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(parent)
  }
}

/// A note, which is always in a folder.
private struct Page: Entity {
  var id = RecordID<Page>()
  var text: String
  var folder: Folder.ID

  static let schema = EntitySchema<Page>(
    "Page", attributes: [.init("text", \.text), .toOne("folder", \.folder)], indexes: [[\.text]])

  init(_ text: String, _ folder: Folder.ID) {
    self.text = text
    self.folder = folder
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    text = try reader.read()
    folder = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(text)
    writer.write(folder)
  }
}

/// A step that requires a link to the previous step; the first step links to itself.
private struct Step: Entity {
  var id = RecordID<Step>()
  var name: String
  var before: Step.ID

  static let schema = EntitySchema<Step>(
    "Step", attributes: [.init("name", \.name), .toOne("before", \.before)])

  init(_ name: String, _ before: Step.ID) {
    self.name = name
    self.before = before
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    before = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(before)
  }
}

private struct Tag: Entity {
  var id = RecordID<Tag>()
  var name: String

  static let schema = EntitySchema<Tag>("Tag", attributes: [.init("name", \.name)])

  init(_ name: String) { self.name = name }
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    id = reader.id()
  }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

@Suite struct `Salvage` {
  private static let entities: [any Entity.Type] = [Folder.self, Page.self, Tag.self]
  private static let folderCount = 400
  private static let pageCount = 6_000

  static func make(_ path: String) throws {
    let store = try Store(at: path, entities: entities)
    try store.write { tx throws in
      let tags = try tx.insert((0..<20).map { Tag("tag \($0)") }).ids
      let root = try tx.insert(Folder("root"))
      let folders = try tx.insert(
        (1..<folderCount).map { Folder("folder \($0)", parent: root.id) }
      ).ids
      for (index, folder) in folders.enumerated() {
        let some = (0..<3).map { tags[($0 * 7 + index) % 20] }
        try tx.set(Folder.tags, of: folder, to: Array(some.reversed()))
      }
      try tx.insert(
        (0..<pageCount).map {
          Page("page \($0) " + String(repeating: "x", count: 40), folders[$0 % 399])
        })
      // This page is so long that it fills overflow pages.
      try tx.insert(Page(String(repeating: "long ", count: 5_000), root.id))
      try tx.put(Data([7, 8]), for: "key", in: "bucket")
    }
    store.close()
  }

  /// Makes a commit that adds, deletes and unlinks records.
  private static func change(_ path: String) throws {
    let store = try Store(at: path, entities: entities)
    try store.write { tx throws in
      try tx.insert(Page("of the newest commit", Folder.ID(rawValue: 1)))
      try tx.delete(Page.ID(rawValue: 7))
      try tx.set(Folder.tags, of: Folder.ID(rawValue: 2), to: [])
    }
    store.close()
  }

  /// Two stores with the same records, links and pairs.
  private static func compare(_ first: String, _ second: String) throws {
    let (old, new) = (
      try Store(at: first, entities: entities),
      try Store(at: second, entities: entities)
    )
    for store in [old, new] {
      let tags = try store.read {
        try $0.related(Folder.tags, of: Folder.ID(rawValue: 2)).map(\.name)
      }
      #expect(tags == ["tag 14", "tag 7", "tag 0"])
      #expect(try store.read { try $0.data(for: "key", in: "bucket") } == Data([7, 8]))
    }
    #expect(
      try old.read { try $0.fetch(Page.all).map(\.text) }
        == new.read { try $0.fetch(Page.all).map(\.text) })
    #expect(
      try old.read { try $0.ids(Page.where(format: "text BEGINSWITH 'page 59'")) }
        == new.read { try $0.ids(Page.where(format: "text BEGINSWITH 'page 59'")) })
    // New ids continue where the old store's ids ended.
    #expect(
      try new.write { try $0.insert(Folder("new")).id.rawValue } == UInt64(folderCount + 1))
    old.close()
    new.close()
  }

  @Test func `salvage of a sound store makes an equal store`() async throws {
    let folder = try StoreFolder()
    try Self.make(folder.store)
    let out = folder.path + "/out.lodestore"
    let outcome = try await SalvageRun.outcome(folder.store, into: out)
    #expect(
      outcome.status == .success && outcome.messages.contains("nothing was lost"), "\(outcome)")
    #expect(outcome.number("Page", "saved") == Self.pageCount + 1)
    #expect(try Verifier.verify(path: out).isSound)
    try Self.compare(folder.store, out)
    let again = try await SalvageRun.outcome(folder.store, into: out)
    #expect(again.status != .success && again.messages.contains("out.lodestore"))
  }

  @Test func `salvage finds records below a lost branch, and repairs links and counts`()
    async throws
  {
    let folder = try StoreFolder()
    try Self.make(folder.store)
    let sound = try FilePages(folder.store)
    for damage in ["branches", "leaves", "records"] {
      var pages = sound
      let records = (2..<pages.count).filter { pages.flags($0) == 2 && pages.key($0) == 8 }
      switch damage {
      case "branches":
        for page in 2..<pages.count where pages.flags(page) == 1 {
          for index in page * 4_096..<(page + 1) * 4_096 { pages.bytes[index] = 0xff }
        }
      case "leaves":
        for page in records.indices where page % 3 == 0 {
          let start = records[page] * 4_096
          for index in start..<start + 4_096 { pages.bytes[index] = 0 }
        }
      default: for page in records { pages.bytes[page * 4_096 + 4_090] ^= 1 }
      }
      let path = folder.path + "/\(damage).lodestore"
      try pages.write(path)
      let out = folder.path + "/\(damage)-out.lodestore"
      let outcome = try await SalvageRun.outcome(path, into: out)
      // Damaged branches lose no record, because each leaf is found by its content.
      #expect(outcome.status == (damage == "branches" ? .success : .negative), "\(outcome)")
      #expect(try Verifier.verify(path: out).isSound, "\(damage): \(outcome)")
      let saved = outcome.number("Page", "saved")
      switch damage {
      case "branches":
        #expect(saved >= Self.pageCount && outcome.number("Page", "orphans") > 5_000, "\(outcome)")
      case "leaves":
        let lost =
          ["Folder", "Page", "Tag"].reduce(0) {
            $0 + outcome.number($1, "missing") + outcome.number($1, "dropped")
          }
        #expect(lost > 0, "\(outcome)")
      default:
        let damaged = outcome.number("Page", "damaged")
        #expect(
          damaged > 0 && saved + damaged + outcome.number("Page", "dropped") == Self.pageCount + 1,
          "\(outcome)")
      }
      let store = try Store(at: out, entities: Self.entities)
      let folders = Set(try await store.fetch(Folder.all).map(\.id))
      for page in try await store.fetch(Page.all) { #expect(folders.contains(page.folder)) }
      for one in try await store.fetch(Folder.all) {
        #expect(one.parent.map(folders.contains) ?? true)
      }
      store.close()
    }
  }

  @Test func `salvage finds the newest commit without its meta page, and refuses other files`()
    async throws
  {
    let folder = try StoreFolder()
    try Self.make(folder.store)
    try Self.change(folder.store)
    for metas in [1, 2] {
      var pages = try FilePages(folder.store)
      for meta in metas == 2 ? [0, 1] : [pages.newestMeta] {
        for index in meta * 4_096..<(meta + 1) * 4_096 { pages.bytes[index] = 0 }
      }
      try pages.write(folder.path + "/meta\(metas).lodestore")
      let out = folder.path + "/out\(metas).lodestore"
      let outcome = try await SalvageRun.outcome(
        folder.path + "/meta\(metas).lodestore", into: out)
      #expect(
        outcome.status == .negative && outcome.messages.contains("meta page"), "\(outcome)")
      #expect(outcome.number("Page", "saved") == Self.pageCount + 1, "\(outcome)")
      #expect(try Verifier.verify(path: out).isSound)
      let store = try Store(at: out, entities: Self.entities)
      defer { store.close() }
      #expect(try await store.count(Page.where(format: "text == 'of the newest commit'")) == 1)
      #expect(try await store.fetch(Page.ID(rawValue: 7)) == nil)
    }
    for (name, content) in [
      ("empty", []), ("text", Array("text".utf8)), ("zeros", [UInt8](repeating: 0, count: 9_000)),
    ] {
      let path = folder.path + "/\(name).lodestore"
      try Data(content).write(to: URL(fileURLWithPath: path))
      let refused = try await SalvageRun.outcome(path, into: folder.path + "/\(name)-out.lodestore")
      #expect(refused.status != .success && refused.messages.contains(name), "\(refused)")
      #expect(!FileManager.default.fileExists(atPath: folder.path + "/\(name)-out.lodestore"))
    }
  }

  /// Such records occur if a page of an earlier commit is in the place of a later page.
  @Test(arguments: [false, true])
  func `salvage keeps the last of several records with one unique key`(isStray: Bool) async throws {
    let folder = try StoreFolder()
    try Self.make(folder.store)
    let copies = UInt64(Self.folderCount + 1)...UInt64(Self.folderCount + 3)
    try FaultFile.commit(to: folder.store) { raw in
      // Three further folders have the name of the second folder, and three more have that of the
      // third.
      for id in copies { try raw.putCopy(of: 2, as: id) }
      for id in copies { try raw.putCopy(of: 3, as: id + 3) }
      try raw.putDigests()
    }
    if isStray {
      var pages = try FilePages(folder.store)
      for page in 2..<pages.count where pages.flags(page) == 1 {
        for index in page * 4_096..<(page + 1) * 4_096 { pages.bytes[index] = 0xff }
      }
      try pages.write(folder.store)
    }
    let out = folder.path + "/out.lodestore"
    let outcome = try await SalvageRun.outcome(folder.store, into: out)
    #expect(outcome.status == .negative, "\(outcome)")
    #expect(
      outcome.messages.contains(
        "Folder: left out, because other records have their unique keys: 2, 3, 401, 402, 404, 405"),
      "\(outcome)")
    #expect(try Verifier.verify(path: out).isSound)
    let store = try Store(at: out, entities: Self.entities)
    defer { store.close() }
    #expect(try await store.count(Folder.all) == Self.folderCount)
    for (name, id) in [("folder 1", 403), ("folder 2", 406)] as [(String, UInt64)] {
      let found = try await store.fetch(Folder.where(format: "name == '\(name)'"))
      #expect(found.map(\.id.rawValue) == [id])
    }
  }

  /// A regression test: pages with records were taken for free pages, and all their records were
  /// lost.
  @Test func `salvage loses no record of a file whose free list names pages with records`()
    async throws
  {
    let folder = try StoreFolder()
    try Self.make(folder.store)
    try Self.change(folder.store)
    var pages = try FilePages(folder.store)
    let records = (2..<pages.count).filter { pages.flags($0) == 2 && pages.key($0) == 8 }
    // The newest commit's free list is one leaf; the value of each node is a count, then as many
    // pages.
    let root = pages.format.meta.freeList + TreeRecordLayout.root
    let list = pages.number(pages.newestMeta * 4_096 + root)
    var named = 0
    for slot in 0..<pages.nodeCount(list) {
      let value = pages.node(list, slot) + 16
      for index in 0..<pages.number(value) where named < records.count {
        for byte in 0..<8 { pages.bytes[value + 8 + 8 * index + byte] = 0 }
        pages.bytes[value + 8 + 8 * index] = UInt8(records[named] & 255)
        pages.bytes[value + 9 + 8 * index] = UInt8(records[named] >> 8)
        named += 1
      }
    }
    #expect(named > 3)
    let (path, out) = (folder.path + "/damaged.lodestore", folder.path + "/out.lodestore")
    try pages.write(path)
    #expect(try !Verifier.verify(path: path).isSound)
    let outcome = try await SalvageRun.outcome(path, into: out)
    // An earlier state of the pages would look the same, so the result is reported as uncertain.
    #expect(outcome.status == .negative && outcome.messages.contains("free list"), "\(outcome)")
    #expect(outcome.number("Page", "saved") == Self.pageCount + 1, "\(outcome)")
    #expect(outcome.number("Page", "older") == 0, "\(outcome)")
    #expect(try Verifier.verify(path: out).isSound)
  }

  /// Salvage once read the file again for each record, which took an hour.
  ///
  /// The limit also counts the time in which other tests have the processors.
  @Test(.timeLimit(.minutes(15)))
  func `salvage omits a long chain of records that must hold each other's ids`() async throws {
    let folder = try StoreFolder()
    let count = 20_000
    let store = try Store(at: folder.store, entities: [Step.self])
    try await store.write { tx throws in
      _ = try tx.insert(
        (1...count).map { Step("step \($0)", Step.ID(rawValue: UInt64(max(1, $0 - 1)))) })
    }
    store.close()
    var pages = try FilePages(folder.store)
    let mark = Array("step 1".utf8) + [0]
    let places = pages.bytes.indices.filter {
      pages.bytes[$0] == mark[0] && pages.bytes[$0...].starts(with: mark.dropLast())
        && !(48...57).contains(pages.bytes[min($0 + 6, pages.bytes.count - 1)])
    }
    #expect(!places.isEmpty)
    for place in places { pages.bytes[place] ^= 1 }
    let (path, out) = (folder.path + "/damaged.lodestore", folder.path + "/out.lodestore")
    try pages.write(path)
    let outcome = try await SalvageRun.outcome(path, into: out)
    #expect(outcome.status == .negative, "\(outcome)")
    #expect(outcome.number("Step", "damaged") == 1, "\(outcome)")
    #expect(outcome.number("Step", "dropped") == count - 1, "\(outcome)")
    #expect(outcome.number("Step", "saved") == 0, "\(outcome)")
    #expect(try Verifier.verify(path: out).isSound)
  }

  /// The repeated description has a right checksum in each place.
  @Test func `salvage takes a repeated description once, and finds the replaced one`()
    async throws
  {
    let folder = try StoreFolder()
    try Self.make(folder.store)
    var pages = try FilePages(folder.store)
    // Leaves of the catalogue: two keys of entities, 01 and a number.
    for page in 2..<pages.count where pages.flags(page) & 2 != 0 {
      let nodes = [pages.node(page, 0), pages.node(page, 1)]
      guard nodes.allSatisfy({ $0 + 13 <= pages.bytes.count }),
        nodes.allSatisfy({ pages.bytes[$0 + 6] == 5 && pages.bytes[$0 + 8] == 1 })
      else { continue }
      for byte in 0..<2 {
        let slots = page * 4_096 + pages.format.headerSize
        pages.bytes[slots + 2 + byte] = pages.bytes[slots + byte]
      }
    }
    let (path, out) = (folder.path + "/damaged.lodestore", folder.path + "/out.lodestore")
    try pages.write(path)
    let outcome = try await SalvageRun.outcome(path, into: out)
    // Salvage finds the nodes of a page without its slots.
    #expect(outcome.status == .success, "\(outcome)")
    #expect(try Verifier.verify(path: out).isSound)
  }
}
