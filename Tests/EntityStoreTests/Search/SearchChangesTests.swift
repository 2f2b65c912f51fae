import Foundation
import LodestoreVerifier
import Synchronization
import Testing

@testable import EntityStore

/// A note of a program without a search index.
private struct PlainNote: Entity {
  var id = RecordID<PlainNote>()
  var title: String
  var body: String?
  var tags: JSONValue
  var group: Int

  static let schema = EntitySchema<PlainNote>(
    "Note",
    attributes: [
      .init("title", \.title), .init("body", \.body), .init("tags", \.tags),
      .init("group", \.group),
    ],
    indexes: [[\.group]])

  init(_ note: SearchedNote) {
    (title, body, tags, group) = (note.title, note.body, note.tags, note.group)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    body = try reader.read()
    tags = try reader.read()
    group = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(body)
    writer.write(tags)
    writer.write(group)
  }
}

@Suite struct `Search indexes follow every change` {
  private func titles(_ store: Store, _ text: String) throws -> [String] {
    try store.fetch(SearchedNote.all.where(.search(text))).map(\.title)
  }

  @Test func `an undo takes back the words of its write`() throws {
    var options = StoreOptions()
    options.history = .images
    try withTemporaryStore([SearchedNote.self], options: options) { store in
      try store.insert([SearchedNote("star", "one"), SearchedNote("moon", "one")])
      let star = try #require(try store.fetch(SearchedNote.all).first).id
      try store.write { tx in
        try tx.modify(star) { $0.title = "planet" }
        try tx.insert(SearchedNote("comet", "one"))
        try tx.delete(SearchedNote.all.where(.search("moon")))
      }
      #expect(try titles(store, "one") == ["planet", "comet"])
      let token = try #require(try store.history().last).token
      _ = try store.undo(token)
      #expect(try titles(store, "one") == ["star", "moon"])
      #expect(try titles(store, "star") == ["star"])
      #expect(try titles(store, "planet comet").isEmpty && titles(store, "comet").isEmpty)
    }
  }

  @Test func `a search sees the changes of its own write, and a savepoint takes words back`() throws
  {
    try withTemporaryStore([SearchedNote.self]) { store in
      try store.insert([SearchedNote("star")])
      // The closure runs again after the savepoint has failed, so that its last run counts.
      let found = try store.write { tx in
        try tx.insert(SearchedNote("star map"))
        #expect(try tx.fetch(SearchedNote.all.where(.search("map"))).count == 1)
        struct Abandoned: Error {}
        do {
          try tx.savepoint { tx in
            try tx.insert(SearchedNote("map of stars"))
            #expect(try tx.count(SearchedNote.all.where(.search("map"))) == 2)
            throw Abandoned()
          }
        } catch is Abandoned {}
        return try tx.fetch(SearchedNote.all.where(.search("map"))).map(\.title)
      }
      #expect(found == ["star map"])
      #expect(try titles(store, "map") == ["star map"])
    }
  }

  @Test func `a shorter text and a new one lower the bounds of their words`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [SearchedNote.self])
    let body = Array(repeating: "moon", count: 60).joined(separator: " ")
    try store.insert((0..<40).map { _ in SearchedNote("star", body) })
    let first = try #require(try store.fetch(SearchedNote.all.limit(1)).first).id
    try store.write { tx in try tx.modify(first) { $0.body = nil } }
    let best = SearchedNote.all.where(.search("star")).sortedByScore().limit(1)
    #expect(try store.fetch(best).first?.id == first)
    try store.insert(SearchedNote("star star"))
    #expect(try store.fetch(best).first?.title == "star star")
    store.close()
    try expectSound(folder.storePath)
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `texts that change after an equal beginning have the postings of the whole texts`(
    salt: UInt64
  ) throws {
    var random = SeededNumbers(salt: 7402 + salt)
    let words = [
      "new", "star", "moon", "star-map", "don't", "iPhone15", "1.5", "2020-12", "か゚月", "a", "-", "'",
    ]
    func text(_ count: Int) -> String {
      (0..<count).map { _ in words[random.below(words.count)] }.joined(separator: " ")
    }
    func change(_ text: String, _ added: String) -> String {
      var parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      let place = random.below(parts.count + 1)
      switch random.below(4) {
      case 0: return text + " " + added
      case 1: parts.insert(added, at: place)
      case 2: parts.removeSubrange(place...)
      default: parts.replaceSubrange(place..., with: [added])
      }
      return parts.joined(separator: " ")
    }
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [SearchedNote.self])
    let notes = (0..<60).map { _ in
      SearchedNote(text(4), text(20), tags: [.string(text(2)), .string(text(2))])
    }
    try store.insert(notes)
    for _ in 0..<8 {
      try store.write { tx in
        for var note in try tx.fetch(SearchedNote.all) {
          let added = text(1 + random.below(3))
          if random.below(2) == 0 { note.body = change(note.body ?? "", added) }
          if random.below(3) == 0 { note.title = change(note.title, added) }
          if random.below(4) == 0 { note.tags = [.string(change("new star", added))] }
          try tx.update(note)
        }
      }
      try expectSound(folder.storePath)
    }
    store.close()
  }

  @Test func `a word in the place of another one takes its place in the index`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [SearchedNote.self])
    try store.insert([SearchedNote("new star"), SearchedNote("new moon")])
    let first = try #require(try store.fetch(SearchedNote.all.limit(1)).first).id
    try store.write { tx in try tx.modify(first) { $0.title = "new moon" } }
    #expect(try store.count(SearchedNote.all.where(.search("moon"))) == 2)
    store.close()
    try expectSound(folder.storePath)
  }

  @Test func `a change before the last block of a word counts in the last block`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [SearchedNote.self])
    try store.insert((0..<400).map { SearchedNote("star n\($0)") })
    let all = SearchedNote.all.where(.search("star"))
    try store.delete(SearchedNote.where { $0.title == "star n3" })
    #expect(try store.count(all) == 399)
    try expectSound(folder.storePath)
    // Without the blocks before it, the last block is the only one, and has no number.
    let last = try store.fetch(SearchedNote.all).suffix(20).map(\.id)
    try store.delete(all.where { $0.id < last[0] })
    #expect(try store.fetch(all).map(\.id) == last)
    store.close()
    try expectSound(folder.storePath)
  }

  @Test func `opening builds a new search index with its progress, and drops it`() async throws {
    let folder = try TemporaryFolder()
    let old = try Store(at: folder.storePath, entities: [PlainNote.self])
    try await old.insert(
      (0..<4_000).map { PlainNote(SearchedNote("note n\($0)", $0 % 7 == 0 ? "seventh" : nil)) })
    old.close()
    let seen = Mutex<[WorkProgress]>([])
    let store = try await Store.open(at: folder.storePath, entities: [SearchedNote.self]) {
      progress in
      seen.withLock { $0.append(progress) }
    }
    #expect(try await store.count(SearchedNote.all.where(.search("note seventh"))) == 572)
    #expect(try await store.count(SearchedNote.all.where(.search("n3999"))) == 1)
    store.close()
    let steps = seen.withLock { $0 }
    #expect(steps.count > 1 && steps.map(\.completed) == steps.map(\.completed).sorted())
    #expect(steps.last?.completed == steps.last?.total && steps.last?.total == 4_000)
    try expectSound(folder.storePath)
    try Store(at: folder.storePath, entities: [PlainNote.self]).close()
    try expectSound(folder.storePath)
  }

  @Test func `an opening that is killed leaves the file as it was, or with the whole index`()
    async throws
  {
    let kills = max(2, (SeededNumbers.environmentNumber("LODESTORE_KILLS") ?? 0) / 20)
    var numbers = SeededNumbers(salt: 6107)
    let origin = try TemporaryFolder()
    let old = try Store(at: origin.storePath, entities: [PlainNote.self])
    try await old.insert((0..<3_000).map { PlainNote(SearchedNote("note n\($0)")) })
    old.close()
    for _ in 0..<kills {
      let folder = try TemporaryFolder()
      let path = folder.storePath
      try FileManager.default.copyItem(atPath: origin.storePath, toPath: path)
      let delay = numbers.below(200_000)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, delay = delay as Int] in
        Thread.detachNewThread {
          usleep(UInt32(delay))
          kill(getpid(), SIGKILL)
        }
        // Each round drops the index and builds it again.
        while true {
          let store = try Store(at: path, entities: [SearchedNote.self])
          try store.insert(SearchedNote("added"))
          store.close()
          try Store(at: path, entities: [PlainNote.self]).close()
        }
      }
      try expectSound(path)
      let store = try Store(at: path, entities: [SearchedNote.self])
      #expect(try await store.count(SearchedNote.all.where(.search("note"))) == 3_000)
      let added = try await store.count(SearchedNote.where { $0.title == "added" })
      #expect(try await store.count(SearchedNote.all.where(.search("added"))) == added)
      store.close()
      try expectSound(path)
    }
  }

  @Test func `a damaged block of postings is an error of the index, and a finding`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [SearchedNote.self])
    try store.insert((0..<300).map { SearchedNote("star n\($0)") })
    let blocks: [[UInt8]] = [
      [], [7], [2, 7], [0x85, 1, 1], Array(repeating: 0xFF, count: 60), [1, 7, 0, 0, 0],
      [1, 7, 0, 0, 0, 0], [1, 7, 0, 0, 0, 33, 0],
    ]
    for block in blocks {
      try store.core.write { core in
        let index = try #require(try core.entity(named: "Note").searchIndexes.first)
        try core.writing.put(Array("star".utf8) + [0, 0xFF], block, in: index.entries.tree)
      }
      for query in [
        SearchedNote.all.where(.search("star")), SearchedNote.all.where(.search("sta", .typing)),
        SearchedNote.all.where(.search("star n7")).sortedByScore().limit(3),
      ] {
        _ = try storeError(.damaged) { try store.fetch(query) }
      }
    }
    store.close()
    #expect(try Verifier.verify(path: folder.storePath).findingCount > 0)
  }

  @Test func `live results by score follow changes`() async throws {
    try await withTemporaryStore([SearchedNote.self]) { store in
      try await store.insert(["star of stars", "star", "moon"].map { SearchedNote($0) })
      let updates = Turner(
        store.updates(of: SearchedNote.all.where(.search("star")).sortedByScore()))
      func expectNext(_ ids: [UInt64]) async throws {
        let update = try await within { try await updates.next() }
        #expect(update?.items.map(\.id.rawValue) == ids)
      }
      try await expectNext([2, 1])
      try await store.modify(SearchedNote.ID(rawValue: 3)) { $0.title = "star star" }
      try await expectNext([3, 2, 1])
      try await store.modify(SearchedNote.ID(rawValue: 2)) { $0.title = "moon" }
      try await expectNext([3, 1])
    }
  }
}
