import LodestoreBytes

/// Dates as internet protocols write them.
///
/// - `Fri, 05 Jan 2024 10:00:00 GMT` (RFC 1123 and RFC 9110, with an offset also RFC 5322)
/// - `Friday, 05-Jan-24 10:00:00 GMT` (RFC 850)
/// - `Fri Jan  5 10:00:00 2024` (asctime)
///
/// The day of the week must match the date. With a year of two digits it determines the century,
/// from 1900 to 2099. Only the first form may omit it.
enum InternetDateText {
  /// Seconds since 1970-01-01; `nil` if the text has another form or the date does not exist.
  static func seconds(_ bytes: ByteView) -> Int? {
    guard (20...40).contains(bytes.count) else { return nil }
    var rest = Array(bytes)[...]
    guard let first = rest.first else { return nil }
    if first <= 0x39 { return standard(&rest, dayOfWeek: nil) }
    var long = rest
    if let day = DateNames.day(&long, isLong: true), take(", ", &long) {
      return old(&long, dayOfWeek: day)
    }
    guard let day = DateNames.day(&rest, isLong: false) else { return nil }
    return take(", ", &rest) ? standard(&rest, dayOfWeek: day) : asctime(&rest, dayOfWeek: day)
  }

  /// Reads `05 Jan 2024 10:00:00 GMT`, with one or two digits of the day.
  private static func standard(_ rest: inout ArraySlice<UInt8>, dayOfWeek: Int?) -> Int? {
    guard let day = number(&rest, 1...2), take(" ", &rest),
      let month = DateNames.month(&rest, isLong: false), take(" ", &rest),
      let year = number(&rest, 4...4), take(" ", &rest), let time = time(&rest),
      take(" ", &rest), let zone = zone(&rest), rest.isEmpty
    else { return nil }
    return seconds(year: year, month: month, day: day, time: time, dayOfWeek: dayOfWeek)
      .map { $0 - zone }
  }

  /// Reads `05-Jan-24 10:00:00 GMT`.
  private static func old(_ rest: inout ArraySlice<UInt8>, dayOfWeek: Int) -> Int? {
    guard let day = number(&rest, 2...2), take("-", &rest),
      let month = DateNames.month(&rest, isLong: false), take("-", &rest),
      let year = number(&rest, 2...2), take(" ", &rest), let time = time(&rest),
      take(" ", &rest), zone(&rest) == 0, rest.isEmpty
    else { return nil }
    // The dates in the years 19.. and 20.. fall on different days of the week, so at most one of
    // them fits.
    return seconds(year: 2000 + year, month: month, day: day, time: time, dayOfWeek: dayOfWeek)
      ?? seconds(year: 1900 + year, month: month, day: day, time: time, dayOfWeek: dayOfWeek)
  }

  /// Reads ` Jan  5 10:00:00 2024`.
  private static func asctime(_ rest: inout ArraySlice<UInt8>, dayOfWeek: Int) -> Int? {
    guard take(" ", &rest), let month = DateNames.month(&rest, isLong: false), take(" ", &rest)
    else { return nil }
    let isPadded = take(" ", &rest)
    guard let day = number(&rest, isPadded ? 1...1 : 2...2), take(" ", &rest),
      let time = time(&rest), take(" ", &rest), let year = number(&rest, 4...4), rest.isEmpty
    else { return nil }
    return seconds(year: year, month: month, day: day, time: time, dayOfWeek: dayOfWeek)
  }

  private static func seconds(
    year: Int, month: Int, day: Int, time: Int, dayOfWeek: Int?
  ) -> Int? {
    guard day >= 1, day <= ISO8601Text.length(ofMonth: month, year: year) else { return nil }
    let days = ISO8601Text.days(year: year, month: month, day: day)
    guard dayOfWeek == nil || dayOfWeek == DateNames.dayOfWeek(days) else { return nil }
    return days * ISO8601Text.secondsPerDay + time
  }

  private static func time(_ rest: inout ArraySlice<UInt8>) -> Int? {
    guard let hour = number(&rest, 2...2), hour < 24, take(":", &rest),
      let minute = number(&rest, 2...2), minute < 60, take(":", &rest),
      let second = number(&rest, 2...2), second < 60
    else { return nil }
    return (hour * 60 + minute) * 60 + second
  }

  /// Reads a zone and returns its seconds east of UTC.
  private static func zone(_ rest: inout ArraySlice<UInt8>) -> Int? {
    if take("GMT", &rest) || take("UTC", &rest) || take("UT", &rest) { return 0 }
    let isWest = take("-", &rest)
    guard isWest || take("+", &rest), let hours = number(&rest, 2...2), hours < 24,
      let minutes = number(&rest, 2...2), minutes < 60
    else { return nil }
    let seconds = (hours * 60 + minutes) * 60
    return isWest ? -seconds : seconds
  }

  private static func take(_ text: String, _ rest: inout ArraySlice<UInt8>) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest.removeFirst(text.utf8.count)
    return true
  }

  private static func number(_ rest: inout ArraySlice<UInt8>, _ digits: ClosedRange<Int>) -> Int? {
    let found = rest.prefix(digits.upperBound).prefix { (0x30...0x39).contains($0) }
    guard found.count >= digits.lowerBound else { return nil }
    rest = rest[found.endIndex...]
    return found.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }
}
