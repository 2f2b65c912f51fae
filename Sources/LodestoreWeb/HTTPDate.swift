/// Dates of header fields: RFC 9110, 5.6.7.
enum HTTPDate {
  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// Seconds since 1970 of a date in one of the three forms; `nil` for any other text.
  static func seconds(_ text: String) -> Int? {
    guard text.utf8.count <= 64 else { return nil }
    let parts = text.lowercased().split { " ,-:".contains($0) }.map(String.init)
    guard parts.count == 7 || parts.count == 8,
      parts[0].utf8.allSatisfy({ (0x61...0x7A).contains($0) })
    else { return nil }
    // The forms are "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", and C's
    // asctime, "Sun Nov 6 08:49:37 1994".
    let isC = parts.count == 7
    guard isC || parts[7] == "gmt" || parts[7] == "utc",
      let month = months.firstIndex(of: parts[isC ? 1 : 2]),
      let day = number(parts[isC ? 2 : 1], 1...31),
      let hour = number(parts[isC ? 3 : 4], 0...23),
      let minute = number(parts[isC ? 4 : 5], 0...59),
      let second = number(parts[isC ? 5 : 6], 0...60),
      let year = year(parts[isC ? 6 : 3])
    else { return nil }
    return ((days(year, month + 1, day) * 24 + hour) * 60 + minute) * 60 + second
  }

  private static func number(_ text: String, _ range: ClosedRange<Int>) -> Int? {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text) else {
      return nil
    }
    return range.contains(number) ? number : nil
  }

  private static func year(_ text: String) -> Int? {
    guard text.utf8.count == 2 else { return number(text, 1970...9999) }
    return number(text, 0...99).map { $0 < 70 ? 2000 + $0 : 1900 + $0 }
  }

  /// Days from 1970-01-01 to a date of the Gregorian calendar.
  ///
  /// Years are counted from March here, so that the leap day is the last day of a year.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month > 2 ? year : year - 1
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
  }
}
