internal import EntityStore

extension WebPages {
  /// How a source asks, how long it waits and what it takes.
  public struct Options: Sendable {
    /// How many pages are asked for, or wait, ahead of the one taken last; at least 1.
    ///
    /// Only numbered pages can be asked for together; of the others at most one is.
    public var pagesInFlight = 2
    /// The longest time without a byte.
    public var requestTimeout = Duration.seconds(60)
    /// The longest time for one request, from its start to its last byte.
    public var transferTimeout = Duration.seconds(300)

    /// How often a request is made again; 0 for never.
    public var retries = 4
    /// The answers that are asked for again; besides these, connections that fail and time out.
    public var retriedStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
    /// The longest wait before the first retry; it doubles with each.
    ///
    /// The wait itself is drawn between zero and this, so that many who failed together do not
    /// come back together.
    public var firstWait = Duration.milliseconds(500)
    /// The longest wait of all, also where the service asks for a longer one by `Retry-After`.
    public var longestWait = Duration.seconds(60)

    /// How many redirects one page may take.
    public var redirects = 5
    /// The most bytes of a page, after decompression.
    public var pageByteLimit = FilePages.pageByteLimit
    /// The most pages of an iteration; one more is an error.
    public var pageLimit = 100_000

    /// What a page may be besides JSON, as `text/plain`; `*/*` for everything.
    ///
    /// JSON is `application/json`, `text/json` and every type that ends in `+json`. An answer that
    /// does not name its type is taken.
    public var otherContentTypes: [String] = []

    /// Names of query parameters whose values are secret, in any case of letters.
    ///
    /// Their values are left out of messages. Those of the source's own address are also left out
    /// of positions and of what is remembered of a page, and put back when the page is asked for.
    public var secretParameters: Set<String> = [
      "access_token", "api-key", "api_key", "apikey", "appid", "auth", "client_secret", "key",
      "password", "sig", "signature", "token",
    ]

    /// The defaults.
    public init() {}
  }
}

extension Duration {
  /// A wait that a clock can add to any instant: not negative, at most a year.
  var bounded: Duration { min(max(self, .zero), .seconds(31_536_000)) }
}
