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
/// Pages come in their order, each as it came, byte for byte: nothing is read in it but what is
/// needed to find the next. A page that the store remembers is asked for with its entity tag and
/// date; when it has not changed it comes without content, and the next is the one remembered.
///
/// An answer that may be better the next time is asked for again, so often and after such waits as
/// ``Options`` says. What an iteration throws: ``WebSourceError``, and `CancellationError` when the
/// task is cancelled, which ends all requests at once. Behind an error come no more pages; those
/// before it can be kept, and ``pages(from:remembered:)`` goes on behind them.
///
/// Each iteration has a session of its own without cache, cookies and stored credentials.
/// Memory: ``Options/pagesInFlight`` pages, and the addresses of all pages taken.
///
/// A server is not trusted: whatever bytes it sends, what comes of them is a page or an error, in the
/// time and the memory that ``Options`` allows. On Linux requests go over async-http-client, which the
/// package's trait `Web` brings (on by default); without the trait the first page is an error. On
/// macOS they go over `URLSession`. Proxies named in the environment are not used on Linux.
public struct WebPages: PageSource {
  let request: URLRequest
  let paging: Paging
  let options: Options
  var timing = RetryTiming()
  /// Which range an address is of.
  var classify: @Sendable (PeerAddress) -> AddressRange = { $0.range }

  /// The pages that begin at `url`.
  #if !canImport(Darwin) && !Web
    @available(
      *, deprecated, message: "On Linux this needs the package's trait \"Web\"; enable it"
    )
  #endif
  public init(_ url: URL, paging: Paging = .single, options: Options = Options()) {
    self.init(URLRequest(url: url), paging: paging, options: options)
  }

  /// The pages that begin with a request, whose header fields all requests to its host have.
  ///
  /// The method must be GET. Conditions, `Range` and `Accept-Encoding` are left out: they are set
  /// here and by the client. To another host, behind a redirect, go only `Accept`,
  /// `Accept-Language` and `User-Agent`.
  #if !canImport(Darwin) && !Web
    @available(
      *, deprecated, message: "On Linux this needs the package's trait \"Web\"; enable it"
    )
  #endif
  public init(_ request: URLRequest, paging: Paging = .single, options: Options = Options()) {
    self.request = request
    self.paging = paging
    self.options = options
  }

  /// The pages from `position` on, all of them when it is `nil`.
  ///
  /// A position is the address of a page, without the secrets of the source's own address. One
  /// that this source cannot have given is refused by the first page, with
  /// ``WebSourceError/Code/badPosition``.
  public func pages(
    from position: String? = nil,
    remembered: @escaping @Sendable (_ name: String) -> PageMemory? = { _ in nil }
  ) -> Pages {
    Pages(source: self, position: position, remembered: remembered)
  }

  /// Pages in their order; each iteration asks the service anew.
  public struct Pages: AsyncSequence, Sendable {
    fileprivate let source: WebPages
    fileprivate let position: String?
    fileprivate let remembered: @Sendable (String) -> PageMemory?

    /// Begins with nothing: the first page is asked for when it is taken.
    @_documentation(visibility: internal)
    public func makeAsyncIterator() -> Iterator {
      Iterator(walk: PageWalk(source, from: position, remembered: remembered))
    }
  }

  /// Takes one page after another.
  @_documentation(visibility: internal)
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let walk: PageWalk

    /// The next page, or `nil` behind the last and after an error.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> ImportPage? { try await walk.next() }
  }
}
