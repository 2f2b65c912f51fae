import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

@Suite struct `Damaged files` {
  /// A closed store with one pod whose summary is `marker`.
  private func storeFile(_ folder: borrowing TemporaryFolder, marker: String) throws -> URL {
    let store = try Store(at: folder.storePath, entities: [Pod.self])
    try store.write { _ = try $0.insert(Pod(name: "n", version: "v", summary: marker)) }
    store.close()
    return URL(fileURLWithPath: folder.storePath)
  }

  @Test func `a flipped byte is found if checksums are verified`() throws {
    let folder = try TemporaryFolder()
    let file = try storeFile(folder, marker: "the marker that is looked for")
    var bytes = try Data(contentsOf: file)
    let marker = try #require(bytes.range(of: Data("the marker that".utf8)))
    bytes[marker.lowerBound] ^= 1
    try bytes.write(to: file)
    let lenient = try Store(at: folder.storePath, entities: [Pod.self])
    let read = try lenient.read { try $0.fetch(Pod.all).first?.summary }
    #expect(read == "uhe marker that is looked for")
    lenient.close()
    var options = StoreOptions()
    options.verifiesChecksums = true
    let strict = try Store(at: folder.storePath, entities: [Pod.self], options: options)
    let error = try storeError(.damaged) { try strict.read { try $0.fetch(Pod.all) } }
    #expect(error.entity == "Pod" && error.recordID == 1)
    #expect(error.message.contains("checksum") && error.message.contains("kvdump verify"))
    strict.close()
    let report = try Verifier.verify(path: folder.storePath)
    #expect(report.findingCount == 1 && report.findings.first?.record == 1)
  }

  /// Keys have no checksum.
  ///
  /// A key that begins with 3 or a higher byte seems to be of a later version.
  @Test(arguments: [UInt8(0), 3, 255])
  func `an entity whose description is missing is not made again`(kind: UInt8) throws {
    let folder = try TemporaryFolder()
    let file = try storeFile(folder, marker: "m")
    var bytes = try Data(contentsOf: file)
    let key = Data([1, 0, 0, 0, 1])
    var places: [Int] = []
    var start = bytes.startIndex
    while let found = bytes.range(of: key, in: start..<bytes.endIndex) {
      let end = min(bytes.endIndex, found.upperBound + 400)
      if bytes.range(of: Data("summary".utf8), in: found.upperBound..<end) != nil {
        places.append(found.lowerBound)
      }
      start = found.upperBound
    }
    try #require(!places.isEmpty)
    for place in places { bytes[place] = kind }
    try bytes.write(to: file)
    let error = try storeError(.damaged) { try Store(at: folder.storePath, entities: [Pod.self]) }
    #expect(error.message.contains("catalogue"), "\(error)")
    _ = try storeError(.damaged) { try Store(at: folder.storePath, entities: [Player.self]) }
    #expect(try Verifier.verify(path: folder.storePath).findingCount > 0)
  }

  @Test func `a batch update neither hides damage nor gives damaged bytes a new checksum`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [AllTypes.self])
    let ids = try store.write { tx in
      try (0..<3).map { index in
        var row = AllTypes()
        row.int = index
        row.optionalData = Data("marker \(index)".utf8)
        return try tx.insert(row).id
      }
    }
    store.close()
    let file = URL(fileURLWithPath: folder.storePath)
    var bytes = try Data(contentsOf: file)
    let marker = try #require(bytes.range(of: Data("marker 1".utf8)))
    bytes[marker.lowerBound] ^= 1
    try bytes.write(to: file)
    let damaged = try Store(at: folder.storePath, entities: [AllTypes.self])
    // The update changes slots in place. The other records stay right, and the damaged record is
    // still recognized as damaged.
    let count = try damaged.write {
      try $0.update(AllTypes.all) { $0.optionalUInt64 = 7 }
    }
    #expect(count == 3)
    // A longer text rebuilds the record, which is allowed only for a sound record. Nothing is
    // written.
    let error = try storeError(.damaged) {
      try damaged.write {
        try $0.update(AllTypes.all) { $0.optionalString = "longer" }
      }
    }
    #expect(error.recordID == ids[1].rawValue)
    let rows = try damaged.read { try $0.fetch(AllTypes.all) }
    #expect(
      rows.map(\.optionalUInt64) == [7, 7, 7] && rows.map(\.optionalString) == [nil, nil, nil])
    damaged.close()
    let report = try Verifier.verify(path: folder.storePath)
    #expect(report.findings.contains { $0.record == ids[1].rawValue }, "\(report.findings)")
    #expect(!report.findings.contains { $0.record == ids[0].rawValue })
  }

  @Test func `mutated records give typed errors or values, and never end the process`() throws {
    let store = try Store.inMemory(entities: [AllTypes.self])
    var value = AllTypes()
    value.string = "text"
    value.list = ["a", "b"]
    value.json = .object(["a": .array([.integer(1), .null])])
    value.optionalPlace = Place(name: "a", tags: ["b": [1]], inner: [])
    let id = try store.write { try $0.insert(value).id }
    let original = try store.core.read { core in
      Array(try #require(try core.record(id.rawValue, of: try core.entity(named: "AllTypes"))))
    }
    var numbers = SeededNumbers(salt: 4)
    var failures = 0
    for _ in 0..<500 {
      let bytes = numbers.mutated(original)
      do {
        try store.core.write { core in
          try core.writing.put(
            littleEndianBytes(id.rawValue), bytes, in: try core.entity(named: "AllTypes").records)
        }
        _ = try store.read { try $0.fetch(id) }
        // An update of the damaged record reads its old index keys. Whatever happens, no change is
        // kept.
        try store.write { transaction in
          var same = value
          same.id = id
          try transaction.update(same)
          throw CancellationError()
        }
      } catch let error as StoreError {
        #expect([.damaged, .undecodableValue].contains(error.code), "\(error)")
        failures += 1
      } catch is CancellationError {}
    }
    #expect(failures > 30)
    store.close()
  }

  @Test func `an index entry without a record is a typed error`() throws {
    let store = try Store.inMemory(entities: [Film.self])
    let id = try store.write { try $0.insert(Film(title: "a", episode: 1)).id }
    try store.core.write { core in
      _ = try core.writing.delete(id.rawValue, in: try core.entity(named: "Film").records)
    }
    let walk = try storeError(.damaged) { try store.read { try $0.fetch(Film.byTitle) } }
    #expect(walk.index == "Film.title")
    let lookUp = try storeError(.damaged) {
      try store.read { try $0.fetch(Film.byEpisode.key(1)) }
    }
    #expect(lookUp.index == "Film.episode")
    store.close()
  }

  @Test func `a damaged catalogue is refused at opening`() throws {
    let folder = try TemporaryFolder()
    let core = try StoreCore(path: folder.storePath, options: StoreOptions())
    try core.write { core in
      try core.writing.put(
        CatalogueKey.entity(1), [1, 2, 3, 4, 5, 6], in: core.store.trees.catalogue)
    }
    core.close()
    _ = try storeError(.damaged) { try Store(at: folder.storePath, entities: [Film.self]) }
  }
}
