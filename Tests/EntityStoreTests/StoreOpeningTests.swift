import Foundation
import LMDB
import LodestoreFormat
import Testing

@testable import EntityStore

@Suite struct `Opening a store` {
  @Test func `existing access refuses a missing file, and makes no file`() throws {
    let folder = try TemporaryFolder()
    var options = StoreOptions()
    options.access = .existing
    for options in [options, .readOnly] {
      let error = try storeError(.noSuchStore) {
        try Store(at: folder.storePath, entities: [Film.self], options: options)
      }
      #expect(error.message.contains(folder.storePath))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
  }

  @Test func `existing access opens the store that create access made`() throws {
    try withTemporaryPath { path in
      try Store(at: path, entities: [Film.self]).close()
      var options = StoreOptions()
      options.access = .existing
      let store = try Store(at: URL(fileURLWithPath: path), entities: [Film.self], options: options)
      try store.write { _ = try $0.insert(Film(title: "a", episode: 1)) }
      #expect(store.path == path)
      store.close()
    }
  }

  @Test func `read-only access reads during another's writes, and refuses to write`() throws {
    try withTemporaryPath { path in
      let writer = try Store(at: path, entities: [Film.self])
      let reader = try Store(at: path, entities: [Film.self], options: .readOnly)
      try writer.write { _ = try $0.insert(Film(title: "a", episode: 1)) }
      #expect(try reader.read { try $0.count(Film.all) } == 1)
      _ = try storeError(.readOnly) { try reader.write { _ in } }
      writer.close()
      #expect(try reader.read { try $0.fetch(Film.byEpisode.key(1))?.title } == "a")
      reader.close()
    }
  }

  @Test func `read-only access refuses entities that the file lacks or defines differently`() throws
  {
    try withTemporaryPath { path in
      try Store(at: path, entities: [Film.self, PersonV1.self]).close()
      let missing = try storeError(.unknownEntity) {
        try Store(at: path, entities: [Film.self, Pod.self], options: .readOnly)
      }
      #expect(missing.entity == "Pod")
      let changed = try storeError(.incompatibleSchema) {
        try Store(at: path, entities: [Film.self, PersonV2.self], options: .readOnly)
      }
      #expect(changed.entity == "Person")
      let fewer = try Store(at: path, entities: [PersonV1.self], options: .readOnly)
      #expect(try fewer.read { try $0.count(PersonV1.all) } == 0)
      fewer.close()
    }
  }

  @Test func `paths without a store are refused, naming their content`() throws {
    let folder = try TemporaryFolder()
    let target = folder.path + "/target"
    try Data("no store at all, but a text".utf8).write(to: URL(fileURLWithPath: target))
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/link", withDestinationPath: target)
    for (name, code, word) in [
      ("target", StoreError.Code.notAStore, "LMDB"), ("link", .unsuitablePath, "symbolic link"),
      ("", .unsuitablePath, "directory"), ("nowhere/store", .noSuchStore, "nowhere"),
    ] {
      let error = try storeError(code) { try Store(at: folder.path + "/" + name, entities: []) }
      #expect(error.message.contains(word), "\(error.message)")
    }
    let web = try #require(URL(string: "https://example.org/a"))
    _ = try storeError(.unsuitablePath) { try Store(at: web, entities: []) }
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "no store at all, but a text")
  }

  @Test func `an LMDB file of another program is refused by its trees and stays unchanged`() throws
  {
    let folder = try TemporaryFolder()
    let environment = try EnvironmentRegistry.open(
      folder.storePath, options: EnvironmentOptions()
    ) { transaction in
      _ = try transaction.environment.tree(
        "books", isCreated: true, hasIntegerKeys: false, in: transaction)
    }
    EnvironmentRegistry.close(environment)
    let before = try Data(contentsOf: URL(fileURLWithPath: folder.storePath))
    let error = try storeError(.notAStore) {
      try Store(at: folder.storePath, entities: [Film.self])
    }
    #expect(error.message.contains("books") && error.message.contains(folder.storePath))
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.storePath)) == before)
  }

  @Test func `a newer format is refused for writing, then for reading`() throws {
    let folder = try TemporaryFolder()
    func setFormat(reader: UInt32, writer: UInt32) throws {
      let core = try StoreCore(path: folder.storePath, options: StoreOptions())
      try core.write { core in
        try core.writing.put(
          HeaderField.format.key, littleEndianBytes(reader) + littleEndianBytes(writer),
          in: core.store.trees.header)
      }
      core.close()
    }
    let later = FormatVersion.current.rawValue + 1
    try setFormat(reader: 1, writer: later)
    let writing = try storeError(.newerFormat) { try Store(at: folder.storePath, entities: []) }
    #expect(writing.message.contains("writer of format \(later)"))
    #expect(writing.message.contains("read-only"))
    let reader = try Store(at: folder.storePath, entities: [], options: .readOnly)
    reader.close()
  }

  @Test func `a file that needs a newer reader is refused read-only too`() throws {
    let folder = try TemporaryFolder()
    let later = FormatVersion.current.rawValue + 1
    let core = try StoreCore(path: folder.storePath, options: StoreOptions())
    try core.write { core in
      try core.writing.put(
        HeaderField.format.key, littleEndianBytes(later) + littleEndianBytes(later),
        in: core.store.trees.header)
    }
    core.close()
    let error = try storeError(.newerFormat) {
      try Store(at: folder.storePath, entities: [], options: .readOnly)
    }
    #expect(error.message.contains("reader of format \(later)"))
  }

  @Test func `a store in memory leaves no file and is gone when closed`() throws {
    let store = try Store.inMemory(entities: [Film.self])
    try store.write { _ = try $0.insert(Film(title: "a", episode: 1)) }
    #expect(store.path.isEmpty)
    try expectSound(store)
    let second = try Store.inMemory(entities: [Film.self])
    #expect(try second.read { try $0.count(Film.all) } == 0)
    #expect(try store.read { try $0.count(Film.all) } == 1)
    store.close()
    _ = try storeError(.closed) { try store.read { _ in } }
  }

  @Test func `a truncated file is refused`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Film.self])
    try store.write { transaction in
      try transaction.insert((0..<500).map { Film(title: "film \($0)", episode: $0) })
    }
    store.close()
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.storePath))
    try file.truncate(atOffset: file.seekToEnd() - 4096)
    try file.close()
    _ = try storeError(.damaged) { try Store(at: folder.storePath, entities: [Film.self]) }
  }
}
