internal import LMDB
internal import LodestoreFormat

extension TransactionCore {
  /// Returns whether this read leaves out expired records on either side of `end`.
  func hasExpired(at end: RelationshipEnd) throws(StoreError) -> Bool {
    guard moment != nil else { return false }
    if try expired(of: end.source) != nil { return true }
    return try expired(of: end.target) != nil
  }

  /// Returns the first `limit` ids that the record `id` leads to by `end`, in the order of the
  /// relationship, or ascending if it has none.
  ///
  /// A read leaves out expired records on both sides.
  func orderedIDs(
    of id: UInt64, by end: RelationshipEnd, limit: Int = .max
  ) throws(StoreError) -> [UInt64] {
    guard let order = try LinkOrder(end, core: self) else {
      return try relatedIDs(of: id, by: end, limit: limit)
    }
    return try leavingOutExpired(of: id, by: end, limit) { (limit) throws(StoreError) in
      try order.ids(of: id, limit: limit)
    }
  }

  /// Returns the first `limit` ids that the record `id` leads to by `end`, ascending.
  ///
  /// A read leaves out expired records on both sides.
  func relatedIDs(
    of id: UInt64, by end: RelationshipEnd, limit: Int = .max
  ) throws(StoreError) -> [UInt64] {
    try leavingOutExpired(of: id, by: end, limit) { (limit) throws(StoreError) in
      try linkedIDs(of: id, by: end, limit: limit)
    }
  }

  private func leavingOutExpired(
    of id: UInt64, by end: RelationshipEnd, _ limit: Int,
    _ ids: (_ limit: Int) throws(StoreError) -> [UInt64]
  ) throws(StoreError) -> [UInt64] {
    guard try hasExpired(at: end) else { return try ids(limit) }
    if let expired = try expired(of: end.source), expired.contains(id) { return [] }
    let all = try ids(.max)
    guard let expired = try expired(of: end.target) else { return Array(all.prefix(max(0, limit))) }
    return Array(all.lazy.filter { !expired.contains($0) }.prefix(max(0, limit)))
  }

  /// Returns the ids that links in the file lead to, including expired records.
  private func linkedIDs(
    of id: UInt64, by end: RelationshipEnd, limit: Int
  ) throws(StoreError) -> [UInt64] {
    if let links = end.links { return try LinkCursor(links, core: self).ids(of: id, limit: limit) }
    var found: [UInt64] = []
    guard limit > 0 else { return found }
    try forEachRelated(of: [id], by: end) { (_, other) throws(StoreError) in
      found.append(other)
      return true
    }
    return found
  }
}
