import Foundation
import Testing

@testable import LodestoreFormat

@Suite struct `Parts of dates` {
  private static let utc = Calendar.utc(firstWeekday: 2, minimumDays: 4)

  /// Foundation's calendars agree from 1583 on; before, they follow the Julian calendar.
  @Test func `parts of dates agree with Foundation's calendars`() {
    var random = SeededGenerator(salt: 5)
    let calendar = Self.utc
    for _ in 0..<2_000 {
      let seconds =
        Double(Int64.random(in: -13_000_000_000...30_000_000_000, using: &random)) + 0.25
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      let parts = calendar.dateComponents(
        [.year, .month, .day, .hour, .minute, .second, .weekday, .weekOfYear, .yearForWeekOfYear],
        from: date)
      let expected: [(CalendarPart, Int?)] = [
        (.year, parts.year), (.month, parts.month), (.day, parts.day), (.hour, parts.hour),
        (.minute, parts.minute), (.second, parts.second),
        (.weekday, parts.weekday.map { ($0 + 5) % 7 + 1 }), (.week, parts.weekOfYear),
        (.weekYear, parts.yearForWeekOfYear), (.quarter, parts.month.map { ($0 - 1) / 3 + 1 }),
        (.dayOfYear, calendar.ordinality(of: .day, in: .year, for: date)),
      ]
      for (part, number) in expected {
        #expect(
          part.value(of: seconds, offset: 0) == .integer(Int64(number ?? -1)), "\(part) \(date)")
      }
      let starts: [(CalendarPart, Calendar.Component)] = [
        (.startOfYear, .year), (.startOfMonth, .month), (.startOfDay, .day), (.startOfHour, .hour),
        (.startOfWeek, .weekOfYear),
      ]
      for (part, component) in starts {
        let start = calendar.dateInterval(of: component, for: date)?.start
        #expect(
          part.value(of: seconds, offset: 0)
            == .date(start?.timeIntervalSinceReferenceDate ?? .nan), "\(part) \(date)")
      }
    }
  }

  @Test(
    arguments: [
      // The dates are 0001-01-01, 0000-02-29, -0004-12-31 23:59:59, 2001-01-01, and the last half
      // second of 2000.
      //
      // The last part is the weekday.
      (-63_113_904_000.0, [1, 1, 1, 1]), (-63_140_428_800, [0, 2, 29, 2]),
      (-63_240_134_401, [-4, 12, 31, 2]), (0, [2001, 1, 1, 1]), (-0.5, [2000, 12, 31, 7]),
    ] as [(Double, [Int64])])
  func `parts of dates exist before the year 1`(seconds: Double, parts: [Int64]) {
    let found = [CalendarPart.year, .month, .day, .weekday].map { $0.value(of: seconds, offset: 0) }
    #expect(found == parts.map { .integer($0) })
  }

  @Test func `parts are null for dates beyond the seconds that a double represents`() {
    for part in CalendarPart.allCases {
      for date in [Double.nan, .infinity, -.infinity, 0x1p53, -0x1p53, 1e300] {
        #expect(part.value(of: date, offset: 0) == .null)
      }
      #expect(part.value(of: 0x1p53 - 1, offset: 86_399) != .null)
      #expect(part.value(of: 1 - 0x1p53, offset: -86_399) != .null)
    }
    #expect(CalendarPart.year.value(of: 0x1p53 - 1, offset: 0) == .integer(285_428_782))
  }

  @Test func `parts of consecutive dates follow each other`() {
    // Over four eras, each day must be the successor of the day before.
    var last = CalendarDay(-300_000)
    var wrong: [Int64] = []
    for days in Int64(-299_999)..<300_000 {
      let day = CalendarDay(days)
      let isNext =
        day.day == 1
        ? day.month == last.month % 12 + 1
          && day.year == (day.month == 1 ? last.year + 1 : last.year)
        : (day.year, day.month, day.day) == (last.year, last.month, last.day + 1)
      if !isNext || CalendarDay.days(day.year, day.month, day.day) != days { wrong.append(days) }
      last = day
    }
    #expect(wrong == [])
  }

  @Test func `parts of dates at an offset are those of the clocks there`() {
    // The date is 2000-12-31 23:30 UTC.
    let date = -1_800.0
    #expect(CalendarPart.year.value(of: date, offset: 3_600) == .integer(2001))
    #expect(CalendarPart.hour.value(of: date, offset: 3_600) == .integer(0))
    #expect(CalendarPart.startOfDay.value(of: date, offset: 3_600) == .date(-3_600))
    #expect(CalendarPart.startOfYear.value(of: date, offset: -3_600) == .date(-31_618_800))
  }
}

extension Calendar {
  fileprivate static func utc(firstWeekday: Int, minimumDays: Int) -> Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? calendar.timeZone
    calendar.firstWeekday = firstWeekday
    calendar.minimumDaysInFirstWeek = minimumDays
    return calendar
  }
}
