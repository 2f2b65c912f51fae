internal import LMDB
internal import LodestoreFormat

/// The order of related records in a write, which changes it.
final class LinkOrderWriter: LinkOrder {
  private static let first: UInt64 = 1 << 62

  private let core: TreeWriteCore

  /// Opens the order of `end` for writing; `nil` if `end` has no order.
  init?(_ end: RelationshipEnd, core: TreeWriteCore) throws(StoreError) {
    self.core = core
    try super.init(end, core: core)
  }

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
      // The new position leaves room for further positions before it.
      if next > LinkOrderKey.highestPosition { return try append([other], to: owner) }
      room = next > 2 * Self.gap ? next - Self.gap : next / 2
    }
    guard room > 0 else { return try spread(other, in: owner, after: position) }
    try put(Item(position: position + room, other: other), in: owner)
  }

  /// Puts `other`, which this write has removed, back at its old `position`, if that position is
  /// after all others; returns whether it is.
  func putBack(_ other: UInt64, in owner: UInt64, at position: UInt64) throws(StoreError) -> Bool {
    // After positions were spread, the old position cannot be compared with the current ones.
    guard !core.hasSpreadOrder, try last(of: owner)?.position ?? 0 < position else { return false }
    try put(Item(position: position, other: other), in: owner)
    return true
  }

  /// Removes `other` from the order, if it has a position.
  func remove(_ other: UInt64, from owner: UInt64) throws(StoreError) {
    guard let position = try position(of: other, in: owner) else { return }
    try wrappingErrors {
      _ = try core.writing.delete(LinkOrderKey.link(owner, other), in: tree)
      _ = try core.writing.delete(LinkOrderKey.position(owner, position), in: tree)
    }
  }

  /// Puts `other` after the record at `position`, and gives the records around it other positions.
  ///
  /// The size of the range around the position is the smallest power of two that is not filled
  /// beyond a share. The share falls with the size of the range. So an insert changes the positions
  /// of O(log² *n*) other records on average. See Bender and others, "Two simplified algorithms
  /// for maintaining order in a list" (2002).
  private func spread(
    _ other: UInt64, in owner: UInt64, after position: UInt64
  ) throws(StoreError) {
    core.hasSpreadOrder = true
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
          _ = try core.writing.delete(LinkOrderKey.position(owner, item.position), in: tree)
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
      try core.writing.put(
        LinkOrderKey.position(owner, item.position), littleEndianBytes(item.other), in: tree)
      try core.writing.put(
        LinkOrderKey.link(owner, item.other), littleEndianBytes(item.position), in: tree)
    }
  }
}
