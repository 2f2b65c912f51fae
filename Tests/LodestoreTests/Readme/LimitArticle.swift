#if Macros
  import Foundation
  import Lodestore
  import Testing

  // The Swift of the article EntityLimits.

  enum LimitArticle {
    @Entity struct Page {
      #Unique<Page>([\.url])
      #Limit<Page>(count: 10_000, bytes: 64 * 1024 * 1024, by: [\.usedAt])

      var url: String
      var body: String
      var usedAt: Date
    }

    struct Tile: Entity {
      var id = RecordID<Tile>()
      var name: String

      static let schema = EntitySchema<Tile>(
        "Tile", attributes: [.init("name", \.name)], limit: EntityLimit(count: 500))

      init(name: String) { self.name = name }

      func encode(into writer: inout RecordWriter) { writer.write(name) }

      init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
    }

    static func using(_ store: Store, _ url: String) throws {
      try store.update(Page.where { $0.url == url }) { $0.usedAt = Date() }
    }

    static func evicting(_ store: Store) throws {
      let report = try store.evict()
      print("removed \(report.evictedCount), could not remove \(report.heldCount)")
    }
  }

  @Suite struct `The article on limits` {
    @Test func `a used page stays, and the oldest page is evicted`() throws {
      let store = try Store.inMemory(entities: [LimitArticle.Page.self, LimitArticle.Tile.self])
      defer { store.close() }
      try store.write { tx in
        try tx.insert(
          (0...10_000).map {
            LimitArticle.Page(
              url: "u\($0)", body: "", usedAt: Date(timeIntervalSinceReferenceDate: Double($0)))
          })
        try tx.insert((0..<501).map { LimitArticle.Tile(name: "t\($0)") })
      }
      try LimitArticle.using(store, "u0")
      try LimitArticle.evicting(store)
      #expect(try store.count(LimitArticle.Page.all) == 10_000)
      #expect(try store.count(LimitArticle.Page.where { $0.url == "u0" }) == 1)
      #expect(try store.count(LimitArticle.Page.where { $0.url == "u1" }) == 0)
      #expect(try store.count(LimitArticle.Tile.all) == 500)
    }
  }
#endif
