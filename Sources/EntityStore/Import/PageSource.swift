public import LodestoreEssentials

/// One page of a source, as an ``Importer`` takes it.
public struct ImportPage: Sendable, Hashable {
  /// The page as it came; `nil` when the source says that it is as it was when it was remembered.
  public var content: Data?
  /// What is to be remembered of the page, for the next import of the same source.
  public var memory: PageMemory?
  /// Where the source goes on behind this page, in the source's own words; `nil` behind the last.
  public var next: String?
  /// How many pages the source has in all, where it says so.
  public var totalPages: Int?

  /// A page.
  public init(
    content: Data?, memory: PageMemory? = nil, next: String? = nil, totalPages: Int? = nil
  ) {
    self.content = content
    self.memory = memory
    self.next = next
    self.totalPages = totalPages
  }
}

/// What a store remembers of a page, so that its source can say that it has not changed.
public struct PageMemory: Sendable, Hashable, Codable {
  /// The page at its source, for the web its address.
  public var name: String
  /// The entity tag of the page's content: RFC 9110, 8.8.3.
  public var entityTag: String?
  /// When the page was last modified, as the source wrote it: RFC 9110, 8.8.2.
  public var lastModified: String?
  /// Where the source went on behind the page: a page that has not changed comes without it.
  public var next: String?

  /// A memory of the page called `name`.
  public init(
    name: String, entityTag: String? = nil, lastModified: String? = nil, next: String? = nil
  ) {
    self.name = name
    self.entityTag = entityTag
    self.lastModified = lastModified
    self.next = next
  }
}

/// A source of pages that can be asked to begin in its midst.
///
/// Where the last committed page ended is kept in the store, in the transaction of its records, so
/// that an import that was killed goes on from there.
public protocol PageSource: Sendable {
  /// Pages in their order.
  associatedtype Pages: AsyncSequence where Pages.Element == ImportPage

  /// The pages from `position` on, which is the ``ImportPage/next`` of a page committed earlier;
  /// all pages when it is `nil`.
  ///
  /// - Parameter remembered: what the store remembers of the page with a name; may be called from
  ///   any thread, until the last page has been taken.
  func pages(
    from position: String?, remembered: @escaping @Sendable (_ name: String) -> PageMemory?
  ) -> Pages
}
