internal import LMDB
internal import LodestoreFormat

/// Where a member of the records of a remembered page led; see Format.md, "Imports".
///
/// That the page has not changed does not say that its links are still there: others may have
/// deleted what they lead to, or removed them. Neither touches a record of the page.
struct RememberedLinks: Sendable, Codable, Hashable {
  /// Pairs of ids: of a record of the page, and of one that it was linked with.
  ///
  /// Links that an attribute of the page's own records holds are not among them.
  var pairs: [UInt64] = []
  /// What led nowhere.
  var unresolved: [Unresolved] = []

  struct Unresolved: Sendable, Codable, Hashable {
    /// The record of the page.
    var id: UInt64
    /// The key as a document.
    var key: [UInt8]
  }

  /// Those of a group's pages, each with one for each link of the import.
  struct ByPage {
    private var links: [Int: [RememberedLinks]] = [:]

    /// Collects those of the pages with the numbers `pages`.
    init(_ pages: some Sequence<Int>, linkCount: Int) {
      guard linkCount > 0 else { return }
      for page in pages {
        links[page] = Array(repeating: RememberedLinks(), count: linkCount)
      }
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
  /// Whether the records of a page still lead where it says, and nowhere that it says in vain.
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

  /// The links in the form that tells an import from one with others.
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

  /// Whether one of the keys has a record by now that its own record does not lead to.
  fileprivate func leads(
    _ unresolved: [RememberedLinks.Unresolved]
  ) throws(StoreError) -> Bool {
    let ids = try ids(of: unresolved.map { PendingLink.value(of: $0.key) })
    for (one, target) in zip(unresolved, ids) where target > 0 {
      let related = try core.relatedIDs(of: one.id, by: end)
      if !related.contains(target) { return true }
    }
    return false
  }
}
