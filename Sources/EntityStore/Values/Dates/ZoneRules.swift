internal import LodestoreFormat

/// The difference between a time zone's clocks and UTC, at each moment.
///
/// Fixed offsets need no other data. The rules of a named zone come from the machine's database of
/// time zones. So they may differ between machines and change with updates of the system.
struct ZoneRules: Sendable {
  private enum Source {
    case fixed(Int64)
    case table(ZoneTable)
  }

  private let source: Source

  static let utc = ZoneRules(source: .fixed(0))

  /// A bound on the offsets of zones in seconds: a zone file with an offset of 26 hours or more is
  /// refused.
  private static let widestOffset: Int64 = 26 * 3_600

  private init(source: Source) { self.source = source }

  /// Creates the rules for `UTC`, an offset such as `+02:00`, or a name such as `Europe/Berlin`;
  /// `nil` if the machine has no such zone.
  init?(_ name: String) {
    if let offset = Self.offset(name) {
      source = .fixed(offset)
    } else if let table = ZoneTable(named: name) {
      source = .table(table)
    } else {
      return nil
    }
  }

  /// The fixed offset in seconds; `nil` for a named zone.
  var fixedOffset: Int64? { if case .fixed(let offset) = source { offset } else { nil } }

  /// Parses `UTC`, `GMT`, `Z`, `±hh`, `±hh:mm`, `±hhmm` or `±hh:mm:ss`, and returns the offset in
  /// seconds.
  static func offset(_ text: String) -> Int64? {
    if ["UTC", "GMT", "Z"].contains(text.uppercased()) { return 0 }
    let bytes = Array(text.utf8)
    guard let sign = bytes.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else {
      return nil
    }
    var digits: [Int64] = []
    for (place, byte) in bytes.dropFirst().enumerated() {
      if byte == UInt8(ascii: ":") {
        guard place == 2 || place == 5 else { return nil }
        continue
      }
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      digits.append(Int64(byte - UInt8(ascii: "0")))
    }
    guard [2, 4, 6].contains(digits.count), bytes.last != UInt8(ascii: ":") else { return nil }
    let parts = stride(from: 0, to: digits.count, by: 2).map { digits[$0] * 10 + digits[$0 + 1] }
    let minutes = parts.count > 1 ? parts[1] : 0
    let seconds = parts.count > 2 ? parts[2] : 0
    guard parts[0] < 24, minutes < 60, seconds < 60 else { return nil }
    let offset = parts[0] * 3_600 + minutes * 60 + seconds
    return sign == UInt8(ascii: "-") ? -offset : offset
  }

  /// Returns the text of a fixed offset, which ``init(_:)`` parses.
  static func text(ofOffset offset: Int64) -> String {
    if offset == 0 { return "UTC" }
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (sign, rest) = (offset < 0 ? "-" : "+", offset.magnitude)
    let seconds = Int64(rest % 60)
    let text = "\(sign)\(two(Int64(rest / 3_600))):\(two(Int64(rest / 60 % 60)))"
    return seconds == 0 ? text : text + ":\(two(seconds))"
  }

  /// Returns the number of seconds that clocks are ahead of UTC, at a moment in seconds since 2001.
  func offset(at seconds: Int64) -> Int64 {
    switch source {
    case .fixed(let offset): offset
    case .table(let table): table.offset(at: seconds)
    }
  }

  /// Returns a part of a date in the zone; null if the date has none.
  func part(_ part: CalendarPart, of date: Double) -> Value {
    guard case .table(let table) = source else {
      return part.value(of: date, offset: fixedOffset ?? 0)
    }
    guard let seconds = CalendarPart.wholeSeconds(date) else { return .null }
    let offset = table.offset(at: seconds)
    let found = part.part(ofLocal: seconds + offset)
    // When clocks are put back, they show one hour twice. The two are different hours, so the
    // offset at the date itself is used.
    if part == .startOfHour { return .date(Double(found - offset)) }
    return part.isDate ? .date(Double(Self.moment(ofLocal: found, table))) : .integer(found)
  }

  /// Returns the first moment at which clocks show `local` or later.
  ///
  /// For a time that clocks show twice, this is the earlier moment. For a time that they skip, it
  /// is the moment of the change.
  private static func moment(ofLocal local: Int64, _ table: ZoneTable) -> Int64 {
    let before = table.offset(at: local - widestOffset)
    let after = table.offset(at: local + widestOffset)
    for moment in [local - max(before, after), local - min(before, after)]
    where moment + table.offset(at: moment) == local {
      return moment
    }
    var low = local - max(before, after)
    var high = local - min(before, after)
    while low < high {
      let middle = low + (high - low) / 2
      if middle + table.offset(at: middle) < local { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
