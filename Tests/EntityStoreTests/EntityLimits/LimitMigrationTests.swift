import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// ``Page`` as a program declares it that knows neither the date nor the limit.
private struct ShortPage: Entity {
  var id = RecordID<ShortPage>()
  var url: String
  var body: String

  static let schema = EntitySchema<ShortPage>(
    "Page", attributes: [.init("url", \.url), .init("body", \.body)])

  init(_ url: String) {
    self.url = url
    body = ""
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(url)
    writer.write(body)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    url = try reader.read()
    body = try reader.read()
  }
}

/// ``Page`` as a program declares it that has removed the date.
private struct UndatedPage: Entity {
  var id = RecordID<UndatedPage>()
  var url: String
  var body: String

  static let schema = EntitySchema<UndatedPage>(
    "Page", attributes: [.init("url", \.url), .init("body", \.body)], unique: [[\.url]],
    limit: EntityLimit(bytes: 2_000), removed: ["fetchedAt"])

  struct Attributes: Sendable {
    var url: Attribute<UndatedPage, String> { .init(0) }
    var body: Attribute<UndatedPage, String> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  func encode(into writer: inout RecordWriter) {
    writer.write(url)
    writer.write(body)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    url = try reader.read()
    body = try reader.read()
  }
}

private enum BadLimit<Kind: BadKind> {
  struct Thing: Entity {
    var id = RecordID<Thing>()
    var name: String
    var tags: [String]

    static var schema: EntitySchema<Thing> {
      EntitySchema(
        "Thing", attributes: [.init("name", \.name), .init("tags", \.tags)],
        limit: Kind.limit(\.name, \.tags))
    }

    func encode(into writer: inout RecordWriter) {
      writer.write(name)
      writer.write(tags)
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      name = try reader.read()
      tags = try reader.read()
    }
  }
}

private protocol BadKind {
  static func limit<E: Entity>(
    _ name: any PartialKeyPath<E> & Sendable, _ tags: any PartialKeyPath<E> & Sendable
  ) -> EntityLimit<E>
}

private enum OfNothing: BadKind {
  static func limit<E: Entity>(
    _: any PartialKeyPath<E> & Sendable, _: any PartialKeyPath<E> & Sendable
  ) -> EntityLimit<E> { EntityLimit() }
}

private enum OfZero: BadKind {
  static func limit<E: Entity>(
    _: any PartialKeyPath<E> & Sendable, _: any PartialKeyPath<E> & Sendable
  ) -> EntityLimit<E> { EntityLimit(count: 5, bytes: 0) }
}

private enum ByTags: BadKind {
  static func limit<E: Entity>(
    _: any PartialKeyPath<E> & Sendable, _ tags: any PartialKeyPath<E> & Sendable
  ) -> EntityLimit<E> { EntityLimit(count: 5, by: [tags]) }
}

private enum ByTwo: BadKind {
  static func limit<E: Entity>(
    _ name: any PartialKeyPath<E> & Sendable, _ tags: any PartialKeyPath<E> & Sendable
  ) -> EntityLimit<E> { EntityLimit(count: 5, by: [name, tags]) }
}

@Suite struct `A limit of a stored entity` {
  private func open(_ path: String, _ types: any Entity.Type...) throws -> Store {
    try Store(at: path, entities: types, options: .withoutKeeper)
  }

  @Test(arguments: [false, true])
  func `a limit is declared over stored records, changed and removed`(buildsInUse: Bool) throws {
    try withTemporaryPath { path in
      var options = StoreOptions.withoutKeeper
      options.buildsIndexesInUse = buildsInUse
      let free = try open(path, Page<AllPages>.self)
      try free.write { tx in
        _ = try tx.insert((0..<30).map { Page<AllPages>("p\($0)", "body", at: Double(-$0)) })
      }
      #expect(try free.evict() == EvictionReport())
      free.close()

      let old = try Store(at: path, entities: [Page<TenOldPages>.self], options: options)
      let requirement = try old.core.environment.read {
        try Catalogue.requirement(old.core.trees.header, in: $0)
      }
      #expect(requirement.lowestWriter == 6)
      #expect(try old.evict().evictedCount == 20)
      #expect(try old.fetch(Page<TenOldPages>.all).map(\.url) == (0..<10).map { "p\($0)" })
      old.close()

      // The stored total size is the sum of the stored records' lengths.
      let small = try Store(at: path, entities: [Page<KilobytePages>.self], options: options)
      let lengths = try small.storedLengths(of: Page<KilobytePages>.self)
      #expect(try small.storedSize(of: Page<KilobytePages>.self) == lengths.values.reduce(0, +))
      #expect(
        try small.core.read { try $0.entity(Page<KilobytePages>.self).indexes.count } == 1)
      try small.write { tx in
        _ = try tx.insert(Page<KilobytePages>("big", String(repeating: "b", count: 900)))
      }
      #expect(try small.evict().evictedCount > 5)
      small.close()

      let again = try open(path, Page<AllPages>.self)
      try again.write { tx in _ = try tx.insert((0..<50).map { Page<AllPages>("q\($0)") }) }
      #expect(try again.evict() == EvictionReport())
      let counter = try again.core.environment.read {
        try $0.get(CounterKey.size(entity: EntityNumber(1)), in: again.core.trees.counters) != nil
      }
      #expect(!counter)
      again.close()
    }
  }

  @Test func `a limit holds for a program that declares a part of the entity`() throws {
    try withTemporaryPath { path in
      try open(path, Page<KilobytePages>.self).close()
      let short = try open(path, ShortPage.self)
      try short.write { tx in _ = try tx.insert((0..<400).map { ShortPage("p\($0)") }) }
      try short.write { _ = try $0.insert(ShortPage("next")) }
      let lengths = try short.storedLengths(of: ShortPage.self)
      let size = lengths.values.reduce(0, +)
      #expect(try short.storedSize(of: ShortPage.self) == size)
      #expect(size > 950 && size < 1_050 && lengths.count < 60)
      short.close()
    }
  }

  @Test func `a limited entity has the size of its records after an attribute is removed`() throws {
    try withTemporaryPath { path in
      let dated = try open(path, Page<KilobytePages>.self)
      try dated.write { tx in
        _ = try tx.insert((0..<10).map { Page<KilobytePages>("p\($0)", "b", at: 5) })
      }
      dated.close()
      let undated = try open(path, UndatedPage.self)
      try undated.update(UndatedPage.all) { $0.body = "another body" }
      let lengths = try undated.storedLengths(of: UndatedPage.self)
      #expect(try undated.storedSize(of: UndatedPage.self) == lengths.values.reduce(0, +))
      undated.close()
    }
  }

  @Test func `a limit is removed with its attribute`() throws {
    try withTemporaryPath { path in
      let dated = try open(path, Page<TenOldPages>.self)
      try dated.write { tx in _ = try tx.insert((0..<9).map { Page<TenOldPages>("p\($0)") }) }
      dated.close()
      let undated = try open(path, UndatedPage.self)
      let limit = try undated.core.read { try $0.entity(UndatedPage.self).description.limit }
      #expect(limit == EntityDescription.Limit(byteCount: 2_000))
      undated.close()
    }
  }

  @Test func `a limit without a number, of zero, or by an unordered attribute is refused`() throws {
    func message(_ type: any Entity.Type) throws -> String {
      try storeError(.badSchema) { try Store.inMemory(entities: [type]) }.message
    }
    #expect(try message(BadLimit<OfNothing>.Thing.self).contains("name one of them"))
    #expect(try message(BadLimit<OfZero>.Thing.self).contains("its limit is 0"))
    #expect(try message(BadLimit<ByTags>.Thing.self).contains("'tags'"))
    #expect(try message(BadLimit<ByTwo>.Thing.self).contains("by 2 attributes"))
  }

  @Test func `a limit is described in the catalogue, with members of later versions`() throws {
    try withPages(FewPages.self) { store in
      let description = try store.core.read { try $0.entity(Page<FewPages>.self).description }
      #expect(description.limitText == "40 records, 3000 bytes, by 'fetchedAt'")
      #expect(description.features.contains(.limits))
      guard case .object(var members) = description.document,
        case .object(var limit)? = members["limit"]
      else {
        Issue.record("the description has no limit")
        return
      }
      limit["share"] = .integer(3)
      members["limit"] = .object(limit)
      let again = try EntityDescription(
        number: description.number, document: .object(members))
      #expect(again.limit == description.limit)
      #expect(again.document == .object(members))
    }
  }

  @Test func `a limit holds for all stores of the file, and counts the writes of each`() throws {
    try withPages(KilobytePages.self) { store in
      typealias Cached = Page<KilobytePages>
      let other = try Store(
        at: store.core.path, entities: [Cached.self], options: .withoutKeeper)
      for number in 0..<40 {
        let writer = number % 3 == 0 ? other : store
        try writer.write { _ = try $0.insert(Cached("p\(number)", "some text")) }
        let lengths = try store.storedLengths(of: Cached.self)
        #expect(try other.storedSize(of: Cached.self) == lengths.values.reduce(0, +))
      }
      #expect(try other.evict().heldCount == 0)
      #expect(try store.storedSize(of: Cached.self) <= 1_000)
      #expect(try store.evict() == EvictionReport())
      other.close()
    }
  }

  @Test func `a limit holds while several processes write`() async throws {
    typealias Cached = Page<TenOldPages>
    let folder = try TemporaryFolder(isOnDisk: true)
    let path = folder.storePath
    try Store(at: path, entities: [Cached.self], options: .withoutKeeper).close()
    await withTaskGroup(of: Void.self) { group in
      for process in 0..<2 {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [path = path as String, process = process as Int] in
            let store = try Store(
              at: path, entities: [Page<TenOldPages>.self], options: .withoutKeeper)
            for number in 0..<60 {
              try await store.insert(
                Page<TenOldPages>("\(process)-\(number)", at: Double(number)))
            }
            store.close()
          }
        }
      }
    }
    let store = try Store(at: path, entities: [Cached.self], options: .withoutKeeper)
    #expect(try store.storedCount(of: Cached.self) == 11)
    _ = try await store.evict() as EvictionReport
    let dates = try await store.fetch(Cached.all)
      .compactMap(\.fetchedAt?.timeIntervalSinceReferenceDate)
    #expect(dates.count == 10 && dates.contains(59))
    store.close()
    try expectSound(path)
  }
}
