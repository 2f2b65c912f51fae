internal import EntityStore
package import Foundation

extension WebPages {
  /// The limits of a source: requests, waits, and accepted answers.
  public struct Options: Sendable {
    /// The maximum number of pages that are requested, or received and waiting, before the importer
    /// takes them; at least 1.
    ///
    /// Only numbered pages can be requested together. With other paging, at most one page is
    /// requested ahead.
    public var pagesInFlight = 2
    /// The maximum time until the end of the answer's head, and then without a byte.
    public var requestTimeout = Duration.seconds(60)
    /// The maximum time for one request, from its start to its last byte.
    public var transferTimeout = Duration.seconds(300)

    /// The maximum number of retries of a request; 0 for none.
    public var retries = 4
    /// The statuses after which a request is retried.
    ///
    /// Failed connections and timeouts are retried too.
    ///
    /// Statuses 403 and 413 are also retried if the answer states a time. `Retry-After` states a
    /// time (RFC 9110, 10.2.3), and so does a rate limit with nothing remaining: `RateLimit`, or
    /// `RateLimit-Remaining` with its reset. The names may have the prefix `X-`.
    public var retriedStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
    /// The maximum wait before the first retry.
    ///
    /// The maximum doubles with each further retry.
    ///
    /// The wait is drawn at random between zero and this maximum, so that clients that failed
    /// together do not retry together.
    public var firstWait = Duration.milliseconds(500)
    /// The maximum wait before a request is retried.
    ///
    /// If the service asks for a longer wait, the page fails with
    /// ``WebSourceError/Code/badStatus``, and ``WebSourceError/retryAfter`` has the wait. An
    /// earlier request would violate the service's rule.
    public var longestWait = Duration.seconds(60)

    /// The maximum number of redirects for one page.
    ///
    /// Redirects from HTTPS to HTTP, and to addresses that ``addresses`` does not allow, are not
    /// followed. `WebPages/init(_:paging:options:)` lists the header fields that are sent to
    /// another host.
    public var redirects = 5
    /// The ranges of addresses that requests may go to.
    public var addresses = Addresses.sourceRange
    /// The maximum number of bytes of a page after decompression: 64 MiB.
    ///
    /// A page is in memory as a whole, and for moments twice. A larger answer is refused as soon as
    /// the limit is reached.
    public var pageByteLimit = FilePages.pageByteLimit
    /// The maximum number of bytes of an answer outside its content: 256 KiB.
    ///
    /// The head is counted together with preceding heads of status 100 to 199; a trailer is counted
    /// separately. On Linux a field may have at most 80 KiB and a head at most 256 fields, whatever
    /// is set here.
    public var headByteLimit = 256 << 10
    /// Whether a repeated page ends the source and does not fail with
    /// ``WebSourceError/Code/repeatedPage``.
    ///
    /// A page is repeated if a link or cursor leads to an earlier page, or if a numbered page has
    /// the content of the page before it. Some services answer numbers beyond the last page with
    /// the last page, and some link their last page to itself.
    public var endsAtRepeatedPage = false
    /// The maximum number of pages of an iteration.
    ///
    /// If the source has more pages, the iteration fails with ``WebSourceError/Code/tooManyPages``.
    public var pageLimit = 100_000

    /// The content types accepted in addition to JSON, such as `text/plain`.
    ///
    /// `*/*` accepts every type.
    ///
    /// JSON is `application/json`, `text/json` and every type that ends in `+json`. An answer that
    /// does not name its type is accepted.
    public var otherContentTypes: [String] = []

    /// Names of query parameters with secret values, without regard to case.
    ///
    /// Messages omit their values. Positions and the remembered states of pages also omit the
    /// secrets of the source's own address, which are inserted again when the page is requested.
    public var secretParameters: Set<String> = [
      "access_token", "api-key", "api_key", "apikey", "appid", "auth", "client_secret", "key",
      "password", "sig", "signature", "token",
    ]

    /// Numeric addresses by host name, used in place of the system's resolver; for tests.
    package var hostAddresses: [String: String] = [:]

    /// Creates options with the default values.
    public init() {}
  }
}

extension WebPages {
  /// The ranges of addresses that requests may go to, from narrow to wide: this machine,
  /// link-local, private, public.
  ///
  /// On Linux the connection's final address is checked, whatever name led to it, and nothing is
  /// sent to a forbidden address. On macOS the system's resolver is asked before the connection is
  /// made.
  public struct Addresses: Sendable, Hashable {
    private enum Form: Sendable, Hashable {
      case sourceRange, publicOnly, any
      case atLeast(AddressRange)
    }

    private let form: Form

    /// The source's own address may be in any range, and a redirect never leads to a narrower
    /// range.
    ///
    /// A redirect to another host never goes from a public to a private address, nor from a private
    /// one to this machine. The source's host must keep the range of its first address, whatever
    /// its name leads to later.
    public static let sourceRange = Addresses(form: .sourceRange)

    /// Only public addresses are allowed.
    ///
    /// Use it for sources whose address comes from outside the program.
    public static let publicOnly = Addresses(form: .publicOnly)

    /// All addresses are allowed, also after redirects.
    ///
    /// Use it only for a source that is fully trusted.
    public static let any = Addresses(form: .any)

    /// Allows addresses of at least the narrowest range among the hosts of `others`, judged by
    /// their text.
    ///
    /// Only public addresses are allowed if `others` has no host.
    package static func notNarrower(than others: [URL]) -> Addresses {
      Addresses(form: .atLeast(others.map { AddressRange.ofText($0) }.min() ?? .everywhere))
    }

    /// The narrowest allowed range for a request that follows an answer from `range`; `nil` if the
    /// first connection determines it.
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
  /// The duration, limited to between zero and a year, so that a clock can add it to any instant.
  var bounded: Duration { min(max(self, .zero), .seconds(31_536_000)) }
}
