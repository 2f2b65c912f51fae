public import EntityStore
package import Foundation
internal import LodestoreWeb

extension CachedDataset {
  /// How a dataset is kept.
  public struct Options: Sendable {
    /// The age of the data at which uses throw ``DatasetError/Code/tooOld``; `nil`, the default,
    /// for none.
    var oldestData: Duration?
    /// The time after a successful check within which ``ReadPolicy/cacheThenRefresh`` and
    /// ``CachedDataset/keepFresh(every:)`` ask for nothing; an hour by default.
    public var checkInterval = Duration.seconds(3600)
    /// The time after a successful check within which ``ReadPolicy/freshElseCache`` and
    /// ``ReadPolicy/freshOnly`` take the data that is here for fresh; 60 seconds by default.
    public var freshFor = Duration.seconds(60)
    /// How long ``ReadPolicy/freshElseCache`` waits for a refresh before it takes the data that is
    /// here; 30 seconds by default.
    ///
    /// The refresh goes on in the background.
    public var freshWait = Duration.seconds(30)
    /// The longest wait after a first failure, which doubles with each further one.
    ///
    /// The wait itself is drawn between half of this and all of it, so that many programs that
    /// failed together do not come back together. The folder keeps it, so a restart does not
    /// shorten it.
    public var firstWait = Duration.seconds(30)
    /// The longest wait after failures, unless the server asks for a longer one; six hours by
    /// default.
    public var longestWait = Duration.seconds(6 * 3600)
    /// How long a refresh waits for one of another process; two minutes by default.
    public var lockWait = Duration.seconds(120)
    /// The longest time to the head of an answer, and then without a byte.
    public var requestTimeout = Duration.seconds(30)
    /// How often an interrupted download goes on at one mirror, if each time a part came; 8 by
    /// default.
    public var resumptions = 8
    /// Header fields for requests to the mirrors that the program names, such as `Authorization`.
    public var fields: [String: String] = [:]
    /// How the sealed files are opened; they are always read-only.
    public var store = StoreOptions()
    /// The time of day, for tests.
    package var clock: @Sendable () -> Date = { Date() }
    /// A random number from 0 to 1, for tests.
    package var fraction: @Sendable () -> Double = { .random(in: 0...1) }
    /// Numeric addresses by the names of hosts, for tests.
    package var hostAddresses: [String: String] = [:]
    /// Called at each step of a refresh, so that tests can end the process there.
    package var onStep: @Sendable (RefreshStep) -> Void = { _ in }

    /// The defaults.
    public init() {}

    /// Refuses data older than an age, instead of serving it.
    ///
    /// The age counts from ``DatasetAge/dataAsOf``. Choose it with care: a publisher that stalls
    /// then stops this program, too.
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

/// The steps of a refresh behind which a killed process must leave the old generation or the new
/// one.
package enum RefreshStep: String, Sendable, CaseIterable {
  case locked, asked, verified, keysFollowed
  case patchFetched, patchPiece, patchApplied
  case tableFetched, frame, unpacked
  case imported, sealed
  case checked, moved, swapped, cleaned
}
