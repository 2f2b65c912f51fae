internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The order of the records that each record of one side of a relationship leads to: reads the tree
/// of these orders, which ``LinkOrderWriter`` writes.
///
/// A position is a number that says nothing but the order. A position between two others is halfway
/// between them. Two others that follow each other directly leave no room: the positions around
/// them are then spread over the smallest range that has room. So the cost of an insert does not
/// depend on the length of the list.
///
/// See Format.md, "Relationships".
class LinkOrder {
  /// How far from the last position the next one is.
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

  /// `nil` where `end` has no order.
  init?(_ end: RelationshipEnd, core: TransactionCore) throws(StoreError) {
    guard let tree = end.order else { return nil }
    self.core = core
    self.tree = tree
    name = TreeName.order(relationship: end.relationship.description.number, side: end.side).text
    cursor = try wrappingErrors { try Cursor(tree, in: core.transaction) }
  }

  // MARK: Reading

  /// The position of `other` among what `owner` leads to; `nil` where it does not lead there.
  final func position(of other: UInt64, in owner: UInt64) throws(StoreError) -> UInt64? {
    try wrappingErrors {
      try LinkOrderKey.link(owner, other)._withBytes { key in
        guard let body = try core.transaction.get(key, in: tree) else { return nil }
        guard body.count == 8, LinkOrderKey.isPosition(body.uint64(at: 0)) else { throw damaged() }
        return body.uint64(at: 0)
      }
    }
  }

  /// Visits what `owner` leads to, in order, from the position `first` on, until `body` returns
  /// false.
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

  /// The records that `owner` leads to, in order; at most `limit` of them.
  final func ids(of owner: UInt64, limit: Int = .max) throws(StoreError) -> [UInt64] {
    var ids: [UInt64] = []
    guard limit > 0 else { return ids }
    try forEach(of: owner) { (item) throws(StoreError) in
      ids.append(item.other)
      return ids.count < limit
    }
    return ids
  }

  /// The first record from the id `first` on that leads to others in an order; `nil` for none.
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

  /// The first item at `position` or after it.
  final func seek(_ owner: UInt64, _ position: UInt64) throws(StoreError) -> Item? {
    let isThere = try wrappingErrors {
      try LinkOrderKey.position(owner, position)._withBytes { try cursor.seek(atOrAfter: $0) }
    }
    return isThere ? try current(of: owner) : nil
  }

  /// The last before `position`.
  final func last(of owner: UInt64, before position: UInt64 = .max) throws(StoreError) -> Item? {
    let isThere = try wrappingErrors {
      try LinkOrderKey.position(owner, position)._withBytes { try cursor.seek(before: $0) }
    }
    return isThere ? try current(of: owner) : nil
  }

  /// The item that the cursor is on; `nil` where that is no position of `owner`.
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
