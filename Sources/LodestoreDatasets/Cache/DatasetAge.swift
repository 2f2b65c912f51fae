public import Foundation
internal import LodestoreJSON

/// The age of a dataset's data: three dates that can differ by months.
///
///     print(dataset.age)   // data as of 2026-11-20, built 2026-11-21, last checked 3 hours ago
public struct DatasetAge: Sendable, Hashable {
  /// The date up to which the data is complete, according to its source.
  public var dataAsOf: Date
  /// The date when the file was built.
  public var builtAt: Date
  /// The time of the last successful check for a newer generation; `nil` if the origin was never
  /// asked.
  public var lastChecked: Date?

  /// The time from ``dataAsOf`` to `date`; 0 for a date before it.
  public func dataAge(at date: Date = Date()) -> Duration {
    Self.duration(from: dataAsOf, to: date)
  }

  /// The time from ``lastChecked`` to `date`; `nil` if the origin was never asked, or if the clock
  /// was set back since.
  public func timeSinceCheck(at date: Date = Date()) -> Duration? {
    lastChecked.flatMap { $0 > date ? nil : Self.duration(from: $0, to: date) }
  }

  private static func duration(from start: Date, to end: Date) -> Duration {
    let seconds = end.timeIntervalSince(start)
    return seconds > 0 ? .seconds(min(seconds, 1e10)) : .zero
  }

  /// The three dates in words, relative to `date`.
  public func words(at date: Date = Date()) -> String {
    let checked = lastChecked.map { "last checked \(Self.ago($0, at: date))" } ?? "never checked"
    return "data as of \(Self.day(dataAsOf)) (\(Self.ago(dataAsOf, at: date))), "
      + "built \(Self.day(builtAt)), \(checked)"
  }

  /// The day in UTC.
  private static func day(_ date: Date) -> String {
    ISO8601Text.text(date).map { String($0.prefix { $0 != "T" }) } ?? "an unknown day"
  }

  /// The time since a date, by its largest unit.
  static func ago(_ date: Date, at now: Date) -> String {
    let seconds = now.timeIntervalSince(date)
    guard seconds >= 0 else { return "in the future by this machine's clock" }
    let units: [(name: String, seconds: Double)] = [
      ("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1),
    ]
    for unit in units where seconds >= unit.seconds {
      let count = Int(min(seconds / unit.seconds, 1e9))
      return "\(count) \(unit.name)\(count == 1 ? "" : "s") ago"
    }
    return "just now"
  }
}

extension DatasetAge: CustomStringConvertible {
  /// The three dates in words, relative to the current time.
  public var description: String { words() }
}
