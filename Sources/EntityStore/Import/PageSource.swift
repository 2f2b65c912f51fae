public import LodestoreEssentials

/// One page of a source, as an ``Importer`` reads it.
public struct ImportPage: Sendable, Hashable {
  /// The content of the page; `nil` when the source reports that the remembered page has not
  /// changed.
  public var content: Data?
  /// The facts about the page that the store keeps for the next import from this source.
  public var memory: PageMemory?
  /// The position of the next page, in the source's format; `nil` after the last page.
  public var next: String?
  /// The number of pages of the source; `nil` when the source does not report it.
  public var totalPages: Int?

  /// Creates a page.
  public init(
    content: Data?, memory: PageMemory? = nil, next: String? = nil, totalPages: Int? = nil
  ) {
    self.content = content
    self.memory = memory
    self.next = next
    self.totalPages = totalPages
  }
}

/// The facts that the store remembers about a page, so that its source can report that the page
/// has not changed.
public struct PageMemory: Sendable, Hashable, Codable {
  /// The name of the page at its source; for the web, its address.
  public var name: String
  /// The entity tag of the page's content: RFC 9110, 8.8.3.
  public var entityTag: String?
  /// The time of the page's last modification, as the source wrote it: RFC 9110, 8.8.2.
  public var lastModified: String?
  /// The position of the next page; the source does not repeat it for an unchanged page.
  public var next: String?

  /// Creates the facts about the page called `name`.
  public init(
    name: String, entityTag: String? = nil, lastModified: String? = nil, next: String? = nil
  ) {
    self.name = name
    self.entityTag = entityTag
    self.lastModified = lastModified
    self.next = next
  }
}

/// A source of pages that can begin at a position.
///
/// The store keeps the position after the last committed page, in the transaction of the page's
/// records. A resumed import continues at this position.
public protocol PageSource: Sendable {
  /// The pages in their order.
  associatedtype Pages: AsyncSequence where Pages.Element == ImportPage

  /// Returns the pages from `position` on.
  ///
  /// - Parameters:
  ///   - position: the ``ImportPage/next`` of a page committed earlier; `nil` for all pages.
  ///   - remembered: returns the facts that the store remembers about the page with a name. Call it
  ///     from any thread, until the last page has been read.
  func pages(
    from position: String?, remembered: @escaping @Sendable (_ name: String) -> PageMemory?
  ) -> Pages
}
