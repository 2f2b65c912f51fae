import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// An event, whose dates may be at any time.
private struct Event: Equatable {
  var id = RecordID<Event>()
  var name: String
  var at: Date
  var endsAt: Date?
  var seconds = 0.0
}

extension Event: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Event, Event.ID> { .recordID }
    var name: Attribute<Event, String> { .init(0) }
    var at: Attribute<Event, Date> { .init(1) }
    var endsAt: Attribute<Event, Date?> { .init(2) }
    var seconds: Attribute<Event, Double> { .init(3) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Event>(
    "Event",
    attributes: [
      .init("name", \.name), .init("at", \.at), .init("endsAt", \.endsAt),
      .init("seconds", \.seconds),
    ], indexes: [[\.at]])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    at = try reader.read()
    endsAt = try reader.read()
    seconds = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(at)
    writer.write(endsAt)
    writer.write(seconds)
  }
}

@Suite struct `Parts of dates in queries` {
  private func withEvents(_ body: (Store, [Event]) throws -> Void) throws {
    try withTemporaryStore([Event.self]) { store in
      var numbers = SeededNumbers(salt: 21)
      // The dates are from 1995 to 2030. Some are at the edges of years, and some have no parts.
      var dates = (0..<500).map { _ in Double(numbers.below(1_100_000_000)) - 200_000_000.5 }
      for year in 1998...2026 {
        let start = Double(CalendarDay.days(Int64(year), 1, 1) * 86_400)
        dates += [start, start - 0.5, start + 7_199]
      }
      dates += [0x1p60, -0x1p53, .infinity]
      try store.insert(
        dates.enumerated().map { number, seconds in
          Event(
            name: "E\(number)", at: Date(timeIntervalSinceReferenceDate: seconds),
            endsAt: number % 5 == 0 ? nil : Date(timeIntervalSinceReferenceDate: seconds + 3_600))
        })
      try body(store, try store.fetch(Event.all))
    }
  }

  private static func part(_ part: CalendarPart, _ date: Date?, _ offset: Int64 = 0) -> Value {
    date.map { part.value(of: $0.timeIntervalSinceReferenceDate, offset: offset) } ?? .null
  }

  @Test func `conditions compare parts of dates, in lines and in format strings`() throws {
    try withEvents { store, events in
      let cases: [(String, Condition<Event>?, (Event) -> Bool)] = [
        (
          "year:(at) == 2024", Condition { $0.at[.year] == 2024 },
          {
            Self.part(.year, $0.at) == .integer(2024)
          }
        ),
        (
          "year(at) IN {2001, 2002}", Condition { $0.at[.year].isIn([2001, 2002]) },
          {
            [.integer(2001), .integer(2002)].contains(Self.part(.year, $0.at))
          }
        ),
        (
          "2010 < year:(at)", Condition { $0.at[.year] > 2010 },
          {
            if case .integer(let year) = Self.part(.year, $0.at) { year > 2010 } else { false }
          }
        ),
        (
          "year:(at) <= 1999", Condition { $0.at[.year] <= 1999 },
          {
            if case .integer(let year) = Self.part(.year, $0.at) { year <= 1999 } else { false }
          }
        ),
        (
          "year:(at) != 2024", Condition { $0.at[.year] != 2024 },
          {
            Self.part(.year, $0.at) != .integer(2024)
          }
        ),
        (
          "year:(at) == NULL", Condition { $0.at[.year] == nil },
          {
            Self.part(.year, $0.at) == .null
          }
        ),
        (
          "year:(at, '+02:00') == 2024", Condition { $0.at[.year, in: .offset(hours: 2)] == 2024 },
          {
            Self.part(.year, $0.at, 7_200) == .integer(2024)
          }
        ),
        (
          "year:(at) BETWEEN {2003, 2005}", Condition { $0.at[.year].isIn(2003...2005) },
          {
            if case .integer(let year) = Self.part(.year, $0.at) {
              (2003...2005).contains(year)
            } else {
              false
            }
          }
        ),
        (
          "year:(at) > 2003.5", nil,
          {
            if case .integer(let year) = Self.part(.year, $0.at) { year > 2003 } else { false }
          }
        ),
        (
          "month:(endsAt) == 1", Condition { $0.endsAt[.month] == 1 },
          {
            Self.part(.month, $0.endsAt) == .integer(1)
          }
        ),
        (
          "weekday:(at) > 5 AND hour:(at) < 12",
          Condition {
            $0.at[.weekday] > 5; $0.at[.hour] < 12
          },
          {
            guard case .integer(let day) = Self.part(.weekday, $0.at),
              case .integer(let hour) = Self.part(.hour, $0.at)
            else { return false }
            return day > 5 && hour < 12
          }
        ),
        (
          "week:(at) == 53", Condition { $0.at[.week] == 53 },
          {
            Self.part(.week, $0.at) == .integer(53)
          }
        ),
        (
          "quarter:(at) == quarter:(endsAt)", nil,
          {
            Self.part(.quarter, $0.at) == Self.part(.quarter, $0.endsAt)
          }
        ),
        (
          "startOfMonth:(at) == CAST('2005-01-01', 'date')", nil,
          {
            Self.part(.startOfMonth, $0.at) == .date(126_230_400)
          }
        ),
        ("startOfMonth:(at) == CAST('2005-01-02', 'date')", nil, { _ in false }),
        (
          "startOfMonth:(at) > CAST('2005-01-02', 'date')", nil,
          {
            $0.at.timeIntervalSinceReferenceDate >= 128_908_800
              && Self.part(.startOfMonth, $0.at) != .null
          }
        ),
        (
          "startOfDay:(at, '-03:30') >= '2010-05-05T03:30:00Z'", nil,
          {
            if case .date(let start) = Self.part(.startOfDay, $0.at, -12_600) {
              start >= 294_723_000
            } else {
              false
            }
          }
        ),
      ]
      for (format, condition, isTrue) in cases {
        let expected = events.filter(isTrue).map(\.id)
        var conditions = [try Condition<Event>(format: format)]
        if let condition { conditions.append(condition) }
        for condition in conditions {
          #expect(try store.fetch(Event.where(condition)).map(\.id) == expected, "\(format)")
          #expect(
            try store.count(Event.where(not(condition))) == events.count - expected.count,
            "\(format)")
          let again = try Condition<Event>(format: condition.description)
          #expect(try store.count(Event.where(again)) == expected.count, "\(condition)")
        }
      }
    }
  }

  @Test func `years and the beginnings of periods use an index over the date`() throws {
    try withEvents { store, events in
      try store.read { snapshot throws in
        for condition in [
          Condition<Event> { $0.at[.year] == 2024 },
          Condition<Event> { $0.at[.year, in: .offset(hours: -5)].isIn(2003...2004) },
          Condition<Event> {
            $0.at[startOf: .month] == Date(timeIntervalSinceReferenceDate: 126_230_400)
          },
        ] {
          let plan = try snapshot.explain(Event.where(condition)).description
          #expect(plan.hasPrefix("index   Event.at from"), "\(plan)")
          #expect(!plan.contains("on each record"), "\(plan)")
        }
        let months = try snapshot.explain(Event.where { $0.at[.month] == 5 }).description
        #expect(months.hasPrefix("scan"), "\(months)")
      }
    }
  }

  @Test func `parts of dates make groups, sections and orders`() throws {
    try withEvents { store, events in
      try store.read { snapshot throws in
        let years = try snapshot.groups(Event.all, by: \.at[.year], .count(\.endsAt))
        let byYear = Dictionary(grouping: events) { Self.part(.year, $0.at) }
        #expect(years.count == byYear.count)
        #expect(years.first?.key == nil && years.first?.count == 3)
        for year in years {
          let found = byYear[year.key.map { .integer(Int64($0)) } ?? .null] ?? []
          #expect(year.count == found.count)
          #expect(year.values == found.count { $0.endsAt != nil })
        }
        let zone = DateZone.offset(hours: 2)
        let query = Event.all.sorted(
          by: \.at[startOf: .month, in: zone].descending, \.name.ascending)
        let sections = try snapshot.sections(query, by: \.at[startOf: .month, in: zone])
        #expect(sections.last?.key == nil && sections.last?.count == 3)
        let keys = sections.compactMap(\.key)
        #expect(keys == keys.sorted(by: >))
        for section in sections {
          #expect(section.items.map(\.name) == section.items.map(\.name).sorted())
          for event in section.items {
            #expect(
              Self.part(.startOfMonth, event.at, 7_200)
                == (section.key.map { .date($0.timeIntervalSinceReferenceDate) } ?? .null))
          }
        }
        #expect(
          try snapshot.sectionRanges(query, by: \.at[startOf: .month, in: zone]).map(\.count)
            == sections.map(\.count))
        let ordered = try snapshot.fetch(Event.all.sorted { [$0.at[.weekday].ascending] })
        let days = ordered.compactMap { event -> Int64? in
          if case .integer(let day) = Self.part(.weekday, event.at) { day } else { nil }
        }
        #expect(days == days.sorted() && days.count == events.count - 3)
      }
    }
  }

  @Test func `parts of dates are those of a named time zone if the machine knows it`() throws {
    guard ZoneRules("Europe/Berlin") != nil else {
      print("skipped: this machine has no time zone Europe/Berlin")
      return
    }
    try withEvents { store, events in
      let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = zone
      let found = try store.fetch(
        Event.where { $0.at[.hour, in: .named("Europe/Berlin")] == 0 }
      ).map(\.id)
      let expected = events.filter {
        $0.at.timeIntervalSinceReferenceDate.magnitude < 1e12
          && calendar.component(.hour, from: $0.at) == 0
      }
      #expect(found == expected.map(\.id))
      let format = try store.count(Event.where(format: "hour:(at, 'Europe/Berlin') == 0"))
      #expect(format == expected.count)
    }
  }

  @Test(arguments: [
    ("year:(name) == 2", "a part of a string"), ("year:(at, 'Nowhere/Town') == 2", "no time zone"),
    ("year:(at, 5) == 2", "time zone"), ("year:(seconds) == 2", "a part of a number"),
    ("yaer:(at) == 2", "did you mean year?"),
  ])
  func `impossible parts of dates are refused with the fault`(format: String, part: String) throws {
    try withEvents { store, _ in
      let error = #expect(throws: StoreError.self) {
        try store.fetch(try Event.where(format: format))
      }
      #expect(error?.code == .invalidQuery)
      #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }
  }

  @Test func `parts of dates have equal names as functions of format strings`() {
    let functions = OperandFunction.allCases.compactMap { $0.calendarPart }
    #expect(functions == CalendarPart.allCases)
    let parts = DatePart.allCases.compactMap { $0.calendarPart }
    #expect(parts.count == DatePart.allCases.count)
    let units = DateUnit.allCases.compactMap { $0.calendarPart }.filter { $0.isDate }
    #expect(units.count == DateUnit.allCases.count)
  }

  @Test func `parts of dates move dates in an update, and have differences`() throws {
    try withTemporaryStore([Event.self]) { store in
      let start = Date(timeIntervalSinceReferenceDate: 1_000)
      try store.insert([
        Event(name: "a", at: start, endsAt: start + 60), Event(name: "b", at: start),
      ])
      try store.write { tx throws in
        try tx.update(Event.all) {
          $0.at = $0.at + 86_400
          $0.endsAt = $0.endsAt - 30
        }
      }
      var events = try store.fetch(Event.all)
      #expect(events.map(\.at) == [start + 86_400, start + 86_400])
      #expect(events.map(\.endsAt) == [start + 30, nil])
      try store.write { tx throws in
        try tx.update(Event.all) {
          $0.at -= 86_400
          $0.endsAt = $0.at + 2 * 3_600
        }
      }
      events = try store.fetch(Event.all)
      // The right side reads the record before the update.
      #expect(events.map(\.endsAt) == [start + 93_600, start + 93_600])
      try store.write { tx throws in
        try tx.update(Event.where { $0.endsAt != nil }) {
          $0.set(\.seconds, format: "endsAt - at")
        }
        try tx.update(Event.where { $0.name == "b" }) { $0.seconds = $0.seconds * 2 + 1 }
        try tx.update(Event.where { $0.name == "b" }) { $0.at = $0.at + $0.seconds }
      }
      events = try store.fetch(Event.all)
      #expect(events.map(\.seconds) == [93_600, 187_201])
      #expect(events.map(\.at) == [start, start + 187_201])
      try store.write { tx throws in
        try tx.update(Event.all) { $0.set(\.at, format: "startOfDay:(at) + 3600") }
      }
      #expect(
        try store.fetch(Event.all).map(\.at)
          == [3_600, 176_400].map { Date(timeIntervalSinceReferenceDate: $0) })
    }
  }
}
