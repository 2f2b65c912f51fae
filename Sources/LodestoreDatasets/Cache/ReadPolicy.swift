/// How a read weighs data that is here against a request to the origin.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum ReadPolicy: String, Sendable, CaseIterable {
  /// Only the data that is here. No request is made, now or later.
  case cacheOnly
  /// The data that is here, at once; then a refresh in the background when one is due. Waits for
  /// the refresh where nothing is here yet.
  case cacheThenRefresh
  /// The newest data; when the refresh fails, the data that is here.
  case freshElseCache
  /// The newest data, or the error of the refresh.
  case freshOnly
}
