import Foundation
import Testing

@testable import EntityStore

/// A place where things are sold.
private struct Stall: Entity {
  var id = RecordID<Stall>()
  var name: String
  var note: String?

  static let sales = ToMany<Stall, Sale>(inverse: \.stall)

  struct Attributes: Sendable {
    var id: Attribute<Stall, Stall.ID> { .recordID }
    var name: Attribute<Stall, String> { .init(0) }
    var note: Attribute<Stall, String?> { .init(1) }
    var sales: ToMany<Stall, Sale> { Stall.sales }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Stall>(
    "Stall", attributes: [.init("name", \.name), .init("note", \.note)],
    relationships: [.init("sales", sales)])

  init(name: String, note: String? = nil) {
    self.name = name
    self.note = note
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    note = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(note)
  }
}

/// A thing that was sold at a stall.
private struct Sale: Entity {
  var id = RecordID<Sale>()
  var amount: Double
  var soldAt: Date
  var stall: Stall.ID?

  struct Attributes: Sendable {
    var id: Attribute<Sale, Sale.ID> { .recordID }
    var amount: Attribute<Sale, Double> { .init(0) }
    var soldAt: Attribute<Sale, Date> { .init(1) }
    var stall: Attribute<Sale, Stall.ID?> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Sale>(
    "Sale",
    attributes: [
      .init("amount", \.amount), .init("soldAt", \.soldAt), .toOne("stall", \.stall),
    ])

  init(_ amount: Double, at soldAt: Date = .distantPast, stall: Stall.ID?) {
    self.amount = amount
    self.soldAt = soldAt
    self.stall = stall
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    amount = try reader.read()
    soldAt = try reader.read()
    stall = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(amount)
    writer.write(soldAt)
    writer.write(stall)
  }
}

@Suite struct `Values of related records` {
  private static let entities: [any Entity.Type] = [Stall.self, Sale.self]

  @Test(arguments: [[.nan, 1, 2], [1, .nan, 2], [2, 1, .nan]])
  func `values of related records have a minimum and a maximum without not-a-number`(
    amounts: [Double]
  ) throws {
    try withTemporaryStore(Self.entities) { store in
      let stall = try store.insert(Stall(name: "a")).id
      try store.insert(amounts.map { Sale($0, stall: stall) })
      let none = try store.insert(Stall(name: "b")).id
      try store.insert(Sale(.nan, stall: none))
      #expect(
        try store.ids(Stall.where(format: "sales.@min.amount == 1 AND sales.@max.amount == 2"))
          == [stall])
      #expect(try store.ids(Stall.where { $0.sales.maximum(\.amount) == nil }) == [none])
      let sorted = Stall.all.sorted { [$0.sales.minimum(\.amount).descending] }
      #expect(try store.ids(sorted) == [stall, none])
    }
  }

  @Test func `conditions take a length or a part of a date of a related record`() throws {
    try withTemporaryStore(Self.entities) { store in
      let stall = try store.insert(Stall(name: "a", note: "x")).id
      let year = 366.0 * 86_400
      let sales = try store.insert(
        (0..<3).map { Sale(1, at: Date(timeIntervalSince1970: Double($0) * year), stall: stall) })
      #expect(
        try store.ids(
          Sale.where {
            $0.stall[\.name.length] == 1; $0.soldAt[.year] == 1971
          })
          == [sales.ids[1]])
      #expect(try store.groups(Sale.all, by: \.stall[\.name.length]).map(\.count) == [3])
      // Members of the groups can be used within one longer expression.
      let counts = try (
        store.groups(Sale.all, by: \.stall).count,
        store.read { try $0.groups(Sale.all, by: \.soldAt) { $0.count > 1 }.count }
      )
      #expect(counts == (1, 0))
      // An optional attribute of an optional related record is optional only once.
      let notes: [String?] = try store.groups(Sale.all, by: \.stall[\.note]).map(\.key)
      #expect(notes == ["x"])
    }
  }

  /// Without the refusal, the query would use the ids of the records as values.
  @Test func `computed values of related records have no sum and no maximum`() throws {
    try withTemporaryStore(Self.entities) { store in
      let stall = try store.insert(Stall(name: "a")).id
      try store.insert(Sale(1, stall: stall))
      for query in [
        Stall.where { $0.sales.maximum(\.soldAt[.year]) == 1 },
        Stall.all.sorted { [$0.sales.sum(\.soldAt[.year]).ascending] },
      ] {
        let error = try storeError(.invalidQuery) { try store.fetch(query) }
        #expect(error.message.contains("'year:(soldAt)' is computed"), "\(error)")
        #expect(error.message.contains("derived attribute of Sale"), "\(error)")
      }
    }
  }
}
