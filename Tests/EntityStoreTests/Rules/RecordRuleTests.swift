import Foundation
import Testing

@testable import EntityStore

/// An entity with constraints and rules across attributes.
private struct Event: Entity, Equatable {
  var id = RecordID<Event>()
  var name: String
  var start: Int
  var end: Int?

  struct Attributes: Sendable {
    var id: Attribute<Event, Event.ID> { .recordID }
    var name: Attribute<Event, String> { .init(0) }
    var start: Attribute<Event, Int> { .init(1) }
    var end: Attribute<Event, Int?> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Event>(
    "Event",
    attributes: [
      .init("name", \.name, constraints: [.length(1...5)]),
      .init("start", \.start, constraints: [.range(0...)]), .init("end", \.end),
    ],
    unique: [[\.name]],
    rules: [
      RecordRule("the end is not before the start") { anyOf($0.end == nil, $0.end >= $0.start) },
      RecordRule("what starts at 0 is called zero", format: "start != 0 OR name == 'zero'"),
    ])

  init(name: String, start: Int, end: Int? = nil) {
    self.name = name
    self.start = start
    self.end = end
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    start = try reader.read()
    end = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(start)
    writer.write(end)
  }
}

@Suite struct `Rules across attributes` {
  private let order = "the end is not before the start"

  @Test func `every write checks rules across attributes, and stores no record that breaks them`()
    throws
  {
    try withTemporaryStore([Event.self]) { store throws in
      let good = try store.insert(Event(name: "a", start: 1, end: 2))
      try store.insert(Event(name: "zero", start: 0))
      let calls: [(inout WriteTransaction) throws -> Void] = [
        { try $0.insert(Event(name: "b", start: 2, end: 1)) },
        { try $0.insert([Event(name: "b", start: 5), Event(name: "c", start: 2, end: 1)]) },
        { try $0.insert([Event(name: "b", start: 2, end: 1)], onConflict: .replace) },
        { try $0.upsert(Event(name: "a", start: 2, end: 1)) },
        { try $0.modify(good.id) { $0.end = 0 } },
        { try $0.update(Event.where { $0.name == "a" }) { $0.start = 3 } },
        { try $0.update(Event.where { $0.name == "a" }) { $0.start.add(4) } },
      ]
      for (number, call) in calls.enumerated() {
        let error = try storeError(.invalidValue) { try store.write { try call(&$0) } }
        #expect(error.violations.map(\.rule) == [order], "\(number): \(error)")
        #expect(error.violations.allSatisfy { $0.entity == "Event" && $0.attribute == nil })
      }
      #expect(try store.fetch(Event.all).map(\.name) == ["a", "zero"])
      #expect(try store.fetch(good.id) == good)
    }
  }

  @Test func `one error reports all broken rules and constraints, for all records of a call`()
    throws
  {
    try withTemporaryStore([Event.self]) { store throws in
      let one = try storeError(.invalidValue) {
        try store.insert(Event(name: "", start: -1, end: -2))
      }
      #expect(one.violations.map(\.attribute) == ["name", "start", nil])
      #expect(one.message.hasSuffix("and 2 more broken rules"))
      let events = (0..<50).map { number in
        Event(name: "e\(number)", start: number, end: number % 10 == 3 ? 0 : nil)
      }
      let many = try storeError(.invalidValue) { try store.insert(events) }
      #expect(many.violations.count == 6, "\(many.violations)")
      #expect(try store.count(Event.all) == 0)
      let endless = (1...100_000).map { Event(name: "e", start: $0, end: 0) }
      let bounded = try storeError(.invalidValue) { try store.insert(endless) }
      #expect((100..<110).contains(bounded.violations.count))
      try store.insert((1...20).map { Event(name: "e\($0)", start: $0, end: $0) })
      let update = try storeError(.invalidValue) {
        try store.write { tx in try tx.update(Event.where { $0.start > 10 }) { $0.end = 15 } }
      }
      #expect(update.violations.compactMap(\.recordID) == [16, 17, 18, 19, 20])
      #expect(try store.count(Event.where { $0.end == 15 }) == 1)
    }
  }

  @Test func `the file stores rules for programs without the types`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Event.self])
    try store.insert(Event(name: "a", start: 1))
    store.close()
    let dynamic = try Store(at: folder.storePath, entities: [])
    let rules = try dynamic.core.read { core in try core.entity(named: "Event").description.rules }
    #expect(rules.map(\.name) == [order, "what starts at 0 is called zero"])
    #expect(
      rules.map(\.condition) == ["end == NULL OR end >= start", "start != 0 OR name == 'zero'"])
    dynamic.close()
    try expectSound(folder.storePath)
  }

  @Test func `opening a store refuses unusable rules`() throws {
    try withTemporaryPath { path throws in
      let error = try storeError(.badSchema) { try Store(at: path, entities: [BadEvent.self]) }
      #expect(error.message.contains("'wrong'") && error.message.contains("ende"))
    }
  }
}

private struct BadEvent: Entity {
  var id = RecordID<BadEvent>()
  var end: Int

  static let schema = EntitySchema<BadEvent>(
    "Bad", attributes: [.init("end", \.end)],
    rules: [RecordRule("wrong", format: "ende > 3")])

  init(from reader: inout RecordReader) throws(StoreError) { end = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(end) }
}

@Suite struct `Hooks before changes` {
  @Test func `hooks see inserts, updates and deletes with the values before and after`() throws {
    try withTemporaryStore(Library.entities) { store throws in
      let seen = Seen()
      let hook = store.beforeChanges(of: Book.self) { change in
        switch change {
        case .insert(let new): seen.add("+\(new.id.rawValue) \(new.title)")
        case .update(let old, let new): seen.add("\(new.id.rawValue) \(old.pages)>\(new.pages)")
        case .delete(let old): seen.add("-\(old.id.rawValue)")
        }
      }
      let author = try store.insert(Author(name: "A"))
      let ids = try store.write { tx in
        try tx.insert([Book(title: "x", author: author.id), Book(title: "y")]).ids
      }
      try store.write { tx throws in
        try tx.update(Book.where { $0.title == "y" }) { $0.pages = 5 }
        _ = try tx.delete(author.id)
      }
      #expect(
        seen.taken.filter { !$0.contains("100>100") } == ["+1 x", "+2 y", "2 100>5", "-1"])
      hook.cancel()
      try store.delete(ids[1])
      #expect(seen.taken.isEmpty)
    }
  }

  @Test func `hooks report their own sentence, and stay without an owner`() throws {
    try withTemporaryStore(Library.entities) { store throws in
      store.beforeChanges(of: Book.self) { change in
        guard case .insert(let book) = change, book.pages < 10 else { return }
        throw RuleViolation("a book with less than 10 pages stays out", attribute: "pages")
      }
      let error = try storeError(.invalidValue) { try store.insert(Book(title: "a", pages: 3)) }
      #expect(error.message == "cannot commit: Book 1: a book with less than 10 pages stays out")
      #expect(error.attribute == "pages")
      #expect(
        error.violations.map(\.description) == ["Book 1: a book with less than 10 pages stays out"])
      // A constraint's message still states the demand on the attribute.
      let constraint = RuleViolation(
        entity: "Book", recordID: 2, attribute: "pages", rule: "be at least 0")
      #expect("\(constraint)" == "Book 2: 'pages' must be at least 0")
    }
  }

  @Test func `hooks end with the store that they belong to`() throws {
    try withTemporaryPath { path in
      func open() throws -> Store { try Store(at: path, entities: Library.entities) }
      let other = try open()
      for isClosed in [true, false] {
        var store: Store? = try open()
        store?.beforeChanges(of: Book.self) { _ in throw RuleViolation("books stay as they are") }
        _ = try storeError(.invalidValue) { try other.insert(Book(title: "a")) }
        if isClosed { store?.close() }
        store = nil
        try other.insert(Book(title: "b"))
      }
      other.close()
    }
  }

  @Test func `hooks refuse a write with all of their findings, and the write changes nothing`()
    throws
  {
    struct Odd: Error {}
    try withTemporaryStore(Library.entities) { store throws in
      let hook = store.beforeChanges(of: Book.self) { change in
        guard case .insert(let book) = change else { return }
        if book.pages > 200 { throw RuleViolation("have at most 200 pages", attribute: "pages") }
        if book.pages % 2 == 1 { throw Odd() }
      }
      let error = try storeError(.invalidValue) {
        try store.write { tx throws in
          try tx.insert([100, 300, 7].map { Book(title: "b", pages: $0) })
          try tx.insert(Book(title: "c", pages: 400))
        }
      }
      #expect(error.violations.map(\.recordID) == [2, 3, 4])
      #expect(error.violations.map(\.attribute) == ["pages", nil, "pages"])
      #expect(error.cause is Odd)
      #expect(try store.count(Book.all) == 0)
      try store.insert(Book(title: "d", pages: 10))
      withExtendedLifetime(hook) {}
    }
  }
}

private final class Seen: @unchecked Sendable {
  private let lock = NSLock()
  private var lines: [String] = []

  func add(_ line: String) { lock.withLock { lines.append(line) } }

  var taken: [String] {
    lock.withLock {
      defer { lines = [] }
      return lines
    }
  }
}
