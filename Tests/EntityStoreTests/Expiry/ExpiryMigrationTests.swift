import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// A pass, which ends at a date.
private struct Pass: Entity {
  var id = RecordID<Pass>()
  var code: String
  var until: Date?

  static let schema = EntitySchema<Pass>(
    "Pass", attributes: [.init("code", \.code), .init("until", \.until)], unique: [[\.code]],
    expires: [\.until])

  func encode(into writer: inout RecordWriter) {
    writer.write(code)
    writer.write(until)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    code = try reader.read()
    until = try reader.read()
  }
}

/// ``Pass`` as a program declares it that knows no expiry.
private struct LastingPass: Entity {
  var id = RecordID<LastingPass>()
  var code: String
  var until: Date?

  static let schema = EntitySchema<LastingPass>(
    "Pass", attributes: [.init("code", \.code), .init("until", \.until)], unique: [[\.code]])

  init(_ code: String, until: Double) {
    self.code = code
    self.until = Date(timeIntervalSinceReferenceDate: until)
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(code)
    writer.write(until)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    code = try reader.read()
    until = try reader.read()
  }
}

/// ``Pass`` as a program declares it that knows only the code.
private struct ShortPass: Entity {
  var id = RecordID<ShortPass>()
  var code: String

  static let schema = EntitySchema<ShortPass>("Pass", attributes: [.init("code", \.code)])

  func encode(into writer: inout RecordWriter) { writer.write(code) }

  init(from reader: inout RecordReader) throws(StoreError) { code = try reader.read() }
}

/// ``Offer`` that expires by a text.
private struct BadOffer: Entity {
  var id = RecordID<BadOffer>()
  var code: String

  static let schema = EntitySchema<BadOffer>(
    "BadOffer", attributes: [.init("code", \.code)], expires: [\.code])

  func encode(into writer: inout RecordWriter) { writer.write(code) }

  init(from reader: inout RecordReader) throws(StoreError) { code = try reader.read() }
}

/// A second entity next to offers; its writes evict offers.
private struct Slip: Entity {
  var id = RecordID<Slip>()
  var text: String

  static let schema = EntitySchema<Slip>("Slip", attributes: [.init("text", \.text)])

  init(text: String) { self.text = text }

  func encode(into writer: inout RecordWriter) { writer.write(text) }

  init(from reader: inout RecordReader) throws(StoreError) { text = try reader.read() }
}

@Suite struct `Expiry of a stored entity` {
  private static let entities: [any Entity.Type] = [Offer.self, Shop.self]

  private func open(_ path: String, _ clock: TestClock, _ types: [any Entity.Type]) throws -> Store
  {
    try Store(at: path, entities: types, options: clock.options)
  }

  @Test(arguments: [false, true])
  func `an expiry is declared over stored records and removed`(buildsInUse: Bool) throws {
    try withTemporaryPath { path in
      let clock = TestClock()
      let lasting = try open(path, clock, [LastingPass.self])
      try lasting.write { tx in
        for index in 0..<10 {
          _ = try tx.insert(LastingPass("c\(index)", until: index % 2 == 0 ? 900 : 1_100))
        }
      }
      lasting.close()

      var options = clock.options
      options.buildsIndexesInUse = buildsInUse
      let expiring = try Store(at: path, entities: [Pass.self], options: options)
      #expect(try expiring.count(Pass.all) == 5)
      #expect(try expiring.storedCount(of: Pass.self) == 10)
      let requirement = try expiring.core.environment.read {
        try Catalogue.requirement(expiring.core.trees.header, in: $0)
      }
      #expect(requirement.lowestReader == 6 && requirement.lowestWriter == 6)
      expiring.close()

      // A program that declares only a part of the entity does not change its expiry.
      let short = try open(path, clock, [ShortPass.self])
      #expect(try short.count(ShortPass.all) == 5)
      short.close()

      let again = try open(path, clock, [LastingPass.self])
      #expect(try again.count(LastingPass.all) == 10)
      let indexes = try again.core.read { try $0.entity(LastingPass.self).indexes.count }
      #expect(indexes == 1)
      again.close()
    }
  }

  @Test
  func `an expiry holds for readers and for programs that do not declare the entity`() throws {
    try withTemporaryPath { path in
      let clock = TestClock()
      let store = try open(path, clock, Self.entities)
      try store.write { tx in _ = try tx.insert(Offer("a", until: 1_010)) }
      store.close()
      clock.now = 1_020

      var options = clock.options
      options.access = .readOnly
      let reader = try Store(at: path, entities: Self.entities, options: options)
      #expect(try reader.count(Offer.all) == 0)
      #expect(try reader.storedCount(of: Offer.self) == 1)
      _ = try storeError(.readOnly) { () throws in _ = try reader.evict() as EvictionReport }
      reader.close()

      let notes = try open(path, clock, [Slip.self])
      try notes.write { tx in _ = try tx.insert(Slip(text: "s")) }
      #expect(try notes.core.read { try $0.count(of: try $0.entity(named: "Offer")) } == 0)
      notes.close()
    }
  }

  @Test
  func `an expiry by an attribute without a date is refused`() throws {
    try withTemporaryPath { path in
      let error = try storeError(.badSchema) { try Store(at: path, entities: [BadOffer.self]) }
      #expect(error.message.contains("name an attribute of type Date"))
      try Store(at: path, entities: [Slip.self]).close()
    }
  }

  @Test
  func `an expiry is described in the catalogue, and read back`() throws {
    try withOffers { store, _ in
      let description = try store.core.read { try $0.entity(Offer.self).description }
      #expect(description.expiryText == "validUntil")
      #expect(description.indexes.contains { $0.attributes == [description.expiry?.attribute] })
      let again = try EntityDescription(number: description.number, document: description.document)
      #expect(again.expiry == description.expiry)
      #expect(description.features.contains(.expiry))
    }
  }
}
