import Foundation
import Testing

@testable import EntityStore

@Suite struct `One file, several stores` {
  @Test func `two stores with different entities see each other's commits`() throws {
    try withTemporaryPath { path in
      let films = try Store(at: path, entities: [Film.self])
      let pods = try Store(at: path, entities: [Pod.self, Film.self])
      try films.write { _ = try $0.insert(Film(title: "a", episode: 1)) }
      try pods.write { _ = try $0.insert(Pod(name: "a", version: "1")) }
      #expect(try pods.read { try $0.count(Film.all) } == 1)
      let error = try storeError(.unknownEntity) { try films.read { try $0.count(Pod.all) } }
      #expect(error.message.contains("Pod.self"))
      films.close()
      #expect(try pods.read { try $0.count(Pod.all) } == 1)
      pods.close()
    }
  }

  /// A program that requests full durability must not lose its commits in a power cut because
  /// another program does not.
  @Test func `the most durable of several stores on a file sets the durability`() throws {
    try withTemporaryPath { path in
      var options = StoreOptions()
      options.durability = .mayLoseLastCommit
      let first = try Store(at: path, entities: [Film.self], options: options)
      options.access = .readOnly
      options.durability = .full
      let reader = try Store(at: path, entities: [Film.self], options: options)
      try first.insert(Film(title: "a", episode: 1))
      #expect(!first.core.environment.syncsMetaPages)
      let second = try Store(at: path, entities: [Film.self])
      try first.insert(Film(title: "b", episode: 2))
      #expect(first.core.environment.syncsMetaPages)
      for store in [first, reader, second] {
        #expect(try store.count(Film.all) == 2)
        store.close()
      }
    }
  }

  @Test func `a hard link leads to the same store`() throws {
    let folder = try TemporaryFolder()
    let first = try Store(at: folder.storePath, entities: [Film.self])
    let link = folder.path + "/other.lodestore"
    try FileManager.default.linkItem(atPath: folder.storePath, toPath: link)
    let second = try Store(at: link, entities: [Film.self])
    try first.write { _ = try $0.insert(Film(title: "a", episode: 1)) }
    #expect(try second.read { try $0.count(Film.all) } == 1)
    // The two stores share the writer, so a write through the other path is a nested one.
    _ = try storeError(.nestedWrite) { try first.write { _ in try second.write { _ in } } }
    first.close()
    #expect(try second.read { try $0.count(Film.all) } == 1)
    second.close()
    try expectSound(link)
  }

  @Test func `a hard link is refused while another process has the store open`() async throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Film.self])
    let link = folder.path + "/other.lodestore"
    try FileManager.default.linkItem(atPath: folder.storePath, toPath: link)
    await #expect(processExitsWith: .success) { [link = link as String] in
      let error = try storeError(.mismatchedFiles) { try Store(at: link, entities: [Film.self]) }
      try #require(error.message.contains("'\(link)-lock'"))
      try #require(error.message.contains("close the store there first"))
    }
    store.close()
  }

  @Test func `a store whose file was replaced is not written`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Film.self])
    try store.write { _ = try $0.insert(Film(title: "a", episode: 1)) }
    let copy = folder.path + "/copy.lodestore"
    try FileManager.default.copyItem(atPath: folder.storePath, toPath: copy)
    #expect(rename(copy, folder.storePath) == 0)
    let error = try storeError(.mismatchedFiles) {
      try store.write { _ = try $0.insert(Film(title: "b", episode: 2)) }
    }
    #expect(error.message.contains("close the store and open it again"))
    #expect(try store.read { try $0.count(Film.all) } == 1)
    store.close()
    try expectSound(folder.storePath)
  }

  // A regression test: a failed schema change released the environment twice, which closed it for
  // another store of the same file.
  @Test func `an opening that fails leaves the other store open`() throws {
    try withTemporaryPath { path in
      let store = try Store(at: path, entities: [PersonV1.self])
      for _ in 0..<3 {
        _ = try storeError(.incompatibleSchema) {
          try Store(at: path, entities: [PersonVariant<Retyped>.self])
        }
      }
      try store.write { _ = try $0.insert(PersonV1(name: "a", age: 1)) }
      #expect(try store.read { try $0.count(PersonV1.all) } == 1)
      store.close()
    }
  }

  @Test func `a closed store refuses calls while another store has the file open`() throws {
    try withTemporaryPath { path in
      let first = try Store(at: path, entities: [Film.self])
      let second = try Store(at: path, entities: [Film.self])
      first.close()
      _ = try storeError(.closed) { try first.read { try $0.count(Film.all) } }
      _ = try storeError(.closed) { try first.write { _ in } }
      first.close()
      #expect(try second.read { try $0.count(Film.all) } == 0)
      second.close()
    }
  }

  // A regression test: after another program had moved attributes, a type read the wrong bytes, and
  // writes trapped.
  @Test func `a type stays usable when another store moves its attributes and adds others`() throws
  {
    try withTemporaryPath { path in
      let old = try Store(at: path, entities: [PersonV1.self])
      try old.write { _ = try $0.insert(PersonV1(name: "a", email: "e", age: 1)) }
      let new = try Store(at: path, entities: [PersonV2.self])
      try old.write { _ = try $0.insert(PersonV1(name: "b", age: 2)) }
      try new.write { _ = try $0.insert(PersonV2(city: "c", age: 3, level: 4, name: "c")) }
      #expect(try old.read { try $0.fetch(PersonV1.all).map(\.age) } == [1, 2, 3])
      #expect(try new.read { try $0.fetch(PersonV2.all).map(\.age) } == [1, 2, 3])
      #expect(try new.read { try $0.fetch(PersonV2.all).map(\.level) } == [3, 3, 4])
      old.close()
      new.close()
    }
  }

  // A type that no longer fits the file is refused before it touches a record.
  @Test func `a type whose attributes another store has changed is refused`() throws {
    try withTemporaryPath { path in
      let old = try Store(at: path, entities: [PersonV1.self, Film.self])
      try old.write { _ = try $0.insert(PersonV1(name: "a", email: "e", age: 1)) }
      let new = try Store(at: path, entities: [PersonVariant<Relaxed>.self])
      #expect(try new.read { try $0.fetch(PersonVariant<Relaxed>.all).map(\.extra) } == [1])
      let read = try storeError(.incompatibleSchema) {
        try old.read { try $0.fetch(PersonV1.all) }
      }
      #expect(read.entity == "Person")
      _ = try storeError(.incompatibleSchema) {
        try old.write { try $0.insert(PersonV1(name: "b", age: 2)) }
      }
      // The other entities still work.
      try old.write { _ = try $0.insert(Film(title: "a", episode: 1)) }
      old.close()
      new.close()
    }
  }

  @Test func `an index that another process adds is noticed and maintained`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    let store = try storeWithWords(["b", "a", "c"], at: path)
    await #expect(processExitsWith: .success) { [path = path as String] in
      let store = try Store(at: path, entities: [IndexedWord.self])
      try await store.write { _ = try $0.insert(IndexedWord(text: "aa")) }
      store.close()
    }
    try expectIndexIsKeptUp(store)
    try expectSound(path)
  }

  private func storeWithWords(_ words: [String], at path: String) throws -> Store {
    let store = try Store(at: path, entities: [Word.self])
    try store.write { transaction in
      for text in words { try transaction.insert(Word(text: text)) }
    }
    return store
  }

  private func expectIndexIsKeptUp(_ store: Store) throws {
    #expect(try store.read { try $0.fetch(Word.all).map(\.text) } == ["b", "a", "c", "aa"])
    try store.write { transaction in
      try transaction.insert(Word(text: "ab"))
      try transaction.insert(["0", "z"].map { Word(text: $0) })
      try transaction.delete(RecordID<Word>(rawValue: 1))
    }
    let words = try store.read { try $0.fetch(Word.index(\.text)).map(\.text) }
    #expect(words == ["0", "a", "aa", "ab", "c", "z"])
    store.close()
  }

  struct Word: Entity {
    var id = RecordID<Word>()
    var text: String
    struct Attributes: Sendable {
      var id: Attribute<Word, RecordID<Word>> { .recordID }
      var text: Attribute<Word, String> { .init(0) }
    }

    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<Word>("Word", attributes: [.init("text", \.text)])
    func encode(into writer: inout RecordWriter) { writer.write(text) }
    init(text: String) { self.text = text }
    init(from reader: inout RecordReader) throws(StoreError) { text = try reader.read() }
  }

  struct IndexedWord: Entity {
    var id = RecordID<IndexedWord>()
    var text: String
    static let schema = EntitySchema<IndexedWord>(
      "Word", attributes: [.init("text", \.text)], indexes: [[\.text]])
    func encode(into writer: inout RecordWriter) { writer.write(text) }
    init(text: String) { self.text = text }
    init(from reader: inout RecordReader) throws(StoreError) { text = try reader.read() }
  }
}
