import Foundation
import LMDB
import LodestoreBytes
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import LodestorePages
@testable import LodestoreVerifier

/// The digests of records, links and buckets; see Format.md, "Digests".
///
/// The verifier compares them with the content at the end of every test of the project that writes
/// a store.
@Suite struct `Digests of the content` {
  private func digest(_ path: String) throws -> ContentDigest? {
    var options = StoreOptions.readOnly
    options.allowsUnlockedReading = true
    let store = try DynamicStore(path: path, options: options)
    defer { store.close() }
    return try store.read { try $0.facts().digest }
  }

  private func digest(_ write: (Store) throws -> Void) throws -> ContentDigest? {
    try withTemporaryPath { path in
      let store = try Store(at: path, entities: [Squad.self, SquadPlayer.self, Player.self])
      try write(store)
      store.close()
      return try digest(path)
    }
  }

  @Test func `stores with equal content have equal digests, however the content was written`()
    throws
  {
    let players = (0..<500).map { Player(name: "player \($0)", score: $0) }
    let atOnce = try digest { store in
      try store.write { tx in
        try tx.insert(players)
        try tx.put(Data([1]), for: "a", in: "marks")
        let fans = try tx.insert((0..<3).map { SquadPlayer(name: "\($0)") }).ids
        try tx.add(fans, to: Squad.fans, of: try tx.insert(Squad(name: "S")).id)
      }
    }
    let oneByOne = try digest { store in
      for player in players {
        try store.write { tx in
          var made = try tx.insert(Player(name: "none"))
          made.name = player.name
          made.score = player.score
          try tx.update(made)
        }
      }
      let squad = try store.write { tx in
        try tx.put(Data([2]), for: "a", in: "marks")
        try tx.put(Data([1]), for: "a", in: "marks")
        try tx.put(Data([7]), for: "b", in: "marks")
        try tx.delete(key: "b", in: "marks")
        return try tx.insert(Squad(name: "S")).id
      }
      for number in 0..<3 {
        try store.write { tx in
          let fan = try tx.insert(SquadPlayer(name: "\(number)")).id
          try tx.add(fan, to: Squad.fans, of: squad)
          try tx.remove(fan, from: Squad.fans, of: squad)
          try tx.add(fan, to: Squad.fans, of: squad)
        }
      }
    }
    #expect(atOnce != nil)
    #expect(atOnce == oneByOne)
  }

  @Test func `a store without content has the digest of an empty content`() throws {
    let emptied = try digest { store in
      try store.write { tx in
        try tx.insert((0..<100).map { Player(name: "\($0)") })
        try tx.delete(Player.where { $0.score >= 0 })
        try tx.insert((0..<100).map { Player(name: "\($0)") })
        try tx.delete(Player.all)
      }
    }
    #expect(emptied == ContentDigest())
  }

  @Test func `a batch update, in place or not, changes the digest as single updates do`() throws {
    let players = (0..<300).map { Player(name: "player \($0)", score: $0) }
    let batch = try digest { store in
      try store.write { tx in
        try tx.insert(players)
        try tx.update(Player.where { $0.score < 200 }) { $0.score = 1_000 }
        try tx.update(Player.where { $0.score == 1_000 }) { $0.note = "a longer note than before" }
      }
    }
    let single = try digest { store in
      try store.write { tx in
        try tx.insert(players)
        for player in try tx.fetch(Player.all) where player.score < 200 {
          try tx.modify(player.id) {
            $0.score = 1_000
            $0.note = "a longer note than before"
          }
        }
      }
    }
    #expect(batch == single)
  }

  @Test func `a refused batch leaves the digest of the content before it`() throws {
    let kept = try digest { store in
      try store.insert(Player(name: "a"))
      try store.write { tx in
        #expect(throws: StoreError.self) {
          try tx.insert((0..<50).map { Player(name: $0 == 40 ? "a" : "new \($0)") })
        }
      }
    }
    let alone = try digest { store in try store.insert(Player(name: "a")) }
    #expect(kept == alone)
  }

  @Test func `the first change of an older file gives it the digests of all its content`() throws {
    let files = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Corpus/Files").path
    try withTemporaryPath { path in
      try FileManager.default.copyItem(atPath: files + "/format-5.lodestore", toPath: path)
      #expect(try digest(path) == nil)
      // The kept file has the format of LMDB 0.9, so it may need a conversion.
      var options = StoreOptions()
      options.convertsOtherEngine = true
      let store = try Store(at: path, entities: [CorpusSpecimen.self], options: options)
      try store.write { tx in try tx.put(Data([1]), for: "a", in: "marks") }
      store.close()
      let whole = try #require(try digest(path))
      #expect(whole != ContentDigest())
      let again = try Store(at: path, entities: [CorpusSpecimen.self])
      try again.write { tx in _ = try tx.delete(key: "a", in: "marks") }
      again.close()
      #expect(try digest(path) != whole)
    }
  }

  @Test func `the digest finds a record page that was put back to an earlier state`() throws {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    let store = try Store(at: path, entities: [Player.self])
    try store.write { tx in try tx.insert((0..<2_000).map { Player(name: "player \($0)") }) }
    store.close()
    let before = try StoredPages(path)
    let again = try Store(at: path, entities: [Player.self])
    try again.write { tx in try tx.update(Player.all) { $0.score = 7 } }
    again.close()
    let after = try StoredPages(path)
    let leaves = after.leaves(ofRecordsIn: before)
    try #require(leaves.count > 10)
    for (page, earlier) in leaves.prefix(12) {
      try after.write(earlier, at: page, to: path)
      let report = try Verifier.verify(path: path)
      #expect(report.findings.contains { $0.rule == .digestContent }, "page \(page)")
    }
  }
}

/// The pages of a file, for putting an earlier version of a page in the place of a later one.
private struct StoredPages {
  let bytes: [UInt8]
  private let format = PageFormat.ofEngine
  static let size = 4_096

  init(_ path: String) throws { bytes = Array(try Data(contentsOf: URL(filePath: path))) }

  private func page(_ number: Int) -> ArraySlice<UInt8> {
    bytes[number * Self.size..<(number + 1) * Self.size]
  }

  /// The page number of each leaf page of records, by the first id in the page.
  private var firstIDs: [UInt64: Int] {
    var found: [UInt64: Int] = [:]
    for number in 2..<bytes.count / Self.size {
      let page = Array(page(number))
      page._withBytes { page in
        guard page.loadUnaligned(fromByteOffset: 0, as: UInt64.self) == number,
          page.loadUnaligned(fromByteOffset: format.flags, as: UInt16.self) == 2
        else { return }
        let slot = page.loadUnaligned(fromByteOffset: format.slot(0), as: UInt16.self)
        let node = format.origin + Int(slot)
        guard node + 16 <= page.count,
          page.loadUnaligned(fromByteOffset: node + 6, as: UInt16.self) == 8
        else { return }
        found[page.loadUnaligned(fromByteOffset: node + 8, as: UInt64.self)] = number
      }
    }
    return found
  }

  /// The leaf pages of records that `earlier` has elsewhere with other content, each with that
  /// content.
  func leaves(ofRecordsIn earlier: StoredPages) -> [(page: Int, bytes: [UInt8])] {
    let old = earlier.firstIDs
    return firstIDs.sorted { $0.value < $1.value }.compactMap { id, number in
      guard id < 1 << 20, let other = old[id], other != number else { return nil }
      var bytes = Array(earlier.page(other))
      bytes.replaceSubrange(0..<8, with: littleEndianBytes(UInt64(number)))
      return bytes == Array(page(number)) ? nil : (number, bytes)
    }
  }

  /// Writes the file with one other page.
  func write(_ page: [UInt8], at number: Int, to path: String) throws {
    var changed = bytes
    changed.replaceSubrange(number * Self.size..<(number + 1) * Self.size, with: page)
    try Data(changed).write(to: URL(filePath: path))
  }
}
