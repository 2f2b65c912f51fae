/// The choice of a read between existing data and a request to the origin.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum ReadPolicy: String, Sendable, CaseIterable {
  /// Use only existing data. No request is made, now or later.
  case cacheOnly
  /// Use existing data at once, then refresh in the background if a check is due. If there is no
  /// data yet, wait for the refresh.
  case cacheThenRefresh
  /// Refresh and use the newest data. If the refresh fails, use existing data.
  case freshElseCache
  /// Refresh and use the newest data. If the refresh fails, throw its error.
  case freshOnly
}
