import EntityStore
import Testing

// Baskets with items: without rules before, with rules in the version that has the stages.

private struct PlainBasket: Entity {
  var id = RecordID<PlainBasket>()
  var name: String
  var limit: Int

  static let items = ToMany<PlainBasket, PlainItem>(inverse: \.basket)
  static let schema = EntitySchema<PlainBasket>(
    "Basket", attributes: [.init("name", \.name), .init("limit", \.limit)],
    relationships: [.init("items", items)])

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(limit)
  }
}

extension PlainBasket {
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    limit = try reader.read()
  }
}

private struct PlainItem: Entity {
  var id = RecordID<PlainItem>()
  var amount: Int
  var basket: RecordID<PlainBasket>?

  static let schema = EntitySchema<PlainItem>(
    "Item", attributes: [.init("amount", \.amount), .toOne("basket", \.basket)])

  func encode(into writer: inout RecordWriter) {
    writer.write(amount)
    writer.write(basket)
  }
}

extension PlainItem {
  init(from reader: inout RecordReader) throws(StoreError) {
    amount = try reader.read()
    basket = try reader.read()
  }
}

private struct Basket: Entity {
  var id = RecordID<Basket>()
  var name: String
  var limit: Int
  private(set) var total = 0

  static let items = ToMany<Basket, Item>(inverse: \.basket)
  static let schema = EntitySchema<Basket>(
    "Basket",
    attributes: [
      .init("name", \.name, constraints: [.length(...8)]), .init("limit", \.limit),
      .derived("total", \.total, .sum(items, \.amount)),
    ], relationships: [.init("items", items)],
    rules: [
      RecordRule("the total is within the limit", format: "total <= limit"),
      RecordRule("a basket with a limit has a name", format: "limit == 0 OR name != ''"),
    ])

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(limit)
  }
}

extension Basket {
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    limit = try reader.read()
    total = try reader.read()
  }
}

private struct Item: Entity {
  var id = RecordID<Item>()
  var amount: Int
  var basket: RecordID<Basket>?

  static let schema = EntitySchema<Item>(
    "Item", attributes: [.init("amount", \.amount), .toOne("basket", \.basket)])

  func encode(into writer: inout RecordWriter) {
    writer.write(amount)
    writer.write(basket)
  }
}

extension Item {
  init(from reader: inout RecordReader) throws(StoreError) {
    amount = try reader.read()
    basket = try reader.read()
  }
}

@Suite struct `Rules after a stage` {
  private static let stored: [any Entity.Type] = [PlainBasket.self, PlainItem.self]
  private static let declared: [any Entity.Type] = [Basket.self, Item.self]

  /// Makes three baskets with the limit 10.
  ///
  /// The first holds two items of 3. The last has no name, and so breaks a rule of the later
  /// version.
  private func make(_ path: String) throws {
    let store = try Store(at: path, entities: Self.stored)
    defer { store.close() }
    try store.write { tx throws in
      let ids = try tx.insert(
        ["a", "b", ""].map { PlainBasket(name: $0, limit: 10) }
      ).ids
      try tx.insert([3, 3].map { PlainItem(amount: $0, basket: ids[0]) })
    }
  }

  /// Migrates by `stage` and returns the refusal.
  ///
  /// A refused stage must leave the file unchanged, and a rehearsal must predict the refusal.
  private func refusal(of stage: MigrationStage) throws -> StoreError? {
    try withTemporaryPath { path throws in
      try make(path)
      let stages = [stage]
      let foretold = try Store.schemaChanges(at: path, opening: Self.declared, migrating: stages)
        .filter { $0.cost == .refused }.map(\.text)
      do throws(StoreError) {
        let store = try Store(at: path, entities: Self.declared, migrating: stages)
        store.close()
        #expect(foretold == [])
        return nil
      } catch {
        #expect(foretold == [error.message])
        let store = try Store(at: path, entities: Self.stored)
        defer { store.close() }
        #expect(try store.fetch(PlainBasket.all).map(\.limit) == [10, 10, 10])
        #expect(try store.fetch(PlainItem.all).map(\.amount) == [3, 3])
        return error
      }
    }
  }

  @Test func `rules after a stage refuse the stage that breaks them, with the record`() throws {
    let refusal = try refusal(
      of: MigrationStage(
        to: 1,
        .map("Basket") { basket in
          if basket["name", as: String.self] == "b" { basket["name"] = "" }
        }))
    let error = try #require(refusal)
    #expect(error.code == .incompatibleSchema)
    #expect(error.entity == "Basket" && error.recordID == 2)
    #expect(error.violations.map(\.rule) == ["a basket with a limit has a name"])
    #expect(error.message.contains("after the stages"))
  }

  @Test func `rules after a stage check derived attributes that the stage changes`() throws {
    let refusal = try refusal(of: MigrationStage(to: 1, .map("Item") { $0["amount"] = 6 }))
    let error = try #require(refusal)
    #expect(error.entity == "Basket" && error.recordID == 1)
    #expect(error.violations.map(\.rule) == ["the total is within the limit"])
  }

  @Test func `rules after a stage are removed with the constraints of attributes`() throws {
    let refusal = try refusal(
      of: MigrationStage(
        to: 1,
        .custom("longer names") { tx in
          try tx.update("Basket", 1) { $0["name"] = "a very long name" }
        }))
    #expect(refusal?.violations.map(\.attribute) == ["name"])
    #expect(refusal?.recordID == 1)
  }

  @Test func `rules after a stage check the final values alone`() throws {
    let refusal = try refusal(
      of: MigrationStage(
        to: 1, .map("Item") { $0["amount"] = 60 },
        .custom("a basket that a later step names") { tx in
          _ = try tx.insert("Basket") { $0["limit"] = 1 }
        },
        .map("Basket") { basket in
          basket["limit"] = 200
          if basket["name", as: String.self] == "" { basket["name"] = "n" }
        }))
    #expect(refusal == nil)
  }

  @Test func `rules after a stage skip records that no step changed`() throws {
    let refusal = try refusal(
      of: MigrationStage(
        to: 1,
        .map("Basket") { basket in
          if basket["name", as: String.self] == "a" { basket["limit"] = 20 }
        }))
    #expect(refusal == nil)
  }
}
