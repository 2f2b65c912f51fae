public import Foundation

/// A failure to get pages from a web service.
///
/// `code` is for programs. `message` is for people: it states the failed action, the fact found,
/// and the next step.
public struct WebSourceError: Error, Sendable {
  /// The kind of a failure.
  ///
  /// New codes may be added, so keep a default case.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name, as in `WebSourceError.Code.timedOut`.
    public let description: String

    init(_ description: String) { self.description = description }

    /// The source's request cannot be made: not HTTP, not GET, or with a header that breaks HTTP.
    public static let badRequest = Code("badRequest")
    /// The position to continue from does not belong to this source.
    public static let badPosition = Code("badPosition")
    /// The connection failed, or broke before an answer.
    public static let noConnection = Code("noConnection")
    /// The answer ended too early.
    public static let truncated = Code("truncated")
    /// No byte arrived for too long, or the page took too long.
    public static let timedOut = Code("timedOut")
    /// The answer has an HTTP status other than that of a page.
    public static let badStatus = Code("badStatus")
    /// A page that the page before it named does not exist.
    public static let pageVanished = Code("pageVanished")
    /// The service returned the same page a second time, or a link leads to an earlier page.
    public static let repeatedPage = Code("repeatedPage")
    /// The source has more pages than the limit.
    public static let tooManyPages = Code("tooManyPages")
    /// A page or a head has more bytes than the limit.
    public static let pageTooLarge = Code("pageTooLarge")
    /// The page's content type is not accepted.
    public static let badContentType = Code("badContentType")
    /// The page is compressed by another method than gzip or deflate.
    public static let badEncoding = Code("badEncoding")
    /// The answer to a request for a part of a file has another part.
    public static let badRange = Code("badRange")
    /// The source's address is in a range that is not allowed.
    public static let forbiddenAddress = Code("forbiddenAddress")
    /// A redirect must not be followed, or there are too many.
    public static let badRedirect = Code("badRedirect")
    /// The next page cannot be found in a page: the page is not JSON, or the value is of a wrong
    /// kind.
    public static let unreadablePage = Code("unreadablePage")
    /// The next page does not belong to this source, or its link is not a web address.
    public static let badLink = Code("badLink")
  }

  /// The kind of failure.
  public var code: Code
  /// The failed action and the reason, in one line.
  public var message: String
  /// The page concerned, without user information and without the values of secret parameters.
  public var url: URL?
  /// The status of the answer.
  public var status: Int?
  /// The number of requests for the page.
  public var attempts: Int
  /// The wait that the service asked for before the next request, counted from its answer.
  ///
  /// The value comes from `Retry-After` or from the fields of a rate limit. Without either, the
  /// value is `nil`.
  public var retryAfter: Duration?
  /// The underlying error, a `URLError` or an error of the JSON reader.
  public var cause: (any Error)?

  init(
    _ code: Code, url: URL? = nil, status: Int? = nil, attempts: Int = 0,
    cause: (any Error)? = nil, _ message: String
  ) {
    self.code = code
    self.message = message
    self.url = url
    self.status = status
    self.attempts = attempts
    self.cause = cause
  }
}

extension WebSourceError: CustomStringConvertible, CustomDebugStringConvertible {
  /// The message.
  public var description: String { message }

  /// Code, message and cause.
  public var debugDescription: String {
    cause.map { "\(code): \(message) (\($0))" } ?? "\(code): \(message)"
  }
}

extension WebSourceError: LocalizedError {
  /// The message; Foundation and tools that print errors use this property.
  public var errorDescription: String? { message }
}
