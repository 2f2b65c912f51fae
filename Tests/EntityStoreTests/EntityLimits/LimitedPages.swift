import Foundation
import Testing

@testable import EntityStore

/// The limit of a cache of pages.
///
/// Each limit is a type, because a type has only one schema.
protocol PageLimit: Sendable {
  static func limit<E: Entity>(by date: [any PartialKeyPath<E> & Sendable]) -> EntityLimit<E>?
}

enum TenPages: PageLimit {
  static func limit<E: Entity>(by _: [any PartialKeyPath<E> & Sendable]) -> EntityLimit<E>? {
    EntityLimit(count: 10)
  }
}

enum TenOldPages: PageLimit {
  static func limit<E: Entity>(by date: [any PartialKeyPath<E> & Sendable]) -> EntityLimit<E>? {
    EntityLimit(count: 10, by: date)
  }
}

enum KilobytePages: PageLimit {
  static func limit<E: Entity>(by _: [any PartialKeyPath<E> & Sendable]) -> EntityLimit<E>? {
    EntityLimit(bytes: 1_000)
  }
}

enum MostPages: PageLimit {
  static func limit<E: Entity>(by _: [any PartialKeyPath<E> & Sendable]) -> EntityLimit<E>? {
    EntityLimit(count: .max, bytes: 1_000)
  }
}

/// A limit of records and of bytes, with the oldest page by its date.
enum FewPages: PageLimit {
  static func limit<E: Entity>(by date: [any PartialKeyPath<E> & Sendable]) -> EntityLimit<E>? {
    EntityLimit(count: 40, bytes: 3_000, by: date)
  }
}

enum ManyPages: PageLimit {
  static func limit<E: Entity>(by _: [any PartialKeyPath<E> & Sendable]) -> EntityLimit<E>? {
    EntityLimit(count: 3_200)
  }
}

enum AllPages: PageLimit {
  static func limit<E: Entity>(by _: [any PartialKeyPath<E> & Sendable]) -> EntityLimit<E>? { nil }
}

/// A page of a cache; the entity is the same in the file whatever its limit.
struct Page<Limit: PageLimit>: Entity, Hashable {
  var id = RecordID<Page<Limit>>()
  var url: String
  var body: String
  var fetchedAt: Date?

  init(_ url: String, _ body: String = "", at seconds: Double? = nil) {
    self.url = url
    self.body = body
    fetchedAt = seconds.map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  struct Attributes: Sendable {
    var id: Attribute<Page<Limit>, RecordID<Page<Limit>>> { .recordID }
    var url: Attribute<Page<Limit>, String> { .init(0) }
    var body: Attribute<Page<Limit>, String> { .init(1) }
    var fetchedAt: Attribute<Page<Limit>, Date?> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static var schema: EntitySchema<Page<Limit>> {
    EntitySchema(
      "Page",
      attributes: [.init("url", \.url), .init("body", \.body), .init("fetchedAt", \.fetchedAt)],
      unique: [[\.url]], history: .kept(images: true), limit: Limit.limit(by: [\.fetchedAt]))
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(url)
    writer.write(body)
    writer.write(fetchedAt)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    url = try reader.read()
    body = try reader.read()
    fetchedAt = try reader.read()
  }
}

extension StoreOptions {
  /// Options of a store that evicts only before writes and in `evict()`, not at intervals.
  static var withoutKeeper: StoreOptions {
    var options = StoreOptions()
    options.evictionInterval = nil
    return options
  }
}

extension Store {
  /// The lengths of the records of an entity, by id, as the file has them.
  func storedLengths<E: Entity>(of type: E.Type) throws -> [UInt64: Int] {
    try core.read { core in
      var lengths: [UInt64: Int] = [:]
      try core.forEachStored(of: try core.entity(type)) { (id, bytes) throws(StoreError) in
        lengths[id] = bytes.count
      }
      return lengths
    }
  }

  /// The size of the records of an entity that the file has.
  func storedSize<E: Entity>(of type: E.Type) throws -> Int {
    try core.read { try $0.size(of: try $0.entity(type)) }
  }
}

/// Runs `body` on a new store of pages, and verifies the file.
func withPages<L: PageLimit, R>(
  _: L.Type, with others: [any Entity.Type] = [],
  sourceLocation: SourceLocation = #_sourceLocation, _ body: (Store) throws -> R
) throws -> R {
  try withTemporaryStore(
    [Page<L>.self] + others, options: .withoutKeeper, sourceLocation: sourceLocation, body)
}
