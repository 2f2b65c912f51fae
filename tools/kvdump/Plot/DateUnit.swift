import EntityStore
import LodestoreFormat

/// Equal parts of time: days, months, or a number of years.
enum DateUnit: Equatable {
  case day, month
  case years(Int)

  /// The smallest unit that divides the time between two dates into at most `most` parts.
  ///
  /// - Returns: `nil` for dates that are millions of years away.
  static func dividing(_ low: Double, _ high: Double, most: Int) -> DateUnit? {
    let years = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000].map(DateUnit.years)
    for unit in [.day, .month] + years {
      if let first = unit.part(of: low), let last = unit.part(of: high), last - first < most {
        return unit
      }
    }
    return nil
  }

  /// The number of the part with a date, which is in seconds since 2001.
  ///
  /// - Returns: `nil` for a date that is millions of years away.
  func part(of date: Double) -> Int? {
    guard abs(date) < 1e14 else { return nil }
    let day = Int((date / 86_400).rounded(.down))
    guard self != .day else { return day }
    let (year, month) = Self.civil(day)
    return if case .years(let count) = self { Self.floor(year, count) } else { year * 12 + month }
  }

  /// The first day, month or year of a part as text.
  func text(of part: Int) -> String {
    switch self {
    case .day:
      let text = KeyText.text(of: .date(Double(part) * 86_400))
      return String(text.prefix { $0 != "T" })
    case .month:
      let year = Self.floor(part, 12)
      return "\(Self.text(year))-\(Self.digits(part - year * 12 + 1, 2))"
    case .years(let count): return Self.text(part * count)
    }
  }

  var noun: String {
    switch self {
    case .day: "day"
    case .month: "month"
    case .years(let count): count == 1 ? "year" : "\(NumberText.grouped(count)) years"
    }
  }

  private static func text(_ year: Int) -> String {
    (year < 0 ? "-" : "") + digits(abs(year), 4)
  }

  private static func digits(_ number: Int, _ count: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(count - text.count, 0)) + text
  }

  private static func floor(_ number: Int, _ divisor: Int) -> Int {
    number >= 0 ? number / divisor : -((divisor - 1 - number) / divisor)
  }

  /// The year and the month, from 0, of a day since 2001 in the Gregorian calendar.
  ///
  /// Years are counted from March, so that the day of a leap year is the last one.
  private static func civil(_ day: Int) -> (year: Int, month: Int) {
    let days = day + 730_791
    let era = floor(days, 146_097)
    let dayOfEra = days - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let fromMarch = (5 * dayOfYear + 2) / 153
    let month = (fromMarch + 2) % 12
    return (yearOfEra + era * 400 + (month < 2 ? 1 : 0), month)
  }
}
