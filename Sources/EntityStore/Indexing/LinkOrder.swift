internal import LMDB
internal import LodestoreFormat

/// Reads and writes the tree of the order in which each record of one side of a relationship leads
/// to others.
///
/// A position is a number that means nothing but the order. A new position is halfway between its
/// two neighbours. If these are adjacent numbers, the positions around them are spread over the
/// smallest range that has room. So the cost of an insert does not depend on the length of the
/// list.
///
/// See Format.md, "Relationships".
final class LinkOrder {
  /// The distance of a new last position from the previous one.
  static let gap: UInt64 = 1 << 32
  private static let first: UInt64 = 1 << 62

  /// A record and its position.
  struct Item {
    var position: UInt64
    var other: UInt64
  }

  private let core: TransactionCore
  /// The core as a ``WriteCore``; `nil` in a read.
  private let writer: WriteCore?
  private let tree: Tree
  private let name: String
  private let cursor: Cursor

  /// Opens the order of `end`; `nil` if it has none.
  init?(_ end: RelationshipEnd, core: TransactionCore) throws(StoreError) {
    guard let tree = end.order else { return nil }
    self.core = core
    writer = core as? WriteCore
    self.tree = tree
    name = TreeName.order(relationship: end.relationship.description.number, side: end.side).text
    cursor = try wrappingErrors { try Cursor(tree, in: core.transaction) }
  }

  // MARK: Reading

  /// Returns the position of `other` in the order of `owner`, or `nil` if `owner` does not lead to
  /// it.
  func position(of other: UInt64, in owner: UInt64) throws(StoreError) -> UInt64? {
    try wrappingErrors {
      try LinkOrderKey.link(owner, other).withBytes { key in
        guard let body = try core.transaction.get(key, in: tree) else { return nil }
        guard body.count == 8, LinkOrderKey.isPosition(body._uint64(at: 0)) else { throw damaged() }
        return body._uint64(at: 0)
      }
    }
  }

  /// Visits the records that `owner` leads to, in order from the position `first`, until `body`
  /// returns false.
  func forEach(
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
  func ids(of owner: UInt64, limit: Int = .max) throws(StoreError) -> [UInt64] {
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
  func owner(from first: UInt64) throws(StoreError) -> UInt64? {
    let isThere = try wrappingErrors {
      try bigEndianBytes(first).withBytes { try cursor.seek(atOrAfter: $0) }
    }
    guard isThere else { return nil }
    switch LinkOrderKey.content(cursor.key) {
    case .link(let owner, _)? where owner >= first: return owner
    case .position(let owner, _)? where owner >= first: return owner
    default: throw damaged()
    }
  }

  /// Returns the first item at or after `position`, or `nil` if none exists.
  func seek(_ owner: UInt64, _ position: UInt64) throws(StoreError) -> Item? {
    let isThere = try wrappingErrors {
      try LinkOrderKey.position(owner, position).withBytes { try cursor.seek(atOrAfter: $0) }
    }
    return isThere ? try current(of: owner) : nil
  }

  /// Returns the last item before `position`, or `nil` if none exists.
  func last(of owner: UInt64, before position: UInt64 = .max) throws(StoreError) -> Item? {
    let isThere = try wrappingErrors {
      try LinkOrderKey.position(owner, position).withBytes { try cursor.seek(before: $0) }
    }
    return isThere ? try current(of: owner) : nil
  }

  /// Returns the item at the cursor, or `nil` if it is not a position of `owner`.
  private func current(of owner: UInt64) throws(StoreError) -> Item? {
    guard let content = LinkOrderKey.content(cursor.key), cursor.value.count == 8 else {
      throw damaged()
    }
    guard case .position(owner, let position) = content else { return nil }
    return Item(position: position, other: cursor.value._uint64(at: 0))
  }

  private func damaged() -> StoreError {
    .damagedIndex(name, "an entry is neither a link nor a position")
  }

  // MARK: Writing

  /// Puts `others` after all records that `owner` leads to.
  ///
  /// None of them may have a position yet.
  func append(_ others: some Sequence<UInt64>, to owner: UInt64) throws(StoreError) {
    var last = try self.last(of: owner)?.position
    for other in others {
      if let before = last, LinkOrderKey.highestPosition - before <= Self.gap {
        try insert(other, in: owner, after: before)
        last = try self.last(of: owner)?.position
      } else {
        let position = last.map { $0 + Self.gap } ?? Self.first
        try put(Item(position: position, other: other), in: owner)
        last = position
      }
    }
  }

  /// Puts `other` after the record at `position`, or first if `position` is 0.
  ///
  /// `other` must not have a position yet.
  func insert(_ other: UInt64, in owner: UInt64, after position: UInt64) throws(StoreError) {
    let next = try seek(owner, position + 1)?.position ?? LinkOrderKey.highestPosition + 1
    var room = (next - position) / 2
    if position == 0 {
      // The new first record is not put at the lowest position, so that there is room before it
      // too.
      if next > LinkOrderKey.highestPosition { return try append([other], to: owner) }
      room = next > 2 * Self.gap ? next - Self.gap : next / 2
    }
    guard room > 0 else { return try spread(other, in: owner, after: position) }
    try put(Item(position: position + room, other: other), in: owner)
  }

  /// Puts `other`, which this write has removed, back at its old `position`, if that is after all
  /// others; returns whether it did.
  func putBack(
    _ other: UInt64, in owner: UInt64, at position: UInt64
  ) throws(StoreError) -> Bool {
    // After positions have been spread, old and new positions cannot be compared.
    guard writer?.hasSpreadOrder != true, try last(of: owner)?.position ?? 0 < position else {
      return false
    }
    try put(Item(position: position, other: other), in: owner)
    return true
  }

  /// Removes `other` from the order, if it has a position.
  func remove(_ other: UInt64, from owner: UInt64) throws(StoreError) {
    guard let position = try position(of: other, in: owner) else { return }
    try wrappingErrors {
      _ = try core.transaction.delete(LinkOrderKey.link(owner, other), in: tree)
      _ = try core.transaction.delete(LinkOrderKey.position(owner, position), in: tree)
    }
  }

  /// Puts `other` after the record at `position`, and gives the records around it new positions.
  ///
  /// The range around the position is the smallest power of two whose fill is below a limit, which
  /// falls with the size of the range. So an insert moves O(log² *n*) other records on average; see
  /// Bender and others, "Two simplified algorithms for maintaining order in a list" (2002).
  private func spread(
    _ other: UInt64, in owner: UInt64, after position: UInt64
  ) throws(StoreError) {
    writer?.hasSpreadOrder = true
    var share = 1.0
    for bits in 2..<64 {
      share /= 1.3
      let size: UInt64 = 1 << UInt64(bits)
      let start = position & ~(size - 1)
      var items: [Item] = []
      var place = 0
      try forEach(of: owner, from: start) { (item) throws(StoreError) in
        guard item.position < start + size else { return false }
        items.append(item)
        if item.position <= position { place = items.count }
        return true
      }
      guard Double(items.count + 1) <= Double(size) * share else { continue }
      try wrappingErrors {
        for item in items {
          _ = try core.transaction.delete(LinkOrderKey.position(owner, item.position), in: tree)
        }
      }
      items.insert(Item(position: 0, other: other), at: place)
      let step = size / UInt64(items.count + 1)
      for (index, item) in items.enumerated() {
        try put(Item(position: start + UInt64(index + 1) * step, other: item.other), in: owner)
      }
      return
    }
    throw StoreError(
      .unstorableValue,
      "record \(owner) leads to more records than an order has positions for")
  }

  private func put(_ item: Item, in owner: UInt64) throws(StoreError) {
    try wrappingErrors {
      try core.transaction.put(
        LinkOrderKey.position(owner, item.position), littleEndianBytes(item.other), in: tree)
      try core.transaction.put(
        LinkOrderKey.link(owner, item.other), littleEndianBytes(item.position), in: tree)
    }
  }
}
