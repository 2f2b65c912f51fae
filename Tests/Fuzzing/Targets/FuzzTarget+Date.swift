import Foundation
import LodestoreJSON

extension FuzzTarget {
  /// Dates as ISO 8601 text, and any number as a date.
  static let date = FuzzTarget("date", longestInput: 64) {
    [
      "1977-05-25", "1977-05-25T20:30Z", "2024-02-29T12:00:00.123456+05:30",
      "-000001-12-31 23:59:59",
      "+275760-09-13T00:00:00-0800", "1988-04-15 03:03:10", "2000-01-01t00:00+14",
    ].map { Array($0.utf8) }
  } run: { bytes in
    if bytes.count >= 8 {
      let number = Double(bitPattern: bytes.loadUnaligned(as: UInt64.self))
      if let text = ISO8601Text.text(Date(timeIntervalSinceReferenceDate: number)) {
        let again = ISO8601Text.date(text)?.timeIntervalSinceReferenceDate
        require(again != nil, "\(number) is written as \(text), which is no date")
        // Near 2001 a double resolves smaller differences than the fifteen digits of the text.
        require(abs((again ?? .nan) - number) < 1e-14 || again == number, "\(number) as \(text)")
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self), let date = ISO8601Text.date(text)
    else {
      return
    }
    require(date.timeIntervalSinceReferenceDate.isFinite, text)
    // In another zone the date may be in the year before the first or after the last year that has
    // a text.
    guard let written = ISO8601Text.text(date) else { return }
    let again = ISO8601Text.date(written)
    require(
      abs((again ?? .distantPast).timeIntervalSince(date)) < 1e-14,
      "\(text) is written as \(written)")
  }
}
