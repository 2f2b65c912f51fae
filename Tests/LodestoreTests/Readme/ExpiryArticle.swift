#if Macros
  import Foundation
  import Lodestore
  import Testing

  // The Swift of the article Expiry.

  enum ExpiryArticle {
    @Entity struct Offer {
      #Unique<Offer>([\.code])
      #Expires<Offer>([\.validUntil])

      var code: String
      var price: Int
      var validUntil: Date?
    }

    static func reading(_ store: Store) throws -> (offers: [Offer], count: Int) {
      let offers = try store.fetch(Offer.where { $0.price < 100 }.sorted(by: \.validUntil))
      let count = try store.count(Offer.all)

      return (offers, count)
    }

    static func evicting(_ store: Store) throws {
      let report = try store.evict()
      print("removed \(report.evictedCount), could not remove \(report.heldCount)")
    }

    static var clock: StoreOptions {
      var options = StoreOptions()
      options.now = { Date(timeIntervalSinceReferenceDate: 800_000_000) }

      return options
    }
  }

  @Suite struct `The article on expiry` {
    @Test func `an offer expires at its date`() throws {
      let store = try Store.inMemory(
        entities: [ExpiryArticle.Offer.self], options: ExpiryArticle.clock)
      defer { store.close() }
      try store.write { tx in
        try tx.insert(
          ExpiryArticle.Offer(
            code: "past", price: 5,
            validUntil: Date(timeIntervalSinceReferenceDate: 799_999_999)))
        try tx.insert(ExpiryArticle.Offer(code: "ever", price: 6, validUntil: nil))
      }
      let found = try ExpiryArticle.reading(store)
      #expect(found.offers.map(\.code) == ["ever"] && found.count == 1)
      try ExpiryArticle.evicting(store)
    }
  }
#endif
