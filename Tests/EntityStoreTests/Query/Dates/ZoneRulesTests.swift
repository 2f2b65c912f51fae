import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

@Suite struct `Time zones` {
  static let names = [
    "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Kolkata",
    "Pacific/Apia", "Africa/Casablanca", "America/St_Johns", "Asia/Tehran", "Antarctica/Troll",
    "Europe/Dublin", "Pacific/Chatham",
  ]

  @Test(arguments: names)
  func `time zones have the offsets of Foundation`(name: String) throws {
    guard let rules = ZoneRules(name) else {
      print("skipped: this machine has no time zone \(name)")
      return
    }
    let zone = try #require(TimeZone(identifier: name))
    var random = SeededNumbers(salt: 3)
    // The range is 1975 to 2018, because later changes may be in only one of the two databases.
    for _ in 0..<800 {
      let seconds = Int64(random.below(1_350_000_000)) - 820_000_000
      let date = Date(timeIntervalSinceReferenceDate: Double(seconds))
      #expect(
        rules.offset(at: seconds) == Int64(zone.secondsFromGMT(for: date)), "\(name) \(date)")
    }
  }

  @Test(arguments: names)
  func `periods begin as in Foundation's calendars`(name: String) throws {
    guard let rules = ZoneRules(name) else {
      print("skipped: this machine has no time zone \(name)")
      return
    }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: name))
    var random = SeededNumbers(salt: 4)
    for _ in 0..<300 {
      let seconds = Double(random.below(530_000_000))
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      for (part, component) in [
        (CalendarPart.startOfDay, Calendar.Component.day), (.startOfMonth, .month),
        (.startOfHour, .hour),
      ] {
        let start = calendar.dateInterval(of: component, for: date)?.start
        #expect(
          rules.part(part, of: seconds)
            == .date(start?.timeIntervalSinceReferenceDate ?? .nan), "\(name) \(part) \(date)")
      }
      let day = calendar.component(.day, from: date)
      #expect(rules.part(.day, of: seconds) == .integer(Int64(day)))
    }
  }

  @Test func `a time zone has an hour twice when clocks are put back`() throws {
    guard let rules = ZoneRules("Europe/Berlin") else {
      print("skipped: this machine has no time zone Europe/Berlin")
      return
    }
    // In this zone, 2024-10-27T00:30:00Z and 01:30:00Z are both 02:30, because the clocks are set
    // back.
    let first = 751_681_800.0
    #expect(rules.part(.startOfHour, of: first) == .date(first - 1_800))
    #expect(rules.part(.startOfHour, of: first + 3_600) == .date(first + 1_800))
    #expect(rules.part(.startOfDay, of: first + 3_600) == .date(first - 9_000))
  }

  @Test(
    arguments: [
      ("UTC", 0), ("Z", 0), ("gmt", 0), ("+02:00", 7_200), ("-0330", -12_600), ("+05", 18_000),
      ("-00:00:30", -30),
    ] as [(String, Int64)])
  func `time zones may be offsets`(text: String, seconds: Int64) throws {
    let rules = try #require(ZoneRules(text))
    #expect(rules.fixedOffset == seconds)
    let again = try #require(ZoneRules(ZoneRules.text(ofOffset: seconds)))
    #expect(again.fixedOffset == seconds)
  }

  @Test(arguments: [
    "", "+", "+2", "+24:00", "+02:60", "+0:200", "+02:", "Nowhere/Town", "../etc/passwd",
    "/etc/passwd", "Europe", "Europe/Berlin\0", "Mars\u{301}",
  ])
  func `unknown time zones are nil`(name: String) {
    #expect(ZoneRules(name) == nil)
  }

  @Test func `damaged files of time zones are read without a trap`() throws {
    let path = "/usr/share/zoneinfo/Europe/Berlin"
    guard let data = FileManager.default.contents(atPath: path) else {
      print("skipped: this machine has no \(path)")
      return
    }
    let bytes = Array(data)
    let whole = try #require(ZoneTable(bytes))
    #expect(whole.offset(at: 0) == 3_600)
    for length in 0..<bytes.count { _ = ZoneTable(Array(bytes[..<length])) }
    var random = SeededNumbers(salt: 9)
    for _ in 0..<20_000 {
      var damaged = bytes
      for _ in 0...random.below(4) {
        damaged[random.below(damaged.count)] = UInt8(truncatingIfNeeded: random.next())
      }
      guard let table = ZoneTable(damaged) else { continue }
      for seconds in [Int64(-1 << 53), 0, 700_000_000, 4_000_000_000, 1 << 53] {
        #expect(table.offset(at: seconds).magnitude < 26 * 3_600)
      }
    }
  }
}
