internal import LodestoreFormat

/// A format of dates: a pattern, or seconds or milliseconds since 1970.
///
/// Patterns are a small subset of the Unicode patterns (LDML):
///
/// - `yyyy`, `MM`, `dd`, `HH`, `mm`, `ss` with that number of digits; a single `M`, `d`, `H`, `m`
///   or `s` with one or two digits;
/// - `yy` for the last two digits of the years 1969 to 2068;
/// - `MMM` and `MMMM` for the short and long English names of months, in upper or lower case;
/// - `EEE` and `EEEE` for the short and long English names of days, in upper or lower case; the day
///   must match the date;
/// - `hh` or `h` for hours from 1 to 12, with `a` for `AM` or `PM`;
/// - `S` to `SSSSSSSSS` for that number of decimals of a second;
/// - `Z`, `X` or `z` for `Z`, `UTC`, `GMT`, `±hh`, `±hhmm` or `±hh:mm`;
/// - literal text in single quotes (`''` is a quote), and every other character that is not a
///   letter.
///
/// The year is required, and each other part requires the larger parts. Without an offset the time
/// is UTC. Days and times that do not exist are refused, and so are leap seconds.
package enum DateForm: Sendable, Hashable {
  /// Seconds since 1970-01-01, with a fraction or without.
  case unix
  /// Milliseconds since 1970-01-01.
  case unixMilliseconds
  /// Text in a pattern.
  case pattern(DatePattern)

  /// Parses `unix`, `unixms` or a pattern; throws a clause that describes an error in the pattern.
  package init(_ text: String) throws(ValueMismatch) {
    switch text {
    case "unix": self = .unix
    case "unixms": self = .unixMilliseconds
    default: self = .pattern(try DatePattern(text))
    }
  }

  /// The required form of a value, in words.
  var words: String {
    switch self {
    case .unix: "seconds since 1970"
    case .unixMilliseconds: "milliseconds since 1970"
    case .pattern(let pattern): "a date as '\(pattern.text)'"
    }
  }

  /// Converts `text` to seconds since 2001-01-01; nil when `text` has another form.
  func seconds(_ text: String) -> Double? {
    switch self {
    case .unix: Self.seconds(text, shift: 0)
    case .unixMilliseconds: Self.seconds(text, shift: -3)
    case .pattern(let pattern): pattern.seconds(text)
    }
  }

  /// The number in `text`, multiplied by ten to the power of `shift`, as seconds since 2001.
  ///
  /// The result is rounded once, at the end.
  private static func seconds(_ text: String, shift: Int) -> Double? {
    guard let number = DecimalValue(text: text), !number.isNaN else { return nil }
    var exponent = Int(number.exponent) + shift
    var whole = number.significand
    var fraction = 0.0
    // With other exponents the number rounds to zero or lies outside the range of valid dates.
    guard whole == 0 || (-38...14).contains(exponent) else { return nil }
    while exponent > 0 {
      let (product, overflows) = whole.multipliedReportingOverflow(by: 10)
      if overflows { return nil }
      whole = product
      exponent -= 1
    }
    if exponent < 0, whole != 0 {
      let scale = (0..<(-exponent)).reduce(UInt128(1)) { scale, _ in scale * 10 }
      fraction = Double(whole % scale) / Double(scale)
      whole /= scale
    }
    guard whole < 31_000_000_000_000 else { return nil }
    let seconds = number.isNegative ? -Int(whole) : Int(whole)
    return Double(seconds - ISO8601Text.referenceOffset)
      + (number.isNegative ? -fraction : fraction)
  }
}

/// A parsed pattern of dates; see ``DateForm``.
package struct DatePattern: Sendable, Hashable {
  private enum Field: Int, CaseIterable {
    case year, month, day, hour, minute, second, fraction
  }

  private enum Element: Hashable {
    case literal(UInt8)
    case number(Field, digits: ClosedRange<Int>)
    case shortYear
    case monthName(isLong: Bool)
    case dayName(isLong: Bool)
    /// The hour from 1 to 12.
    case halfHour(digits: ClosedRange<Int>)
    /// The half of the day: before or after noon.
    case half
    case zone

    /// The part of the time that the element contains; nil for an element that has no part of its
    /// own.
    var field: Field? {
      switch self {
      case .number(let field, _): field
      case .shortYear: .year
      case .monthName: .month
      case .halfHour: .hour
      case .literal, .dayName, .half, .zone: nil
      }
    }
  }

  let text: String
  private var elements: [Element] = []

  /// Parses a pattern; throws a clause that describes an error in it.
  init(_ text: String) throws(ValueMismatch) {
    self.text = text
    var rest = text[...]
    while let letter = rest.first {
      if letter == "'" {
        try takeQuoted(&rest)
      } else if letter.isASCII, letter.isLetter {
        let run = rest.prefix { $0 == letter }
        rest = rest[run.endIndex...]
        elements.append(try Self.element(letter, run.count))
      } else {
        elements += letter.utf8.map(Element.literal)
        rest.removeFirst()
      }
    }
    try check()
  }

  private mutating func takeQuoted(_ rest: inout Substring) throws(ValueMismatch) {
    rest.removeFirst()
    guard let end = rest.firstIndex(of: "'") else {
      throw ValueMismatch(description: "has a quote that is not closed")
    }
    let quoted = rest[..<end]
    elements += (quoted.isEmpty ? "'" : quoted).utf8.map(Element.literal)
    rest = rest[rest.index(after: end)...]
  }

  private static func element(_ letter: Character, _ count: Int) throws(ValueMismatch) -> Element {
    func number(_ field: Field) -> Element { .number(field, digits: count...2) }
    switch (letter, count) {
    case ("y", 4): return .number(.year, digits: 4...4)
    case ("y", 2): return .shortYear
    case ("M", 1...2): return number(.month)
    case ("M", 3...4): return .monthName(isLong: count == 4)
    case ("E", 1...4): return .dayName(isLong: count == 4)
    case ("h", 1...2): return .halfHour(digits: count...2)
    case ("a", 1): return .half
    case ("d", 1...2): return number(.day)
    case ("H", 1...2): return number(.hour)
    case ("m", 1...2): return number(.minute)
    case ("s", 1...2): return number(.second)
    case ("S", 1...9): return .number(.fraction, digits: count...count)
    case ("Z", _), ("X", _), ("z", 1...3): return .zone
    default:
      throw ValueMismatch(
        description: "has '\(String(repeating: letter, count: count))', which is none of yyyy, yy, "
          + "MM, MMM, MMMM, dd, EEE, EEEE, HH, hh, mm, ss, SSS, a and Z")
    }
  }

  private func check() throws(ValueMismatch) {
    var found: [Field] = []
    for field in elements.compactMap(\.field) {
      guard !found.contains(field) else {
        throw ValueMismatch(description: "has its \(field) twice")
      }
      found.append(field)
    }
    func count(_ isOne: (Element) -> Bool) -> Int { elements.count(where: isOne) }
    guard count({ $0 == .zone }) <= 1 else {
      throw ValueMismatch(description: "has its offset twice")
    }
    let isHalf = count { if case .halfHour = $0 { true } else { false } } > 0
    guard count({ $0 == .half }) == (isHalf ? 1 : 0) else {
      throw ValueMismatch(description: "must have hh and a together, once each")
    }
    guard found.contains(.year) else { throw ValueMismatch(description: "has no year, yyyy") }
    for field in Field.allCases where !found.contains(field) {
      guard let finer = found.first(where: { $0.rawValue > field.rawValue }) else { continue }
      throw ValueMismatch(description: "has the \(finer), but not the \(field)")
    }
  }

  /// Converts `text` to seconds since 2001-01-01; nil when `text` has another form or is not a
  /// valid time.
  func seconds(_ text: String) -> Double? {
    var rest = Array(text.utf8)[...]
    // The elements are year, month, day, hour, minute, second and fraction.
    var parts = [1, 1, 1, 0, 0, 0, 0]
    var scale = 1.0
    var zone = 0
    var isAfternoon: Bool?
    var dayOfWeek: Int?
    for element in elements {
      switch element {
      case .literal(let byte):
        guard rest.popFirst() == byte else { return nil }
      case .number(let field, let digits):
        guard let number = Self.number(&rest, digits) else { return nil }
        parts[field.rawValue] = number
        if field == .fraction { for _ in 0..<digits.lowerBound { scale *= 10 } }
      case .shortYear:
        guard let year = Self.number(&rest, 2...2) else { return nil }
        parts[0] = year + (year < 69 ? 2000 : 1900)
      case .monthName(let isLong):
        guard let month = DateNames.month(&rest, isLong: isLong) else { return nil }
        parts[1] = month
      case .dayName(let isLong):
        guard let day = DateNames.day(&rest, isLong: isLong) else { return nil }
        dayOfWeek = day
      case .halfHour(let digits):
        guard let hour = Self.number(&rest, digits), (1...12).contains(hour) else { return nil }
        parts[3] = hour % 12
      case .half:
        guard let isLate = DateNames.half(&rest) else { return nil }
        isAfternoon = isLate
      case .zone:
        guard let offset = Self.zone(&rest) else { return nil }
        zone = offset
      }
    }
    let (year, month, day) = (parts[0], parts[1], parts[2])
    guard rest.isEmpty, (1...12).contains(month),
      (1...ISO8601Text.length(ofMonth: month, year: year)).contains(day), parts[3] < 24,
      parts[4] < 60, parts[5] < 60
    else { return nil }
    if isAfternoon == true { parts[3] += 12 }
    let days = ISO8601Text.days(year: year, month: month, day: day)
    guard dayOfWeek == nil || dayOfWeek == DateNames.dayOfWeek(days) else { return nil }
    let time = (parts[3] * 60 + parts[4]) * 60 + parts[5]
    let whole = days * ISO8601Text.secondsPerDay + time - zone - ISO8601Text.referenceOffset
    return Double(whole) + Double(parts[6]) / scale
  }

  private static func number(_ rest: inout ArraySlice<UInt8>, _ digits: ClosedRange<Int>) -> Int? {
    let found = rest.prefix(digits.upperBound).prefix { (0x30...0x39).contains($0) }
    guard found.count >= digits.lowerBound else { return nil }
    rest = rest[found.endIndex...]
    return found.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  /// The offset in seconds east of UTC.
  private static func zone(_ rest: inout ArraySlice<UInt8>) -> Int? {
    for name in ["UTC", "GMT"] where rest.starts(with: name.utf8) {
      rest.removeFirst(3)
      return 0
    }
    guard let sign = rest.popFirst() else { return nil }
    if sign == UInt8(ascii: "Z") { return 0 }
    guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"),
      let hours = number(&rest, 2...2), hours < 24
    else { return nil }
    var minutes = 0
    let hasColon = rest.first == UInt8(ascii: ":")
    if hasColon { rest.removeFirst() }
    if hasColon || rest.first.map({ (0x30...0x39).contains($0) }) == true {
      guard let found = number(&rest, 2...2), found < 60 else { return nil }
      minutes = found
    }
    let seconds = (hours * 60 + minutes) * 60
    return sign == UInt8(ascii: "-") ? -seconds : seconds
  }
}
