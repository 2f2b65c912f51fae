import EntityStore
import Foundation
import Testing

/// A basket whose rules are over attributes derived from its items.
private struct Basket: Entity, Equatable {
  var id = RecordID<Basket>()
  var name: String
  var limit = 10
  var isClosed = false
  private(set) var total = 0
  private(set) var itemCount = 0

  static let items = ToMany<Basket, Item>(inverse: \.basket)

  struct Attributes: Sendable {
    var id: Attribute<Basket, Basket.ID> { .recordID }
    var name: Attribute<Basket, String> { .init(0) }
    var limit: Attribute<Basket, Int> { .init(1) }
    var isClosed: Attribute<Basket, Bool> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Basket>(
    "Basket",
    attributes: [
      .init("name", \.name), .init("limit", \.limit, initial: 10),
      .init("isClosed", \.isClosed, initial: false),
      .derived("total", \.total, .sum(items, \.amount)),
      .derived("itemCount", \.itemCount, .count(items)),
    ], unique: [[\.name]],
    relationships: [.init("items", items)],
    rules: [
      RecordRule("the total is within the limit", format: "total <= limit"),
      RecordRule("a closed basket has an item", format: "isClosed == NO OR itemCount > 0"),
      RecordRule("a basket has a name", format: "name != ''"),
    ], history: .kept(images: true))

  init(_ name: String, limit: Int = 10, isClosed: Bool = false) {
    self.name = name
    self.limit = limit
    self.isClosed = isClosed
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    limit = try reader.read()
    isClosed = try reader.read()
    total = try reader.read()
    itemCount = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(limit)
    writer.write(isClosed)
  }
}

private struct Maker: Entity {
  var id = RecordID<Maker>()
  var name: String

  static let items = ToMany<Maker, Item>(inverse: \.maker, onDelete: .cascade)

  static let schema = EntitySchema<Maker>(
    "Maker", attributes: [.init("name", \.name)], relationships: [.init("items", items)])

  init(_ name: String) { self.name = name }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

private struct Item: Entity {
  var id = RecordID<Item>()
  var name: String
  var amount: Int
  var basket: Basket.ID?
  var maker: Maker.ID?

  struct Attributes: Sendable {
    var id: Attribute<Item, Item.ID> { .recordID }
    var name: Attribute<Item, String> { .init(0) }
    var amount: Attribute<Item, Int> { .init(1) }
    var basket: Attribute<Item, Basket.ID?> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Item>(
    "Item",
    attributes: [
      .init("name", \.name), .init("amount", \.amount), .toOne("basket", \.basket),
      .toOne("maker", \.maker),
    ], unique: [[\.name]], history: .kept(images: true))

  init(_ name: String, _ amount: Int, _ basket: Basket.ID? = nil, maker: Maker.ID? = nil) {
    self.name = name
    self.amount = amount
    self.basket = basket
    self.maker = maker
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    amount = try reader.read()
    basket = try reader.read()
    maker = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(amount)
    writer.write(basket)
    writer.write(maker)
  }
}

@Suite struct `Rules over attributes derived from related records` {
  private static let entities: [any Entity.Type] = [Basket.self, Item.self, Maker.self]

  @Test func `rules over related attributes hold however links and related records change`() throws
  {
    try withTemporaryStore(Self.entities) { store throws in
      let maker = try store.insert(Maker("m"))
      let (basket, item, loose) = try store.write { tx throws in
        // The closed basket breaks its rule until its item is inserted later in the write.
        let basket = try tx.insert(Basket("b", isClosed: true)).id
        let item = try tx.insert(Item("i", 8, basket, maker: maker.id)).id
        return (basket, item, try tx.insert(Item("loose", 7)).id)
      }
      let tooMuch: [(inout WriteTransaction) throws -> Void] = [
        { try $0.insert(Item("x", 5, basket)) },
        { try $0.insert((0..<5).map { Item("x\($0)", 1, basket) }) },
        { try $0.insert([Item("loose", 7, basket)], onConflict: .replace) },
        { try $0.modify(item) { $0.amount = 11 } },
        { try $0.update(Item.all) { $0.amount.add(5) } },
        { try $0.update(Item.all) { $0.basket = basket } },
        { try $0.add(loose, to: Basket.items, of: basket) },
        { try $0.set(Basket.items, of: basket, to: [item, loose]) },
        { try $0.modify(basket) { $0.limit = 7 } },
        { try $0.insert(Basket("other", limit: -1)) },
      ]
      let noItem: [(inout WriteTransaction) throws -> Void] = [
        { _ = try $0.delete(item) }, { _ = try $0.delete(Item.all) },
        { _ = try $0.delete(maker.id) }, { try $0.modify(item) { $0.basket = nil } },
        { try $0.remove(item, from: Basket.items, of: basket) },
        { try $0.set(Basket.items, of: basket, to: []) },
        { try $0.insert(Basket("other", isClosed: true)) },
      ]
      func expect(
        _ calls: [(inout WriteTransaction) throws -> Void], _ rule: String
      ) throws {
        for (number, call) in calls.enumerated() {
          let error = try storeError(.invalidValue) { try store.write { try call(&$0) } }
          #expect(error.violations.map(\.rule) == [rule], "\(number): \(error)")
          #expect(error.entity == "Basket" && error.recordID != nil, "\(number): \(error)")
          #expect(error.message.contains("the records of Basket.items"), "\(number): \(error)")
        }
      }
      try expect(tooMuch, "the total is within the limit")
      try expect(noItem, "a closed basket has an item")
      #expect(try store.fetch(basket)?.total == 8)
      // A value between two changes of the write breaks no rule.
      try store.write { tx throws in
        try tx.modify(item) { $0.amount = 100 }
        try tx.modify(basket) { $0.limit = 3 }
        try tx.modify(item) { $0.amount = 3 }
      }
      let error = try storeError(.invalidValue) { try store.insert(Basket("")) }
      #expect(error.message.hasPrefix("cannot store Basket"), "\(error)")
    }
  }

  @Test(arguments: [true, false])
  func `rules over related attributes reject only the breaking record of an import`(hasLinks: Bool)
    async throws
  {
    try await withTemporaryStore(Self.entities) { store in
      try Self.insertBasket(in: store)
      var importer = Importer(into: store, Item.self, matching: .unique(\.name))
      if hasLinks { importer.links = [.init("in", \.basket, by: \.name)] }
      let basket = hasLinks ? #""in":"b""# : #""basket":1"#
      let pages = [
        "[{\"name\":\"a\",\"amount\":4,\(basket)},{\"name\":\"b\",\"amount\":9,\(basket)},"
          + "{\"name\":\"c\",\"amount\":3,\(basket)}]",
        "[{\"name\":\"d\",\"amount\":4,\(basket)},{\"name\":\"e\",\"amount\":1,\(basket)}]",
      ]
      let report = try await importer.run(
        AsyncStream { continuation in
          for page in pages { continuation.yield(Data(page.utf8)) }
          continuation.finish()
        }, renaming: [:])
      #expect(report.inserted == 3 && report.rejected == 2, "\(report)")
      #expect(report.rejects.map(\.record) == [2, 1])
      #expect(report.rejects.map(\.page) == [1, 2])
      #expect(report.rejects.allSatisfy { $0.reason.contains("the total is within the limit") })
      try Self.expectNames(["a", "c", "e"], in: store)
    }
  }

  private static func insertBasket(in store: Store) throws { try store.insert(Basket("b")) }

  private static func expectNames(_ names: [String], in store: Store) throws {
    #expect(try store.fetch(Item.all).map(\.name) == names)
  }

  @Test func `rules over related attributes hold if a write is undone`() throws {
    try withTemporaryStore(Self.entities) { store throws in
      let basket = try store.insert(Basket("b")).id
      let item = try store.insert(Item("i", 8, basket))
      try store.delete(item)
      let deletion = try store.historyToken()
      try store.write { tx in try tx.modify(basket) { $0.limit = 5 } }
      let error = try storeError(.invalidValue) {
        try store.write { tx in _ = try tx.undo(deletion) }
      }
      #expect(error.violations.map(\.rule) == ["the total is within the limit"])
      #expect(try store.count(Item.all) == 0)
    }
  }
}
