public import Foundation

/// Why pages of a web service cannot be had.
///
/// `code` is for programs, `message` for people: it says which action failed, the fact found,
/// and the next step.
public struct WebSourceError: Error, Sendable {
  /// The kind of a failure.
  ///
  /// New codes may be added; keep a default case.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name, as in `WebSourceError.Code.timedOut`.
    public let description: String

    init(_ description: String) { self.description = description }

    /// The source's request cannot be made: not HTTP, not GET, or with a header that breaks HTTP.
    public static let badRequest = Code("badRequest")
    /// The position is not one that this source gives.
    public static let badPosition = Code("badPosition")
    /// No connection, or it broke before an answer.
    public static let noConnection = Code("noConnection")
    /// The answer broke off.
    public static let truncated = Code("truncated")
    /// No byte came for too long, or the page took too long.
    public static let timedOut = Code("timedOut")
    /// The answer has a status that is not a page's.
    public static let badStatus = Code("badStatus")
    /// A page that was named by the one before is gone.
    public static let pageVanished = Code("pageVanished")
    /// A page that came already comes again.
    public static let repeatedPage = Code("repeatedPage")
    /// More pages than the limit.
    public static let tooManyPages = Code("tooManyPages")
    /// More bytes than the limit, of a page or of a head.
    public static let pageTooLarge = Code("pageTooLarge")
    /// The page is of another type than is taken.
    public static let badContentType = Code("badContentType")
    /// The page is compressed otherwise than by gzip or deflate.
    public static let badEncoding = Code("badEncoding")
    /// The answer to a request for a part of a file has another part.
    public static let badRange = Code("badRange")
    /// The source's address is of a range that is not allowed.
    public static let forbiddenAddress = Code("forbiddenAddress")
    /// A redirect to where none is followed, or too many.
    public static let badRedirect = Code("badRedirect")
    /// The next page cannot be found in a page: not JSON, or another value is there.
    public static let unreadablePage = Code("unreadablePage")
    /// The next page is not of this source, or its link is no web address.
    public static let badLink = Code("badLink")
  }

  /// The kind of failure.
  public var code: Code
  /// The action that failed and the reason, in one line.
  public var message: String
  /// The page concerned, without user information and without the values of secret parameters.
  public var url: URL?
  /// The status of the answer.
  public var status: Int?
  /// How often the page was asked for.
  public var attempts: Int
  /// How long the service asked to wait before the next request, counted from its answer.
  ///
  /// Taken from `Retry-After` or from the fields of a rate limit; `nil` where the answer has
  /// neither.
  public var retryAfter: Duration?
  /// The error beneath, a `URLError` or the JSON reader's.
  public var cause: (any Error)?

  init(
    _ code: Code, _ message: String, url: URL?, status: Int? = nil, attempts: Int = 0,
    cause: (any Error)? = nil
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
