internal import EntityStore
internal import Foundation

/// A received page, and the facts that it states about the following pages, such as the next
/// address.
struct FetchedPage: Sendable {
  var page: ImportPage
  var behind: PagesBehind
}

/// Fetches the page at an address.
///
/// If the store remembers the page, the service is asked to send it only if it has changed.
struct PageFetch: Sendable {
  enum Outcome: Sendable {
    case page(FetchedPage)
    /// The status shows that the page does not exist; the associated value is the error.
    case absent(WebSourceError)
  }

  let order: PageOrder
  private let loader: PageLoader
  private let remembered: @Sendable (String) -> PageMemory?

  init(
    _ pages: WebPages, _ remembered: @escaping @Sendable (String) -> PageMemory?
  ) throws(WebSourceError) {
    try WebSession.checkClient()
    try WebExchange.check(pages.request)
    let source = try SourceAddress(
      pages.request.url, secretParameters: pages.options.secretParameters)
    order = PageOrder(
      source: source, paging: pages.paging, limits: JSONLimits(bytes: pages.options.pageByteLimit))
    loader = PageLoader(
      exchange: WebExchange(
        source: source, request: pages.request, accept: WebExchange.acceptsPages,
        options: pages.options,
        session: WebSession(pages.options, classify: pages.classify)),
      timing: pages.timing)
    self.remembered = remembered
  }

  /// The address for a position.
  ///
  /// Without a position, the first page's address.
  func start(at position: String?) throws(WebSourceError) -> PageAddress {
    guard let position else { return order.first }
    guard let address = order.address(at: position) else {
      throw .badPosition(position, source: order.source.shown(order.source.url))
    }
    return address
  }

  /// Returns whether this page was the last page of the previous import.
  func wasLast(_ address: PageAddress) -> Bool {
    memory(of: address).map { $0.next == nil } ?? false
  }

  func page(at address: PageAddress) async throws -> Outcome {
    let memory = memory(of: address)
    switch try await loader.load(address.url, known: memory.map(Validators.init)) {
    case .absent(let error): return .absent(error)
    case .unchanged(let validators):
      let next = memory?.next
      let kept = PageMemory(
        name: address.name, entityTag: validators.entityTag, lastModified: validators.lastModified,
        next: next)
      return .page(
        FetchedPage(
          page: ImportPage(content: nil, memory: kept, next: next),
          behind: PagesBehind(next: next.flatMap(order.address(at:)))))
    case .content(let answer):
      let behind = try order.following(address, answer)
      let validators = Validators(
        entityTag: answer.fields["etag"], lastModified: answer.fields["last-modified"])
      let memory = PageMemory(
        name: address.name, entityTag: validators.entityTag, lastModified: validators.lastModified,
        next: behind.next?.name)
      return .page(
        FetchedPage(
          page: ImportPage(
            content: answer.body, memory: validators.isEmpty ? nil : memory,
            next: behind.next?.name, totalPages: behind.pageCount),
          behind: behind))
    }
  }

  /// The state of a page that the store remembers from the previous import.
  ///
  /// Returns `nil` without an entity tag or date for a conditional request, or if the next page
  /// that the state names cannot follow this page.
  private func memory(of address: PageAddress) -> PageMemory? {
    guard let memory = remembered(address.name), !Validators(memory).isEmpty else { return nil }
    guard let next = memory.next else { return memory }
    guard let following = order.address(at: next),
      address.number == nil || following == order.following(address)
    else { return nil }
    return memory
  }
}
