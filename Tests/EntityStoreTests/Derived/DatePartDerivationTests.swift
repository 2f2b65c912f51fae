import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// A version of the entity "Visit", as a program declares it; `zone` is the time zone of its date
/// parts.
private protocol VisitZone: Sendable {
  static var zone: DateZone { get }
}

private enum UTC: VisitZone { static let zone = DateZone.utc }
private enum East: VisitZone { static let zone = DateZone.offset(hours: 9, minutes: 30) }
private enum Berlin: VisitZone { static let zone = DateZone.named("Europe/Berlin") }

private struct Visit<Zone: VisitZone>: Entity {
  var id = RecordID<Visit>()
  var at: Date
  var leftAt: Date?
  private(set) var weekday: Int?
  private(set) var month: Date?
  private(set) var leftHour: Int?

  init(_ at: Date, leftAt: Date? = nil) {
    self.at = at
    self.leftAt = leftAt
  }

  struct Attributes: Sendable {
    var at: Attribute<Visit, Date> { .init(0) }
    var leftAt: Attribute<Visit, Date?> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static var schema: EntitySchema<Visit> {
    EntitySchema(
      "Visit",
      attributes: [
        .init("at", \.at), .init("leftAt", \.leftAt),
        .derived("weekday", \.weekday, .part(.weekday, of: \.at, in: Zone.zone)),
        .derived("month", \.month, .start(of: .month, \.at, in: Zone.zone)),
        .derived("leftHour", \.leftHour, .part(.hour, of: \.leftAt, in: Zone.zone)),
      ], indexes: [[\.weekday], [\.month]])
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    at = try reader.read()
    leftAt = try reader.read()
    weekday = try reader.read()
    month = try reader.read()
    leftHour = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(at)
    writer.write(leftAt)
  }

  func expectParts(_ offset: Int64) {
    func part(_ part: CalendarPart, _ date: Date?) -> Value {
      date.map { part.value(of: $0.timeIntervalSinceReferenceDate, offset: offset) } ?? .null
    }
    #expect(part(.weekday, at) == (weekday.map { .integer(Int64($0)) } ?? .null))
    #expect(
      part(.startOfMonth, at)
        == (month.map { .date($0.timeIntervalSinceReferenceDate) } ?? .null))
    #expect(part(.hour, leftAt) == (leftHour.map { .integer(Int64($0)) } ?? .null))
  }
}

@Suite struct `Attributes derived from dates` {
  private static func visits<Zone>(_: Zone.Type) -> [Visit<Zone>] {
    var numbers = SeededNumbers(salt: 41)
    return (0..<2_000).map { number in
      let date = Date(timeIntervalSinceReferenceDate: Double(numbers.below(800_000_000)) - 1e8)
      return Visit(
        number == 3 ? Date(timeIntervalSinceReferenceDate: .infinity) : date,
        leftAt: number % 4 == 0 ? nil : date + 7_200)
    }
  }

  @Test func `date parts follow their dates through inserts, updates and other definitions`() throws
  {
    try withTemporaryPath { path in
      do {
        let store = try Store(at: path, entities: [Visit<UTC>.self])
        try store.insert(Self.visits(UTC.self))
        for visit in try store.fetch(Visit<UTC>.all) { visit.expectParts(0) }
        try store.update(Visit<UTC>.where { $0.at[.weekday] == 2 }) { $0.at = $0.at + 86_400 }
        #expect(try store.count(Visit<UTC>.where { $0.at[.weekday] == 2 }) == 0)
        let first = try #require(try store.first(Visit<UTC>.all))
        try store.modify(first.id) { $0.leftAt = nil }
        for visit in try store.fetch(Visit<UTC>.all) { visit.expectParts(0) }
        let features = store.core.schema.entities.first?.description.features
        #expect(features?.contains(.derivedDatePart) == true)
        store.close()
      }
      // A program with another time zone recalculates the parts of all records.
      let store = try Store(at: path, entities: [Visit<East>.self])
      for visit in try store.fetch(Visit<East>.all) { visit.expectParts(34_200) }
      store.close()
    }
  }

  @Test func `date parts serve conditions, orders and groups by the part itself`() throws {
    try withTemporaryStore([Visit<East>.self]) { store in
      try store.insert(Self.visits(East.self))
      let zone = East.zone
      try store.read { snapshot throws in
        let sundays = Visit<East>.where { $0.at[.weekday, in: zone] == 7 }
        let plan = try snapshot.explain(sundays, for: .count).description
        #expect(plan.hasPrefix("index   Visit.weekday at (7)"), "\(plan)")
        #expect(
          try snapshot.count(sundays)
            == snapshot.fetch(Visit<East>.all).count {
              $0.weekday == 7
            })
        // No attribute holds the weekday in this other time zone, so the condition needs a scan.
        let other = try snapshot.explain(Visit<East>.where { $0.at[.weekday] == 7 }).description
        #expect(other.hasPrefix("scan"), "\(other)")
        let ordered = Visit<East>.all.sorted(by: \.at[startOf: .month, in: zone].ascending).limit(3)
        let order = try snapshot.explain(ordered).description
        #expect(order.contains("order   of the index"), "\(order)")
        let groups = try snapshot.groups(Visit<East>.all, by: \.at[.weekday, in: zone])
        #expect(groups.map(\.key) == [nil, 1, 2, 3, 4, 5, 6, 7])
        #expect(groups.map(\.count).reduce(0, +) == 2_000)
      }
    }
  }

  @Test func `date parts in a named time zone are refused`() throws {
    let error = #expect(throws: StoreError.self) {
      try Store.inMemory(entities: [Visit<Berlin>.self])
    }
    #expect(error?.code == .badSchema)
    #expect(error?.message.contains("'Europe/Berlin'") == true, "\(error?.message ?? "")")
  }
}
