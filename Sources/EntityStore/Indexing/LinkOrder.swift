internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The order of the records that each record of one side of a relationship leads to: reads and
/// writes the tree of these orders.
///
/// A position is a number that says nothing but the order. A position between two others is halfway
/// between them. Two others that follow each other directly leave no room: the positions around
/// them are then spread over the smallest range that has room. So the cost of an insert does not
/// depend on the length of the list.
///
/// See Format.md, "Relationships".
final class LinkOrder {
  /// How far from the last position the next one is.
  static let gap: UInt64 = 1 << 32
  private static let first: UInt64 = 1 << 62

  /// A record and its position.
  struct Item {
    var position: UInt64
    var other: UInt64
  }

  private let core: TransactionCore
  /// ``core`` in a write.
  private let writer: WriteCore?
  private let tree: Tree
  private let name: String
  private let cursor: Cursor

  /// `nil` where `end` has no order.
  init?(_ end: RelationshipEnd, core: TransactionCore) throws(StoreError) {
    guard let tree = end.order else { return nil }
    self.core = core
    writer = core as? WriteCore
    self.tree = tree
    name = TreeName.order(relationship: end.relationship.description.number, side: end.side).text
    cursor = try wrappingErrors { try Cursor(tree, in: core.transaction) }
  }

  // MARK: Reading

  /// The position of `other` among what `owner` leads to; `nil` where it does not lead there.
  func position(of other: UInt64, in owner: UInt64) throws(StoreError) -> UInt64? {
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

  /// The records that `owner` leads to, in order; at most `limit` of them.
  func ids(of owner: UInt64, limit: Int = .max) throws(StoreError) -> [UInt64] {
    var ids: [UInt64] = []
    guard limit > 0 else { return ids }
    try forEach(of: owner) { (item) throws(StoreError) in
      ids.append(item.other)
      return ids.count < limit
    }
    return ids
  }

  /// The first record from the id `first` on that leads to others in an order; `nil` for none.
  func owner(from first: UInt64) throws(StoreError) -> UInt64? {
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
  func seek(_ owner: UInt64, _ position: UInt64) throws(StoreError) -> Item? {
    let isThere = try wrappingErrors {
      try LinkOrderKey.position(owner, position)._withBytes { try cursor.seek(atOrAfter: $0) }
    }
    return isThere ? try current(of: owner) : nil
  }

  /// The last before `position`.
  func last(of owner: UInt64, before position: UInt64 = .max) throws(StoreError) -> Item? {
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

  // MARK: Writing

  /// Puts `others`, which have no position, after all records that `owner` leads to.
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

  /// Puts `other`, which has no position, after the record at `position`; 0 for the first place.
  func insert(_ other: UInt64, in owner: UInt64, after position: UInt64) throws(StoreError) {
    let next = try seek(owner, position + 1)?.position ?? LinkOrderKey.highestPosition + 1
    var room = (next - position) / 2
    if position == 0 {
      // Before the first, so that there is room before this one too.
      if next > LinkOrderKey.highestPosition { return try append([other], to: owner) }
      room = next > 2 * Self.gap ? next - Self.gap : next / 2
    }
    guard room > 0 else { return try spread(other, in: owner, after: position) }
    try put(Item(position: position + room, other: other), in: owner)
  }

  /// Puts `other`, which this write has removed, at its old `position` where that is after all
  /// others; returns whether it did.
  func putBack(
    _ other: UInt64, in owner: UInt64, at position: UInt64
  ) throws(StoreError) -> Bool {
    // Positions of different times cannot be compared.
    guard writer?.hasSpreadOrder != true, try last(of: owner)?.position ?? 0 < position else {
      return false
    }
    try put(Item(position: position, other: other), in: owner)
    return true
  }

  /// Takes `other` out of the order; nothing where it has no position.
  func remove(_ other: UInt64, from owner: UInt64) throws(StoreError) {
    guard let position = try position(of: other, in: owner) else { return }
    try wrappingErrors {
      _ = try core.transaction.delete(LinkOrderKey.link(owner, other), in: tree)
      _ = try core.transaction.delete(LinkOrderKey.position(owner, position), in: tree)
    }
  }

  /// Puts `other` after the record at `position`, and gives the records around it other positions.
  ///
  /// The range around the position is the smallest power of two that is not filled beyond a share,
  /// which falls with the size of the range. So an insert moves O(log² *n*) others in the mean; see
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
