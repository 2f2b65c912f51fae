internal import LMDB
internal import LodestoreFormat

// Links that are stored in trees of their own. Each link is an entry on both sides. So adding or
// removing it changes no record, and the links of a record are found from both sides.

extension WriteCore {
  /// Adds the links of `list`, whose first ids are those of `end`'s source; returns the number of
  /// new links.
  ///
  /// - Throws: ``StoreError/Code/noSuchRecord`` before anything is written, if there is no record
  ///   with one of the ids.
  func addLinks(_ list: consuming LinkList, by end: RelationshipEnd) throws(StoreError) -> Int {
    guard list.count > 0, let links = end.links, let inverse = end.opposite.links else { return 0 }
    list.sort()
    if let missing = try firstMissing(list.ids, in: end.source) {
      throw .noSuchRecord(entity: end.source.name, id: missing)
    }
    if try wrappingErrors({ try transaction.count(of: links.tree) }) == 0 {
      list.keepEach { _ in true }
    } else {
      try list.keepEach(in: links, isThere: false, core: self)
    }
    let count = list.count
    list.swapSides()
    list.sort()
    if let missing = try firstMissing(list.ids, in: end.target) {
      throw .noSuchRecord(entity: end.target.name, id: missing)
    }
    guard count > 0 else { return 0 }
    try breakingOnError {
      try list.write(into: inverse, core: self)
      list.swapSides()
      list.sort()
      try list.write(into: links, core: self)
    }
    countChange()
    digest(list, by: end) { $0 += $1 }
    try report(LinkChange(end: end, isAdded: true, links: list))
    return count
  }

  /// Removes the links of `list`, whose first ids are those of `end`'s source; returns the number
  /// of links that existed.
  func removeLinks(_ list: consuming LinkList, by end: RelationshipEnd) throws(StoreError) -> Int {
    guard list.count > 0, let links = end.links, let inverse = end.opposite.links else { return 0 }
    list.sort()
    try list.keepEach(in: links, isThere: true, core: self)
    let count = list.count
    guard count > 0 else { return 0 }
    try breakingOnError {
      try list.remove(from: links, core: self)
      list.swapSides()
      list.sort()
      try list.remove(from: inverse, core: self)
    }
    countChange()
    list.swapSides()
    list.sort()
    digest(list, by: end) { $0 -= $1 }
    try report(LinkChange(end: end, isAdded: false, links: list))
    return count
  }

  /// Changes the digest of a relationship by each link of `list`.
  private func digest(
    _ list: borrowing LinkList, by end: RelationshipEnd,
    _ change: (inout ContentDigest, ContentDigest) -> Void
  ) {
    let number = end.relationship.description.number
    let sum = ContentLedger.of(self).sum(of: .links(relationship: number))
    for index in 0..<list.count {
      let (id, other) = (list.id(at: index), list.other(at: index))
      let link =
        end.side == .from
        ? ContentDigest(linkFrom: id, to: other) : ContentDigest(linkFrom: other, to: id)
      change(&sum.change, link)
    }
  }

  /// Removes all links of the records with `ids`, which must ascend.
  func removeLinks(of ids: [UInt64], by end: RelationshipEnd) throws(StoreError) {
    var list = LinkList()
    try forEachRelated(of: ids, by: end) { (id, other) throws(StoreError) in
      list.append(id, other)
      return true
    }
    _ = try removeLinks(list, by: end)
  }
}
