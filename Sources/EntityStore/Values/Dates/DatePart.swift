internal import LodestoreFormat

/// A part of a date that is a number, for conditions, orders, groups, sections and derived
/// attributes.
///
///     Order.where { $0.createdAt[.year] == 2024; $0.createdAt[.weekday, in: .named("Europe/Berlin")] > 5 }
///
/// Parts are those of the proleptic Gregorian calendar and of ISO 8601, without leap seconds. A
/// part is null for a null date, and for a date that is not finite or is 2^53 seconds or more from
/// 2001.
public enum DatePart: String, Sendable, Hashable, CaseIterable {
  /// The year; 0 is the year before the year 1.
  case year
  /// The quarter of the year, from 1 to 4.
  case quarter
  /// The month, from 1 to 12.
  case month
  /// The year to which ``week`` belongs, by ISO 8601.
  ///
  /// Around January 1 it may be the year before or after ``year``.
  case weekYear
  /// The week by ISO 8601, from 1 to 53.
  ///
  /// A week begins on Monday, and week 1 contains the first Thursday of the year.
  case week
  /// The day of the year, from 1 to 366.
  case dayOfYear
  /// The day of the month, from 1 to 31.
  case day
  /// The day of the week by ISO 8601, from 1 for Monday to 7 for Sunday.
  case weekday
  /// The hour, from 0 to 23.
  case hour
  /// The minute, from 0 to 59.
  case minute
  /// The second, from 0 to 59.
  case second

  var calendarPart: CalendarPart? { CalendarPart(rawValue: rawValue) }
}

/// A unit of time whose beginning is a part of a date, for groups and sections by month and the
/// like.
///
///     let months = Order.all.sorted(by: \.createdAt[startOf: .month].descending)
public enum DateUnit: String, Sendable, Hashable, CaseIterable {
  /// The year, which begins on January 1.
  case year
  /// The quarter, which begins on January 1, April 1, July 1 or October 1.
  case quarter
  /// The month, which begins on its first day.
  case month
  /// The week, which begins on Monday.
  case week
  /// The day, which begins at midnight.
  case day
  /// The hour, which begins at minute 0.
  case hour

  var calendarPart: CalendarPart? {
    CalendarPart(rawValue: "startOf" + rawValue.prefix(1).uppercased() + rawValue.dropFirst())
  }
}

/// The time zone in which a part of a date is computed: UTC, an offset from it, or a named zone.
public struct DateZone: Sendable, Hashable, CustomStringConvertible {
  /// The name: `UTC`, an offset such as `+02:00`, or the name of a zone.
  let name: String

  /// Coordinated Universal Time.
  public static let utc = DateZone(name: "UTC")

  /// Returns a zone that is always this far ahead of UTC; a negative offset is west of it.
  ///
  /// - Precondition: the offset is less than a day in either direction, and minutes have the sign
  ///   of the hours.
  public static func offset(hours: Int, minutes: Int = 0) -> DateZone {
    let total = hours * 60 + minutes
    precondition(
      abs(total) < 24 * 60 && abs(minutes) < 60 && hours.signum() * minutes.signum() >= 0,
      "\(hours) hours and \(minutes) minutes is no offset from UTC")
    return DateZone(name: ZoneRules.text(ofOffset: Int64(total) * 60))
  }

  /// Returns a zone of the machine's database of time zones, such as `Europe/Berlin`.
  ///
  /// A query with a zone that the machine does not know throws ``StoreError/Code/invalidQuery``.
  /// The rules come with the system. Another machine, or the same one after an update, may have
  /// other rules for future dates. So derived attributes and rules take only UTC and offsets.
  public static func named(_ name: String) -> DateZone { DateZone(name: name) }

  /// The name or the offset.
  public var description: String { name }
}
