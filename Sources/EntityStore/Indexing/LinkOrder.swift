internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Reads the tree of the order in which each record of one side of a relationship leads to others.
///
/// ``LinkOrderWriter`` writes the tree.
///
/// A position is a number that means nothing but the order. A new position is halfway between its
/// two neighbours. If these are adjacent numbers, the positions around them are spread over the
/// smallest range that has room. So the cost of an insert does not depend on the length of the
/// list.
///
/// See Format.md, "Relationships".
class LinkOrder {
  /// The distance of a new last position from the previous one.
  static let gap: UInt64 = 1 << 32

  /// A record and its position.
  struct Item {
    var position: UInt64
    var other: UInt64
  }

  private let core: TransactionCore
  final let tree: Tree
  private let name: String
  private let cursor: Cursor

  /// Opens the order of `end`; `nil` if it has none.
  init?(_ end: RelationshipEnd, core: TransactionCore) throws(StoreError) {
    guard let tree = end.order else { return nil }
    self.core = core
    self.tree = tree
    name = TreeName.order(relationship: end.relationship.description.number, side: end.side).text
    cursor = try wrappingErrors { try Cursor(tree, in: core.transaction) }
  }

  // MARK: Reading

  /// Returns the position of `other` in the order of `owner`, or `nil` if `owner` does not lead to
  /// it.
  final func position(of other: UInt64, in owner: UInt64) throws(StoreError) -> UInt64? {
    try wrappingErrors {
      try LinkOrderKey.link(owner, other)._withBytes { key in
        guard let body = try core.transaction.get(key, in: tree) else { return nil }
        guard body.count == 8, LinkOrderKey.isPosition(body.uint64(at: 0)) else { throw damaged() }
        return body.uint64(at: 0)
      }
    }
  }

  /// Visits the records that `owner` leads to, in order from the position `first`, until `body`
  /// returns false.
  final func forEach(
    of owner: UInt64, from first: UInt64 = 0, _ body: (Item) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var item = try seek(owner, first)
    while let found = item {
      guard try body(found) else { return }
      do {
        item = try cursor.next() ? try current(of: owner) : nil
      } catch {
        throw StoreError(wrapping: error)
      }
    }
  }

  /// Returns the first `limit` records that `owner` leads to, in order.
  final func ids(of owner: UInt64, limit: Int = .max) throws(StoreError) -> [UInt64] {
    var ids: [UInt64] = []
    guard limit > 0 else { return ids }
    try forEach(of: owner) { (item) throws(StoreError) in
      ids.append(item.other)
      return ids.count < limit
    }
    return ids
  }

  /// Returns the first record with an id from `first` that leads to others in an order, or `nil` if
  /// none exists.
  final func owner(from first: UInt64) throws(StoreError) -> UInt64? {
    let isThere = try wrappingErrors {
      try bigEndianBytes(first)._withBytes { try cursor.seek(atOrAfter: $0) }
    }
    guard isThere else { return nil }
    switch LinkOrderKey.content(cursor.key) {
    case .link(let owner, _)? where owner >= first: return owner
    case .position(let owner, _)? where owner >= first: return owner
    default: throw damaged()
    }
  }

  /// Returns the first item at or after `position`, or `nil` if none exists.
  final func seek(_ owner: UInt64, _ position: UInt64) throws(StoreError) -> Item? {
    let isThere = try wrappingErrors {
      try LinkOrderKey.position(owner, position)._withBytes { try cursor.seek(atOrAfter: $0) }
    }
    return isThere ? try current(of: owner) : nil
  }

  /// Returns the last item before `position`, or `nil` if none exists.
  final func last(of owner: UInt64, before position: UInt64 = .max) throws(StoreError) -> Item? {
    let isThere = try wrappingErrors {
      try LinkOrderKey.position(owner, position)._withBytes { try cursor.seek(before: $0) }
    }
    return isThere ? try current(of: owner) : nil
  }

  /// Returns the item at the cursor, or `nil` if it is not a position of `owner`.
  private func current(of owner: UInt64) throws(StoreError) -> Item? {
    guard let content = LinkOrderKey.content(cursor.key), cursor.value.count == 8 else {
      throw damaged()
    }
    guard case .position(owner, let position) = content else { return nil }
    return Item(position: position, other: cursor.value.uint64(at: 0))
  }

  private func damaged() -> StoreError {
    .damagedIndex(name, "an entry is neither a link nor a position")
  }
}
