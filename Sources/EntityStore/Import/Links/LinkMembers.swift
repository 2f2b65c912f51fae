#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import LodestoreFormat

/// The keys that one member of a page's records has.
struct LinkKeys: Sendable {
  /// The position of the link among those of the import.
  let link: Int
  /// The record's number in the page, from 1, and its keys.
  var records: [(record: Int, keys: [Value])] = []
}

/// Takes the keys of links from the records of a page.
struct LinkMembers: Sendable {
  let links: [ImportedLink]
  let path: String
  let core: StoreCore

  var isEmpty: Bool { links.isEmpty }

  /// Adds the keys to `page`; one that is not of its attribute's type rejects nothing, and is reported as
  /// leading nowhere.
  func take(_ data: Data, into page: inout DecodedPage) throws(StoreError) {
    guard !links.isEmpty else { return }
    take(Array(try JSONPage(data, number: page.number, path: path).records), into: &page)
  }

  /// The same of records.
  func take(_ records: [JSONNode], into page: inout DecodedPage) {
    guard !links.isEmpty else { return }
    let schema = core.schema
    var found = links.indices.map { LinkKeys(link: $0) }
    let types = links.map { link in
      schema.entity(named: link.target)?.description.attribute(named: link.key)?.type
    }
    for (number, record) in records.enumerated() {
      for (position, link) in links.enumerated() {
        guard let type = types[position], let node = record[path: link.member] else { continue }
        let keys = node.kind == .array ? Array(node.elements) : node.isNull ? [] : [node]
        found[position].records.append(
          (number + 1, keys.map { (try? Value($0, as: type)) ?? .string($0.string ?? "") }))
      }
    }
    page.links = found.filter { !$0.records.isEmpty }
  }
}
