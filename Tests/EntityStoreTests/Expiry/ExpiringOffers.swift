import Foundation
import Synchronization
import Testing

@testable import EntityStore

/// A clock that stands still until a test moves it.
final class TestClock: Sendable {
  private let seconds: Mutex<Double>

  init(_ seconds: Double = 1_000) { self.seconds = Mutex(seconds) }

  var now: Double {
    get { seconds.withLock { $0 } }
    set { seconds.withLock { $0 = newValue } }
  }

  /// Options of a store that uses this clock, and evicts only before writes.
  var options: StoreOptions {
    var options = StoreOptions()
    options.now = { [self] in Date(timeIntervalSinceReferenceDate: now) }
    options.evictionInterval = nil
    return options
  }
}

/// An offer of a shop, until a date.
struct Offer: Hashable {
  var id = RecordID<Offer>()
  var code: String
  var price: Int
  var validUntil: Date?
  var shop: RecordID<Shop>?

  init(_ code: String, price: Int = 0, until: Double? = nil, shop: RecordID<Shop>? = nil) {
    self.code = code
    self.price = price
    validUntil = until.map { Date(timeIntervalSinceReferenceDate: $0) }
    self.shop = shop
  }
}

extension Offer: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Offer, RecordID<Offer>> { .recordID }
    var code: Attribute<Offer, String> { .init(0) }
    var price: Attribute<Offer, Int> { .init(1) }
    var validUntil: Attribute<Offer, Date?> { .init(2) }
    var shop: Attribute<Offer, RecordID<Shop>?> { .init(3) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Offer>(
    "Offer",
    attributes: [
      .init("code", \.code), .init("price", \.price), .init("validUntil", \.validUntil),
      .toOne("shop", \.shop),
    ],
    unique: [[\.code]], indexes: [[\.price]], history: .kept(images: true),
    expires: [\.validUntil])

  static let byCode = Offer.index(\.code)
  static let byPrice = Offer.index(\.price)

  static func key(code: String) -> EntityKey<Offer> { byCode.key(code) }

  func encode(into writer: inout RecordWriter) {
    writer.write(code)
    writer.write(price)
    writer.write(validUntil)
    writer.write(shop)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    code = try reader.read()
    price = try reader.read()
    validUntil = try reader.read()
    shop = try reader.read()
  }
}

/// A shop, which does not expire.
struct Shop: Hashable {
  var id = RecordID<Shop>()
  var name: String
}

extension Shop: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Shop, RecordID<Shop>> { .recordID }
    var name: Attribute<Shop, String> { .init(0) }
    var offers: ToMany<Shop, Offer> { Shop.offers }
  }

  static var attributes: Attributes { Attributes() }
  static let offers = ToMany<Shop, Offer>(inverse: \.shop)

  static let schema = EntitySchema<Shop>(
    "Shop", attributes: [.init("name", \.name)], unique: [[\.name]],
    relationships: [.init("offers", Shop.offers)], history: .kept(images: true))

  func encode(into writer: inout RecordWriter) { writer.write(name) }

  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
}

/// Runs `body` on a new store of offers and shops with a clock, and verifies the file.
func withOffers<R>(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: (Store, TestClock) throws -> R
) throws -> R {
  let clock = TestClock()
  return try withTemporaryStore(
    [Offer.self, Shop.self], options: clock.options, sourceLocation: sourceLocation
  ) { try body($0, clock) }
}

extension Store {
  /// The number of an entity's records in the file, including expired ones.
  func storedCount<E: Entity>(of type: E.Type) throws -> Int {
    try core.read { try $0.count(of: try $0.entity(type)) }
  }
}
