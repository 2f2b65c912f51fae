import LodestoreBytes
package import LodestoreEssentials

/// Dates as text, in the proleptic Gregorian calendar without leap seconds.
///
/// Writes ISO 8601. Reads ISO 8601 and the forms of RFC 9110, which the web uses.
package enum ISO8601Text {
  /// Seconds from 1970-01-01 to 2001-01-01, the origin of `Date`.
  package static let referenceOffset = 978_307_200
  package static let secondsPerDay = 86_400

  /// Reads a date.
  ///
  /// - `1977-05-25`: without a time the date is midnight. Years have four digits, or a sign and
  ///   six.
  /// - `1977-05-25T20:30Z`, `1988-04-15 03:03:10`: hours, minutes and optional seconds follow `T`
  ///   or one space. Without a zone the time is UTC.
  /// - `2024-02-29T12:00:00.123456+05:30`: a fraction has any length and follows a point or a
  ///   comma. The zone is `Z`, `UTC`, `GMT`, `±hh:mm`, `±hhmm` or `±hh`, and may follow one space.
  /// - `20240105T100000Z`: a date with a time may omit the signs in both.
  /// - `Fri, 05 Jan 2024 10:00:00 GMT` and the other forms of ``InternetDateText``.
  ///
  /// Every other text yields `nil`, including days and times that do not exist: `02-30`, `24:00`,
  /// `23:59:60`.
  package static func date(_ text: some StringProtocol) -> Date? {
    var copy = String(text)
    return copy.withUTF8 { date(bytes: ByteView($0)) }
  }

  static func date(bytes: ByteView) -> Date? {
    var scanner = Scanner(bytes: bytes)
    guard let day = scanner.day() else {
      return InternetDateText.seconds(bytes).map {
        Date(timeIntervalSinceReferenceDate: Double($0 - referenceOffset))
      }
    }
    var seconds = day * secondsPerDay
    var fraction = (digits: 0, scale: 1.0)
    if !scanner.isAtEnd {
      guard scanner.take("T") || scanner.take("t") || !scanner.isBasic && scanner.take(" ") else {
        return nil
      }
      guard let time = scanner.time(), let zone = scanner.zone(), scanner.isAtEnd else {
        return nil
      }
      seconds += time.seconds - zone
      fraction = time.fraction
    } else if scanner.isBasic {
      // A text of only eight digits may be any number, so it is not read as a date.
      return nil
    }
    return Date(
      timeIntervalSinceReferenceDate: time(
        seconds - referenceOffset, fraction.digits, of: fraction.scale))
  }

  /// The double nearest to `whole` + `digits` / `scale`, where `scale` is a power of ten up to
  /// 10^18.
  private static func time(_ whole: Int, _ digits: Int, of scale: Double) -> Double {
    let (product, hasOverflow) = whole.multipliedReportingOverflow(by: Int(scale))
    // A double holds both numbers exactly, so only the division rounds.
    if !hasOverflow, product.magnitude < 1 << 52, digits < 1 << 52 {
      return Double(product + digits) / scale
    }
    // Here the fraction is rounded separately. Its error is below the resolution of the sum, or the
    // fraction has more digits than a double holds.
    return Double(whole) + Double(digits) / scale
  }

  /// Writes a date in UTC, such as `2024-02-29T12:00:00Z`.
  ///
  /// The text has 3, 6, 9, 12 or 15 digits of a second if fewer do not read back as the same date.
  /// Fifteen digits are enough except within ten seconds of 2001-01-01, because `Date` is more
  /// precise there. Years outside 0...9999 have a sign and six digits. Returns `nil` for years
  /// outside ±999999 and for dates that are not finite.
  package static func text(_ date: Date) -> String? {
    let time = date.timeIntervalSinceReferenceDate
    guard abs(time) < 4e13 else { return nil }
    let whole = time.rounded(.down)
    let seconds = Int(whole) + referenceOffset
    if whole == time { return text(seconds: seconds, fraction: 0, digits: 0) }
    for (digits, scale) in [(3, 1e3), (6, 1e6), (9, 1e9), (12, 1e12), (15, 1e15)] {
      let fraction = Int(((time - whole) * scale).rounded())
      // A fraction that rounds up to a whole second belongs to the next second.
      let carry = fraction == Int(scale) ? 1 : 0
      let rest = carry == 1 ? 0 : fraction
      if digits == 15 || Self.time(Int(whole) + carry, rest, of: scale) == time {
        return text(seconds: seconds + carry, fraction: rest, digits: digits)
      }
    }
    return nil
  }

  private static func text(seconds: Int, fraction: Int, digits: Int) -> String? {
    let (days, time) = floorDivide(seconds, secondsPerDay)
    let (year, month, day) = civil(days: days)
    guard abs(year) <= 999_999 else { return nil }
    var bytes: [UInt8] = []
    if (0...9999).contains(year) {
      append(year, digits: 4, to: &bytes)
    } else {
      bytes.append(UInt8(ascii: year < 0 ? "-" : "+"))
      append(abs(year), digits: 6, to: &bytes)
    }
    for (separator, value) in [
      ("-", month), ("-", day), ("T", time / 3600), (":", time / 60 % 60), (":", time % 60),
    ] as [(UnicodeScalar, Int)] {
      bytes.append(UInt8(ascii: separator))
      append(value, digits: 2, to: &bytes)
    }
    if digits > 0 {
      bytes.append(UInt8(ascii: "."))
      append(fraction, digits: digits, to: &bytes)
    }
    bytes.append(UInt8(ascii: "Z"))
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func append(_ value: Int, digits: Int, to bytes: inout [UInt8]) {
    let start = bytes.count
    var rest = value
    for _ in 0..<digits {
      bytes.append(0x30 + UInt8(rest % 10))
      rest /= 10
    }
    bytes[start...].reverse()
  }
}

// MARK: - Calendar

extension ISO8601Text {
  private static func floorDivide(_ value: Int, _ divisor: Int) -> (Int, Int) {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  /// The days since 1970-01-01.
  ///
  /// Years are counted from March, so that the leap day is the last day.
  package static func days(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = floorDivide(shifted, 400)
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
    let (era, day) = floorDivide(days + 719_468, 146_097)
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
    let dayOfYear = day - (365 * year + year / 4 - year / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (era * 400 + year + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  package static func length(ofMonth month: Int, year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

// MARK: - Reading

extension ISO8601Text {
  private struct Scanner {
    let bytes: ByteView
    var at = 0
    /// Whether the date and the time are written without signs between their parts.
    var isBasic = false

    var isAtEnd: Bool { at == bytes.count }

    mutating func take(_ scalar: UnicodeScalar) -> Bool {
      guard at < bytes.count, bytes[at] == UInt8(ascii: scalar) else { return false }
      at += 1
      return true
    }

    /// Takes the sign between two parts.
    ///
    /// The basic form has no sign.
    mutating func take(between sign: UnicodeScalar) -> Bool { isBasic || take(sign) }

    mutating func number(digits: Int, in range: ClosedRange<Int>) -> Int? {
      guard at + digits <= bytes.count else { return nil }
      var value = 0
      for _ in 0..<digits {
        let digit = bytes[at] &- 0x30
        guard digit <= 9 else { return nil }
        value = value * 10 + Int(digit)
        at += 1
      }
      return range.contains(value) ? value : nil
    }

    mutating func day() -> Int? {
      let isNegative = take("-")
      let hasSign = isNegative || take("+")
      let limit = hasSign ? 999_999 : 9999
      guard var year = number(digits: hasSign ? 6 : 4, in: 0...limit) else { return nil }
      isBasic = !hasSign && at < bytes.count && bytes[at] &- 0x30 <= 9
      guard take(between: "-"), let month = number(digits: 2, in: 1...12), take(between: "-") else {
        return nil
      }
      if isNegative { year = -year }
      let length = ISO8601Text.length(ofMonth: month, year: year)
      guard let day = number(digits: 2, in: 1...length) else { return nil }
      return ISO8601Text.days(year: year, month: month, day: day)
    }

    mutating func time() -> (seconds: Int, fraction: (digits: Int, scale: Double))? {
      guard let hour = number(digits: 2, in: 0...23), take(between: ":"),
        let minute = number(digits: 2, in: 0...59)
      else { return nil }
      let minutes = (hour * 60 + minute) * 60
      let hasSeconds = isBasic ? at < bytes.count && bytes[at] &- 0x30 <= 9 : take(":")
      guard hasSeconds else { return (minutes, (0, 1)) }
      guard let second = number(digits: 2, in: 0...59) else { return nil }
      guard take(".") || take(",") else { return (minutes + second, (0, 1)) }
      guard let fraction = fraction() else { return nil }
      return (minutes + second, fraction)
    }

    /// Reads the digits after the point.
    ///
    /// Digits after the eighteenth are below the resolution of a double and are ignored.
    private mutating func fraction() -> (digits: Int, scale: Double)? {
      let start = at
      var value = 0
      var scale = 1.0
      while at < bytes.count, bytes[at] &- 0x30 <= 9 {
        if at - start < 18 {
          value = value * 10 + Int(bytes[at] - 0x30)
          scale *= 10
        }
        at += 1
      }
      return at > start ? (value, scale) : nil
    }

    /// Reads a zone and returns its seconds east of UTC.
    mutating func zone() -> Int? {
      if isAtEnd { return 0 }
      _ = take(" ")
      if take("U") { return take("T") && take("C") ? 0 : nil }
      if take("G") { return take("M") && take("T") ? 0 : nil }
      if take("Z") || take("z") { return 0 }
      let isWest = take("-")
      guard isWest || take("+"), let hours = number(digits: 2, in: 0...23) else { return nil }
      var minutes = 0
      if !isAtEnd {
        _ = take(":")
        guard let value = number(digits: 2, in: 0...59) else { return nil }
        minutes = value
      }
      let seconds = (hours * 60 + minutes) * 60
      return isWest ? -seconds : seconds
    }
  }
}
