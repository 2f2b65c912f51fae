import Foundation
import Testing

@testable import EntityStore

/// The offers and shops as a program expects them, kept in dictionaries.
private struct ShopModel {
  struct Item {
    var code: String
    var price: Int
    var until: Double?
    var shop: UInt64?
  }

  var offers: [UInt64: Item] = [:]
  var shops: Set<UInt64> = []

  func present(_ now: Double) -> [UInt64: Item] {
    offers.filter { $0.value.until.map { $0 > now } ?? true }
  }

  mutating func evict(_ now: Double) { offers = present(now) }
}

/// Random writes and reads while a clock moves, against ``ShopModel``.
private final class ExpiryRun {
  let store: Store
  let clock: TestClock
  var numbers: SeededNumbers
  var model = ShopModel()

  init(_ store: Store, _ clock: TestClock, _ numbers: SeededNumbers) {
    (self.store, self.clock, self.numbers) = (store, clock, numbers)
  }

  func step() throws {
    if numbers.oneIn(3) { clock.now += Double(numbers.below(8)) }
    switch numbers.below(10) {
    case 0: try insertShop()
    case 1, 2, 3: try insertOffer()
    case 4: try upsert()
    case 5: try modify()
    case 6: try delete()
    case 7: try deleteShop()
    case 8: try evict()
    default: break
    }
    try check()
  }

  private func offer() -> Offer {
    let code = "c\(numbers.below(12))"
    // Some offers have already expired when they are written.
    let until: Double? = numbers.oneIn(4) ? nil : clock.now + Double(numbers.below(20) - 2)
    let shop = numbers.oneIn(3) ? nil : model.shops.sorted().randomElement(using: &numbers)
    return Offer(
      code, price: numbers.below(10), until: until, shop: shop.map { RecordID(rawValue: $0) })
  }

  private func item(_ offer: Offer) -> ShopModel.Item {
    .init(
      code: offer.code, price: offer.price,
      until: offer.validUntil?.timeIntervalSinceReferenceDate, shop: offer.shop?.rawValue)
  }

  private func insertShop() throws {
    model.evict(clock.now)
    model.shops.insert(try store.insert(Shop(name: UUID().uuidString)).id.rawValue)
  }

  private func insertOffer() throws {
    let offer = offer()
    model.evict(clock.now)
    let isTaken = model.offers.values.contains { $0.code == offer.code }
    do {
      let inserted = try store.insert(offer)
      #expect(!isTaken, "\(SeededNumbers.replay)")
      model.offers[inserted.id.rawValue] = item(offer)
    } catch let error as StoreError where error.code == .uniqueViolation {
      #expect(isTaken, "\(SeededNumbers.replay)")
    }
  }

  private func upsert() throws {
    var offers: [String: Offer] = [:]
    for _ in 0...numbers.below(6) {
      let offer = offer()
      offers[offer.code] = offer
    }
    model.evict(clock.now)
    let sorted = offers.values.sorted { $0.code < $1.code }
    try store.write { tx in _ = try tx.insert(sorted, onConflict: .replace) }
    let stored = try store.core.read { core in
      var ids: [String: UInt64] = [:]
      let entity = try core.entity(Offer.self)
      try core.forEachStored(of: entity) { (id, bytes) throws(StoreError) in
        ids[try core.decode(Offer.self, bytes, id: id, of: entity).code] = id
      }
      return ids
    }
    for offer in sorted {
      let known = model.offers.first { $0.value.code == offer.code }?.key
      let id = try #require(stored[offer.code])
      #expect(known == nil || known == id, "\(SeededNumbers.replay)")
      model.offers[id] = item(offer)
    }
  }

  private func modify() throws {
    model.evict(clock.now)
    let price = numbers.below(10)
    let later = clock.now + 5
    try store.update(Offer.where { $0.price == price }) {
      $0.validUntil = Date(timeIntervalSinceReferenceDate: later)
    }
    for (id, item) in model.offers where item.price == price { model.offers[id]?.until = later }
  }

  private func delete() throws {
    model.evict(clock.now)
    let price = numbers.below(10)
    let count = try store.delete(Offer.where { $0.price == price })
    let expected = model.offers.filter { $0.value.price == price }
    #expect(count == expected.count, "\(SeededNumbers.replay)")
    for id in expected.keys { model.offers[id] = nil }
  }

  private func deleteShop() throws {
    guard let shop = model.shops.sorted().randomElement(using: &numbers) else { return }
    model.evict(clock.now)
    try store.delete(RecordID<Shop>(rawValue: shop))
    model.shops.remove(shop)
    for (id, item) in model.offers where item.shop == shop { model.offers[id]?.shop = nil }
  }

  private func evict() throws {
    let before = model.offers.count
    model.evict(clock.now)
    let report = try store.evict()
    #expect(report.evictedCount == before - model.offers.count, "\(SeededNumbers.replay)")
  }

  private func check() throws {
    let present = model.present(clock.now)
    let replay = Comment(rawValue: SeededNumbers.replay)
    try store.read { snapshot in
      let ids = try snapshot.ids(Offer.all).map(\.rawValue)
      let count = try snapshot.count(Offer.all)
      #expect(ids == present.keys.sorted() && count == present.count, replay)
      let price = numbers.below(10)
      let cheap = try snapshot.ids(Offer.where { $0.price < price }).map(\.rawValue)
      #expect(cheap == present.filter { $0.value.price < price }.keys.sorted(), replay)
      for id in model.offers.keys {
        let isThere = try snapshot.fetch(RecordID<Offer>(rawValue: id)) != nil
        #expect(isThere == (present[id] != nil), replay)
      }
      let sum = try snapshot.aggregate(Offer.all, .sum(\.price)) ?? 0
      #expect(sum == present.values.reduce(0) { $0 + $1.price }, replay)
      for shop in model.shops {
        let linked = try snapshot.relatedIDs(Shop.offers, of: RecordID(rawValue: shop))
        let expected = present.filter { $0.value.shop == shop }.keys.sorted()
        #expect(linked.map(\.rawValue) == expected, replay)
      }
      let withOffers = try snapshot.ids(Shop.where(format: "offers.@count > 0")).map(\.rawValue)
      #expect(withOffers == Set(present.values.compactMap(\.shop)).sorted(), replay)
    }
    let stored = try store.storedCount(of: Offer.self)
    #expect(stored == model.offers.count, replay)
  }
}

@Suite struct `Random operations while records expire` {
  /// The variable `LODESTORE_EXPIRY_STEPS` sets the number of operations.
  @Test(arguments: [1, 2, 3])
  func `random operations on expiring records agree with a model that has a clock`(salt: UInt64)
    throws
  {
    let steps = SeededNumbers.environmentNumber("LODESTORE_EXPIRY_STEPS") ?? 150
    try withOffers { store, clock in
      let run = ExpiryRun(store, clock, SeededNumbers(salt: 7_700 + salt))
      for _ in 0..<steps { try run.step() }
    }
  }
}
