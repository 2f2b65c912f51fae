import Foundation
import Testing

@testable import EntityStore

@Suite("Expiry")
struct ExpiryTests {
  @Test
  func `an expired record is in no read from its date on, and in the file until a write`() throws {
    try withOffers { store, clock in
      let (short, long) = try store.write { tx in
        (try tx.insert(Offer("short", until: 1_010)).id, try tx.insert(Offer("long")).id)
      }
      #expect(try store.count(Offer.all) == 2)
      clock.now = 1_009.999
      #expect(try store.fetch(short)?.code == "short")
      clock.now = 1_010
      #expect(try store.fetch(short) == nil)
      #expect(try store.fetch(Offer.all).map(\.code) == ["long"])
      #expect(try store.storedCount(of: Offer.self) == 2)
      try store.write { tx in try tx.insert(Shop(name: "any")) }
      #expect(try store.storedCount(of: Offer.self) == 1)
      #expect(try store.fetch(long)?.code == "long")
    }
  }

  @Test
  func `a snapshot keeps the time of its beginning`() throws {
    try withOffers { store, clock in
      try store.write { tx in _ = try tx.insert(Offer("a", until: 1_010)) }
      let pinned = try store.snapshot()
      try store.read { snapshot in
        clock.now = 1_020
        let (count, offer) = (
          try snapshot.count(Offer.all), try snapshot.fetch(Offer.key(code: "a"))
        )
        #expect(count == 1 && offer != nil)
      }
      #expect(try pinned.count(Offer.all) == 1)
      #expect(try store.count(Offer.all) == 0)
      try store.evict()
      #expect(try pinned.fetch(Offer.all).count == 1)
      try pinned.advance()
      #expect(try pinned.count(Offer.all) == 0)
    }
  }

  @Test
  func `an expired record gives its unique key to a new one, by insert and by upsert`() throws {
    try withOffers { store, clock in
      let first = try store.write { tx in try tx.insert(Offer("a", price: 1, until: 1_010)).id }
      _ = try storeError(.uniqueViolation) { try store.insert(Offer("a", price: 2)) }
      clock.now = 1_010
      let second = try store.insert(Offer("a", price: 2, until: 1_020)).id
      #expect(second != first)
      clock.now = 1_020
      try store.write { tx in
        _ = try tx.insert([Offer("a", price: 3)], onConflict: .replace)
      }
      #expect(try store.fetch(Offer.all).map(\.price) == [3])
    }
  }

  @Test
  func `links to an expired record lead to no record, and its eviction removes them`() throws {
    try withOffers { store, clock in
      let shop = try store.write { tx in
        let shop = try tx.insert(Shop(name: "s")).id
        _ = try tx.insert(Offer("a", until: 1_010, shop: shop))
        _ = try tx.insert(Offer("b", shop: shop))
        return shop
      }
      clock.now = 1_015
      try store.read { snapshot in
        let codes = try snapshot.related(Shop.offers, of: shop).map(\.code)
        let count = try snapshot.relatedCount(Shop.offers, of: shop)
        #expect(codes == ["b"] && count == 1)
      }
      let report = try store.evict()
      #expect(report.evictedCounts == ["Offer": 1])
      #expect(report.heldCount == 0)
      let again = try store.evict()
      #expect(again.evictedCount == 0)
    }
  }

  @Test
  func `the history reports an expired record as expired, and no undo restores it`()
    throws
  {
    try withOffers { store, clock in
      let (short, other) = try store.write { tx in
        (try tx.insert(Offer("a", until: 1_010)).id, try tx.insert(Offer("b")).id)
      }
      clock.now = 1_010
      let token = try store.read { try $0.historyToken() }
      try store.write { tx in _ = try tx.delete(other) }
      let writes = try store.read { try $0.history(.after(token)) }
      #expect(writes.count == 2)
      let changes = writes.flatMap { Array($0.changes) }
      #expect(changes.map(\.kind) == [.deleted, .deleted])
      #expect(changes.map(\.isExpired) == [true, false])
      #expect(changes.map(\.recordID) == [short.rawValue, other.rawValue])
      #expect(writes.map { $0.changes.expiredCount() } == [1, 0])
      #expect(writes[0].contextName == "expiry")
      _ = try storeError(.cannotUndo) {
        try store.write { tx in _ = try tx.undo(writes[0].token) }
      }
      try store.write { tx in _ = try tx.undo(writes[1].token) }
      #expect(try store.fetch(Offer.all).map(\.code) == ["b"])
    }
  }
}
