internal import LodestoreJSON

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension EntryHead {
  /// Whether the entry has a write after the target.
  func isBeyond(_ target: ReplicaRestoreTarget) -> Bool {
    switch target {
    case .latest: false
    case .write(let number): lastWrite > number
    case .time(let date): time > date.timeIntervalSinceReferenceDate
    case .slot(let last): slot > last
    }
  }
}

extension ReplicaRestoreTarget {
  /// The reason why a restore ends before an entry that sends its readers to a base of a slot.
  func reason(ofEndAt slot: UInt64) -> String {
    "the log continues from a base of slot \(slot), which "
      + (self == .latest ? "is not there yet" : "is later than the wanted state")
  }

  /// The target in words.
  var words: String {
    switch self {
    case .latest: "the newest state"
    case .write(let number): "write \(number)"
    case .time(let date): "the state at \(Self.words(date))"
    case .slot(let slot): "slot \(slot)"
    }
  }

  /// A time with all its digits, because a rounded one would name another state.
  ///
  /// The description of a date traps for years that no calendar has.
  static func words(_ date: Date) -> String { ISO8601Text.text(date) ?? "a time of no calendar" }
}
