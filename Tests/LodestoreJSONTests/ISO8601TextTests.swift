import Foundation
import LodestoreJSON
import Testing

@Suite struct `ISO 8601 text` {
  @Test(arguments: [
    ("1970-01-01", 0.0), ("1977-05-25", 233_366_400), ("1988-04-15 03:03:10", 577_076_590),
    ("2024-02-29T12:00:00Z", 1_709_208_000), ("2024-02-29t12:00:00z", 1_709_208_000),
    ("2024-02-29T12:00Z", 1_709_208_000), ("2024-02-29T12:00:00", 1_709_208_000),
    ("2024-02-29T12:00:00+05:30", 1_709_188_200), ("2024-02-29T12:00:00-0800", 1_709_236_800),
    ("2024-02-29T12:00:00+01", 1_709_204_400), ("2024-02-29 12:00:00.5+00:00", 1_709_208_000.5),
    ("1969-12-31T23:59:59.250Z", -0.75), ("2001-01-01T00:00:00.000001Z", 978_307_200.000001),
    ("0001-01-01T00:00:00Z", -62_135_596_800), ("0000-03-01", -62_162_035_200),
    ("9999-12-31T23:59:59Z", 253_402_300_799), ("+010000-01-01", 253_402_300_800),
    ("-000001-12-31T00:00:00Z", -62_167_305_600), ("1900-02-28", -2_203_977_600),
    ("2000-02-29", 951_782_400),
    ("20240105T100000Z", 1_704_448_800), ("20240105T100000,25Z", 1_704_448_800.25),
    ("20240105T1000+0200", 1_704_441_600), ("20240105t100000", 1_704_448_800),
    ("2024-01-05T10:00:00,5Z", 1_704_448_800.5), ("2024-01-05 10:00:00 UTC", 1_704_448_800),
    ("2024-01-05T10:00:00 GMT", 1_704_448_800), ("2024-01-05 10:00:00UTC", 1_704_448_800),
    ("2024-01-05 10:00:00 +0000", 1_704_448_800), ("2024-01-05 10:00:00.5 -01:00", 1_704_452_400.5),
    ("2024-01-05 10:00 Z", 1_704_448_800), ("Fri, 05 Jan 2024 10:00:00 GMT", 1_704_448_800),
    ("Fri, 5 Jan 2024 10:00:00 +0200", 1_704_441_600), ("05 Jan 2024 10:00:00 UTC", 1_704_448_800),
    ("FRI, 05 JAN 2024 10:00:00 GMT", 1_704_448_800),
    ("Friday, 05-Jan-24 10:00:00 GMT", 1_704_448_800),
    ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777), ("Sun Nov  6 08:49:37 1994", 784_111_777),
    ("Fri Jan 19 10:00:00 2024", 1_705_658_400),
  ])
  func `a date in any of the accepted spellings is read`(_ text: String, _ seconds: Double) {
    #expect(ISO8601Text.date(text)?.timeIntervalSince1970 == seconds)
  }

  @Test(arguments: [
    "", "1977", "1977-05", "1977-5-25", "77-05-25", "1977-13-01", "1977-00-01", "1977-04-31",
    "1977-02-29", "1900-02-29", "1977-05-00", "1977-05-25T", "1977-05-25T20", "1977-05-25T24:00",
    "1977-05-25T20:60", "1977-05-25T23:59:60Z", "1977-05-25T20:00:00.", "1977-05-25T20:00:00,",
    "1977-05-25T20:00:00+", "1977-05-25T20:00:00+24:00", "1977-05-25T20:00:00+1",
    "1977-05-25T20:00:00+01:60", "1977-05-25  20:00", "1977-05-25T20:00:00ZZ", " 1977-05-25",
    "1977-05-25 ", "1977-05-25T20:00Z ", "1977/05/25", "19770525", "+1977-05-25", "１977-05-25",
    "1977-05-25T2a:00", "May 25 1977", "1977-05-25Z", "20240105T10:00:00Z", "20240105 100000Z",
    "2024-0105T100000Z", "20240105T100000+2", "20241305T100000Z", "20240105T240000Z",
    "2024-01-05 10:00:00 CET", "2024-01-05 10:00:00 UT", "2024-01-05 10:00:00  UTC",
    "Thu, 05 Jan 2024 10:00:00 GMT", "Fri, 05 Jan 2024 24:00:00 GMT",
    "Fri, 32 Jan 2024 10:00:00 GMT",
    "Fri, 05 Jax 2024 10:00:00 GMT", "Fri, 05 Jan 2024 10:00:00", "Fri, 05 Jan 24 10:00:00 GMT",
    "Saturday, 05-Jan-23 10:00:00 GMT", "Friday, 05-Jan-24 10:00:00 +0100",
    "Fri Jan 5 10:00:00 2024", "Fri Jan  5 10:00:00 2024 ", "Fri, 05 Jan 2024 10:00:60 GMT",
  ])
  func `a text that is no date is refused`(_ text: String) {
    #expect(ISO8601Text.date(text) == nil)
  }

  @Test func `a date is written with as few digits as it needs`() {
    let texts: [(Double, String)] = [
      (0, "1970-01-01T00:00:00Z"), (1_709_208_000, "2024-02-29T12:00:00Z"),
      (1_709_208_000.5, "2024-02-29T12:00:00.500Z"), (-0.75, "1969-12-31T23:59:59.250Z"),
      (1_709_208_000.123456, "2024-02-29T12:00:00.123456Z"),
      (-62_135_596_800, "0001-01-01T00:00:00Z"), (253_402_300_800, "+010000-01-01T00:00:00Z"),
      (-62_167_305_600, "-000001-12-31T00:00:00Z"),
    ]
    for (seconds, text) in texts {
      #expect(ISO8601Text.text(Date(timeIntervalSince1970: seconds)) == text)
    }
    #expect(ISO8601Text.text(Date(timeIntervalSince1970: .infinity)) == nil)
    #expect(ISO8601Text.text(Date(timeIntervalSince1970: .nan)) == nil)
    #expect(ISO8601Text.text(Date(timeIntervalSince1970: 1e14)) == nil)
  }

  @Test func `a fraction is rounded once, before 2001 too`() {
    for (text, seconds) in [
      ("2000-12-31T23:59:59.999Z", -0.001), ("2001-01-01T00:00:59.999Z", 59.999),
      ("2000-12-31T23:59:58.9Z", -1.1), ("1999-12-31T23:59:59.999999Z", -31_622_400.000001),
    ] {
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      #expect(ISO8601Text.date(text) == date)
      #expect(ISO8601Text.text(date)?.prefix(text.count - 1) == text.dropLast())
    }
  }

  @Test func `a date survives its text`() throws {
    let seed = JSONRandom.seed
    var random = JSONRandom(seed: seed)
    for number in 0..<5000 {
      // Half of the dates are close to 2001, where a double resolves far less than a nanosecond.
      let range = number % 2 == 0 ? -6e10...2e11 : 10...1e7
      let seconds = Double.random(in: range, using: &random)
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      let text = try #require(ISO8601Text.text(date))
      #expect(ISO8601Text.date(text) == date, "JSON_FUZZ_SEED=\(seed): \(text)")
      // A fraction that rounds up to a whole second must carry into the seconds.
      let below = Date(timeIntervalSinceReferenceDate: seconds.rounded().nextDown)
      let carried = try #require(ISO8601Text.text(below))
      #expect(ISO8601Text.date(carried) == below, "JSON_FUZZ_SEED=\(seed): \(carried)")
    }
  }

  @Test func `a date finer than fifteen digits rounds, also to the next second`() {
    for (seconds, text) in [
      (1.0.nextDown, "2001-01-01T00:00:01.000000000000000Z"),
      (1e-20, "2001-01-01T00:00:00.000000000000000Z"),
      (-1e-20, "2001-01-01T00:00:00.000000000000000Z"),
    ] {
      #expect(ISO8601Text.text(Date(timeIntervalSinceReferenceDate: seconds)) == text)
    }
  }

  @Test func `the calendar is Foundation's`() throws {
    for day in stride(from: -100_000, to: 200_000, by: 97) {
      let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 3_661)
      #expect(ISO8601Text.text(date) == date.formatted(.iso8601))
    }
  }
}
