internal import Foundation
internal import Synchronization

/// The progress of a refresh.
public struct RefreshProgress: Sendable, Hashable {
  /// The steps of a refresh, in their order.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Step: String, Sendable {
    /// The newest generation is requested from the origin.
    case checking
    /// A patch or a whole generation is being fetched. Counted in transferred bytes.
    case fetching
    /// The importer of a service is running. The amount is the count that the importer reports.
    case importing
    /// The file is being checked and made the current generation.
    case installing
  }

  /// The current step.
  public let step: Step
  /// The completed amount of the step.
  public let completed: Int
  /// The total amount of the step; `nil` if unknown.
  public let total: Int?

  /// The completed share from 0 to 1; `nil` if ``total`` is unknown.
  public var fraction: Double? {
    total.map { $0 <= 0 ? 1 : min(1, Double(completed) / Double($0)) }
  }
}

/// The result of a successful refresh.
public struct RefreshReport: Sendable, Hashable {
  /// The outcome of a refresh without an error.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Outcome: String, Sendable {
    /// The origin has no newer generation.
    case current
    /// A newer generation is now current.
    case replaced
    /// Another process refreshed the folder while this call waited for its lock.
    case elsewhere
  }

  /// The change that the refresh has made.
  public var outcome: Outcome
  /// The generation that is now current; 0 if the dataset has none.
  public var generation: UInt64
  /// The number of bytes of files received, without the heads of answers.
  public var bytesFetched = 0
  /// The number of bytes that were not fetched again, because an interrupted download had already
  /// stored them.
  public var bytesResumed = 0
  /// Whether a patch made the generation.
  public var usedPatch = false
  /// The address of the files, without user information.
  public var place: String?
  /// Messages about failures that did not prevent the refresh, such as failures of earlier mirrors.
  public var detours: [String] = []
}

/// The result of a successful refresh, before the state is written that makes the new generation
/// current.
struct Refreshed: Sendable {
  var report: RefreshReport
  /// The generation that becomes current; `nil` if the current one stays.
  var open: OpenGeneration?
}

/// The date that an importer names for its data.
final class DataDate: Sendable {
  private let date: Mutex<Date>

  init(_ date: Date) { self.date = Mutex(date) }

  func set(_ date: Date) { self.date.withLock { $0 = date } }

  var value: Date { date.withLock { $0 } }
}
