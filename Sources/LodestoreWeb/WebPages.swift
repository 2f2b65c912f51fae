public import EntityStore
public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// The pages of a web service, for an importer.
///
///     var options = WebPages.Options()
///     options.pagesInFlight = 4
///     let pods = WebPages(
///       url, paging: .pageNumber(size: .init("per_page", 100), endsAt: .emptyPage(records: "result")),
///       options: options)
///
/// Pages are returned in order and unchanged, byte for byte. Only the part that leads to the next
/// page is interpreted. A page that the store remembers is requested with its entity tag and date.
/// If it has not changed, it is returned without content, and the remembered next page follows.
///
/// A request that may succeed later is retried as ``Options`` says. An iteration throws
/// ``WebSourceError``, or `CancellationError` if the task is cancelled, which ends all requests at
/// once. After an error the iteration ends. The pages before the error remain usable, and
/// ``pages(from:remembered:)`` continues after them.
///
/// Each iteration has its own session without cache, cookies and stored credentials. An iteration
/// holds ``Options/pagesInFlight`` pages in memory, and the addresses of all pages returned.
///
/// Servers are not trusted: whatever bytes a server sends, the result is a page or an error, within
/// the time and the memory that ``Options`` allows. On Linux requests use async-http-client, which
/// the package's trait `Web` adds (on by default). Without the trait the first page is an error. On
/// macOS they use `URLSession`. On Linux proxies named in the environment are ignored.
public struct WebPages: PageSource {
  let request: URLRequest
  let paging: Paging
  let options: Options
  var timing = RetryTiming()
  /// Returns the range of an address.
  var classify: @Sendable (PeerAddress) -> AddressRange = { $0.range }

  /// Creates a source of the pages that begin at `url`.
  #if !canImport(Darwin) && !Web
    @available(*, deprecated, message: "On Linux this needs the package's trait \"Web\"; enable it")
  #endif
  public init(_ url: URL, paging: Paging = .single, options: Options = Options()) {
    self.init(URLRequest(url: url), paging: paging, options: options)
  }

  /// Creates a source of the pages that begin with a request.
  ///
  /// Its header fields are sent with all requests to its host.
  ///
  /// The method must be GET. Conditions, `Range` and `Accept-Encoding` are ignored, because this
  /// module and the client set them. After a redirect to another host only `Accept`,
  /// `Accept-Language` and `User-Agent` are sent.
  #if !canImport(Darwin) && !Web
    @available(*, deprecated, message: "On Linux this needs the package's trait \"Web\"; enable it")
  #endif
  public init(_ request: URLRequest, paging: Paging = .single, options: Options = Options()) {
    self.request = request
    self.paging = paging
    self.options = options
  }

  /// The pages from `position`; all pages if it is `nil`.
  ///
  /// A position is the address of a page, without the secrets of the source's own address. If this
  /// source cannot have returned it, the first page fails with ``WebSourceError/Code/badPosition``.
  public func pages(
    from position: String? = nil,
    remembered: @escaping @Sendable (_ name: String) -> PageMemory? = { _ in nil }
  ) -> Pages {
    Pages(source: self, position: position, remembered: remembered)
  }

  /// Pages in order.
  ///
  /// Each iteration requests them again from the service.
  public struct Pages: AsyncSequence, Sendable {
    fileprivate let source: WebPages
    fileprivate let position: String?
    fileprivate let remembered: @Sendable (String) -> PageMemory?

    /// Creates an iterator.
    ///
    /// The first page is requested when it is taken.
    @_documentation(visibility: internal)
    public func makeAsyncIterator() -> Iterator {
      Iterator(walk: PageWalk(source, from: position, remembered: remembered))
    }
  }

  /// Returns one page after another.
  @_documentation(visibility: internal)
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let walk: PageWalk

    /// The next page; `nil` after the last one and after an error.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> ImportPage? { try await walk.next() }
  }
}
