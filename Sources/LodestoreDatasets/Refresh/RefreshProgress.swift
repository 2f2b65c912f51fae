internal import Foundation
internal import Synchronization

/// How far a refresh is.
public struct RefreshProgress: Sendable, Hashable {
  /// The parts of a refresh, in their order.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Step: String, Sendable {
    /// The origin is asked for its newest generation.
    case checking
    /// Bytes of a patch or of a whole generation come; counted in bytes as they are sent.
    case fetching
    /// The importer of a service is at work; counted as it reports it.
    case importing
    /// The file is checked, and made the current generation.
    case installing
  }

  /// The part that is running.
  public let step: Step
  /// How much of the part is done.
  public let completed: Int
  /// How much the part is in all; `nil` where that is not known.
  public let total: Int?

  /// From 0 to 1; `nil` where ``total`` is.
  public var fraction: Double? {
    total.map { $0 <= 0 ? 1 : min(1, Double(completed) / Double($0)) }
  }
}

/// The result of a refresh that has succeeded.
public struct RefreshReport: Sendable, Hashable {
  /// The change that a refresh has made.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Outcome: String, Sendable {
    /// The origin has no newer generation.
    case current
    /// A newer generation is current now.
    case replaced
    /// Another process has refreshed meanwhile.
    case elsewhere
  }

  /// The change.
  public var outcome: Outcome
  /// The generation that is current now; 0 when the dataset has none.
  public var generation: UInt64
  /// How many bytes of files came, without the heads of answers.
  public var bytesFetched = 0
  /// How many bytes of the generation were here already, from an interrupted download.
  public var bytesResumed = 0
  /// Whether the generation was made by a patch.
  public var usedPatch = false
  /// The address that brought it, without user information.
  public var place: String?
  /// The failures that were overcome, such as those of mirrors that come earlier, in words.
  public var detours: [String] = []
}

/// The end of a refresh that has succeeded, before the swap.
struct Refreshed: Sendable {
  var report: RefreshReport
  /// The generation that becomes current; nil when the current one stays.
  var open: OpenGeneration?
}

/// The date that an importer names for its data.
final class DataDate: Sendable {
  private let date: Mutex<Date>

  init(_ date: Date) { self.date = Mutex(date) }

  func set(_ date: Date) { self.date.withLock { $0 = date } }

  var value: Date { date.withLock { $0 } }
}
