internal import EntityStore
internal import Foundation

/// Returns pages in order, while requests for the following ones are in flight.
///
/// The requests are cancelled when the walk ends: after the last page, at an error, on
/// cancellation, and with the last reference to the walk.
final class PageWalk {
  private struct Expected {
    var address: PageAddress
    var outcome: Task<PageFetch.Outcome, any Error>
  }

  private enum Phase {
    case new(WebPages, position: String?)
    case open(PageFetch)
    case ended
  }

  private var phase: Phase
  private let remembered: @Sendable (String) -> PageMemory?
  private let options: WebPages.Options
  /// Requested pages that have not been returned, in their order.
  private var expected: [Expected] = []
  /// The names of the pages returned or requested.
  private var visited: Set<String> = []
  /// The page after the last allowed one.
  ///
  /// This page is not requested, because of ``WebPages/Options/pageLimit``.
  private var beyondLimit: PageAddress?
  /// The hash of the content of the numbered page returned last.
  private var contentHash: Int?
  /// The reason why no page follows the last returned page.
  ///
  /// The error is thrown when the next page is requested.
  private var failure: WebSourceError?

  init(
    _ pages: WebPages, from position: String?,
    remembered: @escaping @Sendable (String) -> PageMemory?
  ) {
    phase = .new(pages, position: position)
    options = pages.options
    self.remembered = remembered
  }

  deinit { end() }

  /// The next page; `nil` at the end and after an error.
  func next() async throws -> ImportPage? {
    do {
      try Task.checkCancellation()
      if let page = try await take() { return page }
    } catch {
      end()
      throw error
    }
    end()
    return nil
  }

  private func end() {
    phase = .ended
    drop()
  }

  private func take() async throws -> ImportPage? {
    let fetch: PageFetch
    var isResumed = false
    switch phase {
    case .ended: return nil
    case .open(let open): fetch = open
    case .new(let pages, let position):
      fetch = try PageFetch(pages, remembered)
      phase = .open(fetch)
      isResumed = position != nil
      try request(fetch.start(at: position), fetch)
    }
    if let failure { throw failure }
    if let address = beyondLimit, expected.isEmpty {
      throw WebSourceError.tooManyPages(
        fetch.order.source.shown(address.url), limit: options.pageLimit)
    }
    guard let (address, outcome) = try await first() else { return nil }
    switch outcome {
    case .absent(let error):
      if fetch.order.endsWithout(address, status: error.status) { return nil }
      throw visited.count == 1 && !isResumed ? error : error.vanished
    case .page(let fetched):
      if repeatsContent(fetched.page.content, at: address) {
        guard options.endsAtRepeatedPage else {
          throw WebSourceError.sameContent(fetch.order.source.shown(address.url))
        }
        return nil
      }
      return passing(fetched, at: address, fetch)
    }
  }

  /// Waits for the next page in order.
  private func first() async throws -> (PageAddress, PageFetch.Outcome)? {
    guard let first = expected.first else { return nil }
    let requests = expected.map(\.outcome)
    let outcome = try await withTaskCancellationHandler {
      try await first.outcome.value
    } onCancel: {
      for request in requests { request.cancel() }
    }
    expected.removeFirst()
    return (first.address, outcome)
  }

  /// Returns the page after requesting the pages after it.
  ///
  /// If the next page cannot be found, the error is delayed until that page is requested. In this
  /// case the returned position is the position of this page, and the page is not remembered. A
  /// resumed import then requests it again.
  private func passing(
    _ fetched: FetchedPage, at address: PageAddress, _ fetch: PageFetch
  ) -> ImportPage {
    var page = fetched.page
    var behind = fetched.behind
    if options.endsAtRepeatedPage, let next = behind.next, next.number == nil,
      visited.contains(next.name)
    {
      behind.next = nil
      page.next = nil
      page.memory?.next = nil
    }
    do {
      try requestPages(behind: behind, fetch)
    } catch {
      failure = error
      page.next = address.name
      page.memory = nil
    }
    return page
  }

  private func requestPages(behind: PagesBehind, _ fetch: PageFetch) throws(WebSourceError) {
    if let failure = behind.failure { throw failure }
    guard let next = behind.next else { return drop() }
    if expected.isEmpty { try request(next, fetch) }
    while expected.count < options.pagesInFlight, let ahead = expected.last?.address,
      !fetch.wasLast(ahead), let following = fetch.order.following(ahead),
      (following.number ?? 0) <= behind.last ?? .max, visited.count < options.pageLimit
    {
      try request(following, fetch)
    }
  }

  private func request(_ address: PageAddress, _ fetch: PageFetch) throws(WebSourceError) {
    guard visited.count < options.pageLimit else {
      beyondLimit = address
      return
    }
    guard visited.insert(address.name).inserted else {
      throw .linkedAgain(fetch.order.source.shown(address.url))
    }
    expected.append(Expected(address: address, outcome: Task { try await fetch.page(at: address) }))
  }

  private func drop() {
    for request in expected { request.outcome.cancel() }
    expected = []
  }

  /// Whether a numbered page has the same content as the page before it, which shows that the
  /// service ignores the number.
  private func repeatsContent(_ content: Data?, at address: PageAddress) -> Bool {
    guard address.number != nil else { return false }
    let hash = content.map { content in
      var hasher = Hasher()
      content.withUnsafeBytes { hasher.combine(bytes: $0) }
      return hasher.finalize()
    }
    defer { contentHash = hash }
    return hash != nil && hash == contentHash
  }
}
