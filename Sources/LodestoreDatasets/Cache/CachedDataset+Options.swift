public import EntityStore
package import Foundation
internal import LodestoreWeb

extension CachedDataset {
  /// Settings of a cached dataset.
  public struct Options: Sendable {
    /// The age of the data, counted from its date, above which reads throw
    /// ``DatasetError/Code/tooOld``; `nil`, the default, for no limit.
    var oldestData: Duration?
    /// The time after a successful check within which ``ReadPolicy/cacheThenRefresh`` and
    /// ``CachedDataset/keepFresh(every:)`` make no request; an hour by default.
    public var checkInterval = Duration.seconds(3600)
    /// The time after a successful check within which ``ReadPolicy/freshElseCache`` and
    /// ``ReadPolicy/freshOnly`` regard the data as fresh; 60 seconds by default.
    public var freshFor = Duration.seconds(60)
    /// The time that ``ReadPolicy/freshElseCache`` waits for a refresh before it uses the existing
    /// data; 30 seconds by default.
    ///
    /// After this time the refresh continues in the background.
    public var freshWait = Duration.seconds(30)
    /// The maximum wait after a first failure.
    ///
    /// The maximum doubles with each further failure.
    ///
    /// The wait is a random time between half of the maximum and the maximum, so that programs that
    /// failed together do not retry together. The folder stores the wait, so a restart does not
    /// shorten it.
    public var firstWait = Duration.seconds(30)
    /// The maximum wait after failures, unless the server asks for a longer one; six hours by
    /// default.
    public var longestWait = Duration.seconds(6 * 3600)
    /// The time that a refresh waits for one of another process; two minutes by default.
    public var lockWait = Duration.seconds(120)
    /// The maximum time from a request until the head of its answer arrives, and then between two
    /// pieces of the answer's body.
    public var requestTimeout = Duration.seconds(30)
    /// The maximum number of times that an interrupted download continues at one mirror, if each
    /// time a part arrived; 8 by default.
    public var resumptions = 8
    /// Header fields for requests to the mirrors that the program names, such as `Authorization`.
    public var fields: [String: String] = [:]
    /// The options for opening the sealed files, which are always read-only.
    public var store = StoreOptions()
    /// The current time, for tests.
    package var clock: @Sendable () -> Date = { Date() }
    /// A random number from 0 to 1, for tests.
    package var fraction: @Sendable () -> Double = { .random(in: 0...1) }
    /// Numeric addresses by host name, for tests.
    package var hostAddresses: [String: String] = [:]
    /// Called at each step of a refresh, so that tests can end the process there.
    package var onStep: @Sendable (RefreshStep) -> Void = { _ in }

    /// Creates options with the default values.
    public init() {}

    /// Refuses data older than an age and does not serve it.
    ///
    /// The age counts from ``DatasetAge/dataAsOf``. Choose it with care: if the publisher stops,
    /// this program stops too.
    public func refusesOlder(than age: Duration) -> Options {
      var options = self
      options.oldestData = age
      return options
    }

    var web: WebFiles.Options {
      var web = WebFiles.Options()
      web.requestTimeout = requestTimeout
      web.fields = fields
      web.hostAddresses = hostAddresses
      return web
    }
  }
}

/// The steps of a refresh.
///
/// A process killed after any of them must leave the old generation or the new one.
package enum RefreshStep: String, Sendable, CaseIterable {
  case locked, asked, verified, keysFollowed
  case patchFetched, patchPiece, patchApplied
  case tableFetched, frame, unpacked
  case imported, sealed
  case checked, moved, swapped, cleaned
}
