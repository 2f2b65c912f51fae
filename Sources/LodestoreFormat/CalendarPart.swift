/// A part of a date: a number, or the moment at which a period began.
///
/// The calendar is the proleptic Gregorian one without leap seconds, by ISO 8601: weeks begin on
/// Monday, and the first week of a year contains its first Thursday. See Format.md, "Derived
/// attributes".
package enum CalendarPart: String, Sendable, Hashable, CaseIterable {
  case year
  /// The quarter of the year, from 1 to 4.
  case quarter
  /// The month, from 1 to 12.
  case month
  /// The year to which the ISO week belongs.
  case weekYear
  /// The ISO week of ``weekYear``, from 1 to 53.
  case week
  /// The day of the year, from 1 to 366.
  case dayOfYear
  /// The day of the month, from 1 to 31.
  case day
  /// The day of the week, from 1 for Monday to 7 for Sunday.
  case weekday
  /// The hour, from 0 to 23.
  case hour
  /// The minute or the second, from 0 to 59.
  case minute, second
  case startOfYear, startOfQuarter, startOfMonth, startOfWeek, startOfDay, startOfHour

  /// Whether the part is a date; otherwise it is an integer.
  package var isDate: Bool {
    switch self {
    case .startOfYear, .startOfQuarter, .startOfMonth, .startOfWeek, .startOfDay, .startOfHour: true
    case .year, .quarter, .month, .weekYear, .week, .dayOfYear, .day, .weekday, .hour, .minute,
      .second:
      false
    }
  }

  /// The type of attributes that hold the part.
  package var type: AttributeType { isDate ? .date : .int64 }
}

extension CalendarPart {
  /// Dates at least this many seconds from 2001 have no parts, because a double does not hold their
  /// whole seconds exactly.
  private static let secondLimit = 0x1p53

  /// The whole seconds of a date since 2001, rounded down; `nil` if the date has no parts.
  package static func wholeSeconds(_ date: Double) -> Int64? {
    // Not-a-number fails this comparison too.
    guard date.magnitude < secondLimit else { return nil }
    return Int64(date.rounded(.down))
  }

  /// The part of a date in a time zone `offset` seconds ahead of UTC; null if the date has no
  /// parts.
  package func value(of date: Double, offset: Int64) -> Value {
    guard let seconds = Self.wholeSeconds(date) else { return .null }
    let part = part(ofLocal: seconds + offset)
    return isDate ? .date(Double(part - offset)) : .integer(part)
  }

  /// Returns the part of a local time, which is given in seconds since 2001.
  ///
  /// The result is a number, such as the month, or the local time at which the period began.
  package func part(ofLocal local: Int64) -> Int64 {
    let (days, time) = local.flooredQuotient(by: 86_400)
    switch self {
    case .hour: return time / 3_600
    case .minute: return time / 60 % 60
    case .second: return time % 60
    case .weekday: return days.flooredQuotient(by: 7).remainder + 1
    case .startOfHour: return local - time % 3_600
    case .startOfDay: return days * 86_400
    // Day 0 was a Monday.
    case .startOfWeek: return days.flooredQuotient(by: 7).quotient * 7 * 86_400
    case .weekYear: return CalendarDay(thursday(of: days)).year
    case .week: return (CalendarDay(thursday(of: days)).dayOfYear - 1) / 7 + 1
    default: break
    }
    let day = CalendarDay(days)
    switch self {
    case .year: return day.year
    case .quarter: return (day.month - 1) / 3 + 1
    case .month: return day.month
    case .dayOfYear: return day.dayOfYear
    case .startOfYear: return CalendarDay.days(day.year, 1, 1) * 86_400
    case .startOfQuarter: return CalendarDay.days(day.year, (day.month - 1) / 3 * 3 + 1, 1) * 86_400
    case .startOfMonth: return CalendarDay.days(day.year, day.month, 1) * 86_400
    default: return day.day
    }
  }

  /// The Thursday of the day's week.
  ///
  /// Its year is the year to which the week belongs.
  private func thursday(of days: Int64) -> Int64 { days.flooredQuotient(by: 7).quotient * 7 + 3 }
}

/// A day of the proleptic Gregorian calendar.
package struct CalendarDay: Sendable, Hashable {
  package let year: Int64
  package let month: Int64
  package let day: Int64

  /// Days from 0000-03-01, where the eras of 400 years begin, to 2001-01-01.
  ///
  /// An era begins in March, so that a leap day is the last day of its year.
  private static let eraOrigin: Int64 = 730_791
  private static let daysPerEra: Int64 = 146_097

  /// The day that is `days` after 2001-01-01.
  package init(_ days: Int64) {
    let (era, dayOfEra) = (days + Self.eraOrigin).flooredQuotient(by: Self.daysPerEra)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    // Months are counted from March as 0. Five months together have 153 days.
    let shifted = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shifted + 2) / 5 + 1
    month = shifted < 10 ? shifted + 3 : shifted - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// The days from 2001-01-01 to the given day; months are from 1 to 12.
  package static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let (era, yearOfEra) = (month <= 2 ? year - 1 : year).flooredQuotient(by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * daysPerEra + dayOfEra - eraOrigin
  }

  /// The day of the year, from 1 to 366.
  package var dayOfYear: Int64 { Self.days(year, month, day) - Self.days(year, 1, 1) + 1 }
}

extension Int64 {
  /// The quotient rounded down, and the non-negative remainder.
  fileprivate func flooredQuotient(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
