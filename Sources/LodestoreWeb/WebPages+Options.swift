internal import EntityStore
package import Foundation

extension WebPages {
  /// The limits of a source: requests, waits, and accepted answers.
  public struct Options: Sendable {
    /// How many pages are asked for, or wait, ahead of the one taken last; at least 1.
    ///
    /// Only numbered pages can be asked for together; of the others at most one is.
    public var pagesInFlight = 2
    /// The longest time to the end of the answer's head, and then without a byte.
    public var requestTimeout = Duration.seconds(60)
    /// The longest time for one request, from its start to its last byte.
    public var transferTimeout = Duration.seconds(300)

    /// How often a request is made again; 0 for never.
    public var retries = 4
    /// The statuses after which a request is made again; failed connections and timeouts are
    /// repeated too.
    ///
    /// Statuses 403 and 413 are repeated as well when the answer names a time. `Retry-After` does
    /// (RFC 9110, 10.2.3), and so does a rate limit with nothing remaining: `RateLimit`, or
    /// `RateLimit-Remaining` with its reset, also with `X-` before the names.
    public var retriedStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
    /// The longest wait before the first retry; it doubles with each.
    ///
    /// The wait itself is drawn between zero and this, so that many who failed together do not
    /// come back together.
    public var firstWait = Duration.milliseconds(500)
    /// The longest wait before a request is made again.
    ///
    /// When the service asks for a longer one, the page fails with
    /// ``WebSourceError/Code/badStatus`` and ``WebSourceError/retryAfter`` says how long: an
    /// earlier request would break the service's rule.
    public var longestWait = Duration.seconds(60)

    /// How many redirects one page may take.
    ///
    /// None leads from HTTPS to HTTP, or to where ``addresses`` does not let it. The header fields
    /// that go to another host are listed at `WebPages/init(_:paging:options:)`.
    public var redirects = 5
    /// The ranges of addresses that requests may go to.
    public var addresses = Addresses.sourceRange
    /// The most bytes of a page, after decompression: 64 MiB.
    ///
    /// A page is in memory as a whole, and for moments twice. An answer that inflates to more is
    /// refused when the limit is reached.
    public var pageByteLimit = FilePages.pageByteLimit
    /// The most bytes of an answer besides its content: 256 KiB.
    ///
    /// The head counts together with heads of status 100 to 199 before it; a trailer counts by
    /// itself. On Linux one field may have 80 KiB, and a head 256 of them, whatever is set here.
    public var headByteLimit = 256 << 10
    /// Whether a repeated page ends the source instead of failing with
    /// ``WebSourceError/Code/repeatedPage``.
    ///
    /// A page is repeated when a link or cursor leads to a page that came already, and when a
    /// numbered page has the content of the page before it. Some services answer numbers beyond the
    /// last page with the last page again, and some link their last page to itself.
    public var endsAtRepeatedPage = false
    /// The most pages of an iteration; one more is an error.
    public var pageLimit = 100_000

    /// The content types that are accepted besides JSON, as `text/plain`; `*/*` accepts every type.
    ///
    /// JSON is `application/json`, `text/json` and every type that ends in `+json`. An answer that
    /// does not name its type is taken.
    public var otherContentTypes: [String] = []

    /// Names of query parameters whose values are secret, in any case of letters.
    ///
    /// Their values are left out of messages. The secrets of the source's own address are also left
    /// out of positions and memories of pages, and put back when the page is requested.
    public var secretParameters: Set<String> = [
      "access_token", "api-key", "api_key", "apikey", "appid", "auth", "client_secret", "key",
      "password", "sig", "signature", "token",
    ]

    /// Numeric addresses by the names of hosts, which the system is not asked for then; for tests.
    package var hostAddresses: [String: String] = [:]

    /// The defaults.
    public init() {}
  }
}

extension WebPages {
  /// Which ranges of addresses requests may go to: this machine, the link-local range, private ranges, the
  /// public one, from the narrowest to the widest.
  ///
  /// On Linux the connection's final address is checked, whatever name led to it, and
  /// nothing is sent to one that is not allowed. On macOS the system is asked for the addresses of a
  /// name before the connection is made.
  public struct Addresses: Sendable, Hashable {
    private enum Form: Sendable, Hashable {
      case sourceRange, publicOnly, any
      case atLeast(AddressRange)
    }

    private let form: Form

    /// The source's own address may be of any range, and a redirect never leads to a narrower one.
    ///
    /// A redirect to another host goes not from the world to a private address, and not from there to this
    /// machine. The source's host itself keeps the range that it had first, whatever its name leads
    /// to later.
    public static let sourceRange = Addresses(form: .sourceRange)

    /// Public addresses alone, for a source that others have named.
    public static let publicOnly = Addresses(form: .publicOnly)

    /// All addresses, also by redirects; for a source that is trusted as this machine is.
    public static let any = Addresses(form: .any)

    /// Addresses of no narrower range than the narrowest that the hosts of `others` tell by their
    /// text; public ones alone where `others` has no host.
    package static func notNarrower(than others: [URL]) -> Addresses {
      Addresses(form: .atLeast(others.map { AddressRange.ofText($0) }.min() ?? .everywhere))
    }

    /// The narrowest range that is allowed, where `range` is asked for; nil where the first connection
    /// decides.
    func floor(_ range: AddressRange?) -> AddressRange? {
      switch form {
      case .sourceRange: range
      case .publicOnly: .everywhere
      case .any: .loopback
      case .atLeast(let least): max(range ?? least, least)
      }
    }
  }
}

extension Duration {
  /// A wait that a clock can add to any instant: not negative, at most a year.
  var bounded: Duration { min(max(self, .zero), .seconds(31_536_000)) }
}
