internal import LMDB
internal import LodestoreFormat

/// The targets of one member of a remembered page's records; see Format.md, "Imports".
///
/// An unchanged page does not imply that its links still exist: other writers may have deleted the
/// targets, or removed the links. Such changes do not alter the records of the page, so the links
/// must be checked as well.
struct RememberedLinks: Sendable, Codable, Hashable {
  /// Pairs of ids: a record of the page, followed by a record with which it was linked.
  ///
  /// Links held in attributes of the page's own records are not included.
  var pairs: [UInt64] = []
  /// The keys in the member for which no record existed.
  var unresolved: [Unresolved] = []

  struct Unresolved: Sendable, Codable, Hashable {
    /// The id of the page's record that contains the key.
    var id: UInt64
    /// The key as a document.
    var key: [UInt8]
  }

  /// The remembered links of a group's pages; each page has one entry for each link of the import.
  struct ByPage {
    private var links: [Int: [RememberedLinks]] = [:]

    /// Creates empty entries for the pages with the numbers `pages`.
    init(_ pages: some Sequence<Int>, linkCount: Int) {
      guard linkCount > 0 else { return }
      for page in pages { links[page] = Array(repeating: RememberedLinks(), count: linkCount) }
    }

    subscript(page: Int) -> [RememberedLinks]? { links[page] }

    mutating func add(_ id: UInt64, _ target: UInt64, link: Int, page: Int) {
      links[page]?[link].pairs += [id, target]
    }

    mutating func add(_ id: UInt64, key: [UInt8], link: Int, page: Int) {
      links[page]?[link].unresolved.append(Unresolved(id: id, key: key))
    }
  }
}

extension ImportEngine {
  /// Returns whether every remembered link still exists, and every unresolved key is still
  /// unresolved.
  func areIntact(
    _ remembered: [RememberedLinks]?, _ core: TransactionCore
  ) throws(StoreError) -> Bool {
    guard !links.isEmpty else { return true }
    guard let remembered, remembered.count == links.count else { return false }
    let entity = try self.entity(core)
    for (link, kept) in zip(links, remembered) {
      let resolver = try LinkResolver(link, of: entity, core)
      guard try resolver.hasAll(kept.pairs), try !resolver.leads(kept.unresolved) else {
        return false
      }
    }
    return true
  }

  /// The links as text, which distinguishes imports with different links.
  var linksText: String {
    links.map { "\($0.member)>\($0.name)>\($0.target).\($0.key) \($0.makesMissing)" }
      .joined(separator: ",")
  }
}

extension LinkResolver {
  fileprivate func hasAll(_ pairs: [UInt64]) throws(StoreError) -> Bool {
    guard !pairs.isEmpty, let links = end.links else { return true }
    let cursor = try LinkCursor(links, core: core)
    for index in stride(from: 0, to: pairs.count - 1, by: 2)
    where try !cursor.contains(pairs[index], pairs[index + 1]) { return false }
    return true
  }

  /// Returns whether a key that was unresolved now names a stored record to which the page's record
  /// is not linked.
  fileprivate func leads(_ unresolved: [RememberedLinks.Unresolved]) throws(StoreError) -> Bool {
    let ids = try ids(of: unresolved.map { PendingLink.value(of: $0.key) })
    for (one, target) in zip(unresolved, ids) where target > 0 {
      let related = try core.relatedIDs(of: one.id, by: end)
      if !related.contains(target) { return true }
    }
    return false
  }
}
