internal import LodestoreFormat

/// The yearly changes of a time zone's clocks, from the text at the end of its file, such as
/// `CET-1CEST,M3.5.0,M10.5.0/3`.
///
/// The text has the format of the variable TZ in POSIX, with hours from -167 to 167 as in RFC 9636.
struct ZoneCycle: Sendable {
  private let standard: Int64
  private var summer: Int64?
  private var start = ChangeDay.never
  private var end = ChangeDay.never

  /// A day of the year, and the local time of the change on it.
  private struct ChangeDay: Sendable {
    enum Day: Sendable {
      /// The day from 1 to 365, not counting February 29.
      case julian(Int64)
      /// The day from 0 to 365, counting February 29.
      case ordinal(Int64)
      /// The `week`th such weekday of a month, where 5 is the last one.
      ///
      /// Weekday 0 is Sunday.
      case weekday(month: Int64, week: Int64, weekday: Int64)
    }

    var day: Day
    /// The time in seconds from midnight.
    var time: Int64

    static let never = ChangeDay(day: .ordinal(0), time: 0)

    /// Returns the time of the change in `year`, in local seconds since 2001.
    func local(_ year: Int64) -> Int64 {
      let days: Int64
      let first = CalendarDay.days(year, 1, 1)
      switch day {
      case .julian(let number):
        let isLeap = CalendarDay.days(year + 1, 1, 1) - first == 366
        days = first + number - 1 + (isLeap && number >= 60 ? 1 : 0)
      case .ordinal(let number): days = first + number
      case .weekday(let month, let week, let weekday):
        let start = CalendarDay.days(year, month, 1)
        let next =
          month == 12 ? CalendarDay.days(year + 1, 1, 1) : CalendarDay.days(year, month + 1, 1)
        // Days are counted from 2001-01-01, which was a Monday. Monday is weekday 1 here.
        let startWeekday = (((start + 1) % 7) + 7) % 7
        var found = start + (weekday - startWeekday + 7) % 7 + (week - 1) * 7
        if found >= next { found -= 7 }
        days = found
      }
      return days * 86_400 + time
    }
  }

  /// Parses the text; `nil` if it does not follow the format.
  init?(_ text: [UInt8]) {
    var scanner = Scanner(text)
    guard scanner.name(), let standard = scanner.time(hours: 24) else { return nil }
    // In POSIX, offsets west of UTC are positive, so the sign is changed.
    self.standard = -standard
    if scanner.isAtEnd { return }
    guard scanner.name() else { return nil }
    var summer = self.standard + 3_600
    if !scanner.isAtEnd, !scanner.isAt(UInt8(ascii: ",")) {
      guard let offset = scanner.time(hours: 24) else { return nil }
      summer = -offset
    }
    self.summer = summer
    guard scanner.take(UInt8(ascii: ",")), let start = scanner.change(),
      scanner.take(UInt8(ascii: ",")), let end = scanner.change(), scanner.isAtEnd
    else { return nil }
    self.start = start
    self.end = end
  }

  /// Returns the number of seconds that clocks are ahead of UTC, at a moment in seconds since 2001.
  func offset(at seconds: Int64) -> Int64 {
    guard let summer else { return standard }
    let year = CalendarPart.year.part(ofLocal: seconds + standard)
    let begins = start.local(year) - standard
    let ends = end.local(year) - summer
    let isSummer =
      begins < ends
      ? begins <= seconds && seconds < ends : !(ends <= seconds && seconds < begins)
    return isSummer ? summer : standard
  }

  private struct Scanner {
    private let text: [UInt8]
    private var at = 0

    init(_ text: [UInt8]) { self.text = text }

    var isAtEnd: Bool { at == text.count }

    func isAt(_ byte: UInt8) -> Bool { at < text.count && text[at] == byte }

    mutating func take(_ byte: UInt8) -> Bool {
      guard isAt(byte) else { return false }
      at += 1
      return true
    }

    /// Reads a name such as `CET` or `<+03>`.
    mutating func name() -> Bool {
      let start = at
      if take(UInt8(ascii: "<")) {
        while at < text.count, text[at] != UInt8(ascii: ">") { at += 1 }
        return take(UInt8(ascii: ">"))
      }
      while at < text.count, (0x41...0x5A).contains(text[at] & 0xDF) { at += 1 }
      return at - start >= 3
    }

    mutating func number(atMost most: Int64) -> Int64? {
      let start = at
      var number: Int64 = 0
      while at < text.count, (0x30...0x39).contains(text[at]) {
        number = number * 10 + Int64(text[at] - 0x30)
        guard number <= most else { return nil }
        at += 1
      }
      return at > start ? number : nil
    }

    /// Reads `[±]hh[:mm[:ss]]`, and returns the seconds.
    mutating func time(hours: Int64) -> Int64? {
      let isNegative = take(UInt8(ascii: "-"))
      if !isNegative { _ = take(UInt8(ascii: "+")) }
      guard var seconds = number(atMost: hours).map({ $0 * 3_600 }) else { return nil }
      for unit: Int64 in [60, 1] {
        guard take(UInt8(ascii: ":")) else { break }
        guard let part = number(atMost: 59) else { return nil }
        seconds += part * unit
      }
      return isNegative ? -seconds : seconds
    }

    /// Reads a change such as `M3.5.0/2`, `J60` or `59`.
    mutating func change() -> ChangeDay? {
      let day: ChangeDay.Day
      if take(UInt8(ascii: "J")) {
        guard let number = number(atMost: 365), number >= 1 else { return nil }
        day = .julian(number)
      } else if take(UInt8(ascii: "M")) {
        guard let month = number(atMost: 12), month >= 1, take(UInt8(ascii: ".")),
          let week = number(atMost: 5), week >= 1, take(UInt8(ascii: ".")),
          let weekday = number(atMost: 6)
        else { return nil }
        day = .weekday(month: month, week: week, weekday: weekday)
      } else {
        guard let number = number(atMost: 365) else { return nil }
        day = .ordinal(number)
      }
      guard take(UInt8(ascii: "/")) else { return ChangeDay(day: day, time: 7_200) }
      guard let time = time(hours: 167) else { return nil }
      return ChangeDay(day: day, time: time)
    }
  }
}
