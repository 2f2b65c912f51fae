internal import LodestoreBytes
internal import LodestoreFormat
internal import LodestorePages

/// The order of the links of each record of one side.
struct SalvagedOrder {
  /// For each record of the side, the linked records in order.
  private(set) var others: [UInt64: [UInt64]] = [:]
  /// The number of links whose position was not found.
  private(set) var missing = 0

  /// - Parameter links: The saved links, from the record of the side to the other record.
  init(
    of relationship: UInt32, _ side: RelationshipSide, links: Set<LinkPair>, in store: DamagedStore
  ) throws {
    let positions = try Self.read(relationship, side, in: store) { links.contains($0) }
    for (owner, links) in Dictionary(grouping: links, by: \.from) {
      func order(_ position: (Positions) -> UInt64?) -> [UInt64] {
        links.map(\.to).sorted { first, second in
          func place(_ other: UInt64) -> UInt64 {
            positions[LinkPair(from: owner, to: other)].flatMap(position) ?? .max
          }
          return (place(first), first) < (place(second), second)
        }
      }
      others[owner] = order(\.best)
      let isCertain =
        order { $0.link ?? $0.best } == others[owner]
        && order { $0.places.min() ?? $0.best } == others[owner]
        && order { $0.places.max() ?? $0.best } == others[owner]
      for link in links {
        let known = positions[link]
        if known?.best == nil || known?.isOlder == true || !isCertain && known?.isDoubtful == true {
          missing += 1
        }
      }
    }
  }

  /// The positions that the two pairs of a link state.
  private struct Positions {
    var link: UInt64?
    var places: [UInt64] = []
    var isOlder = false

    var best: UInt64? {
      if let link, places.isEmpty || places.contains(link) { return link }
      return places.min() ?? link
    }
    var isDoubtful: Bool {
      places.count > 1 || link.map { !places.isEmpty && !places.contains($0) } ?? false
    }
  }

  private static func read(
    _ relationship: UInt32, _ side: RelationshipSide, in store: DamagedStore,
    _ isLink: (LinkPair) -> Bool
  ) throws -> [LinkPair: Positions] {
    let name = TreeName.order(relationship: relationship, side: side).text
    let found = try store.pairs(of: name, kind: .order, oldest: .earlier) { pair in
      Self.content(pair).map { isLink($0.link) } ?? false
    }
    var positions: [LinkPair: Positions] = [:]
    for (key, pair) in found.pairs {
      key._withBytes { key in
        pair.body._withBytes { body in
          guard let (link, position, isLink) = Self.content(key, body) else { return }
          var known = positions[link] ?? Positions()
          let isOlder = pair.place < .current
          // A pair of the newest commit replaces all pairs of earlier commits.
          if isOlder, known.best != nil, !known.isOlder { return }
          if !isOlder, known.isOlder { known = Positions() }
          known.isOlder = isOlder
          if isLink { known.link = position } else { known.places.append(position) }
          positions[link] = known
        }
      }
    }
    return positions
  }

  private static func content(
    _ pair: DamagedFile.Pair
  ) -> (link: LinkPair, position: UInt64, isLink: Bool)? {
    content(pair.key, pair.body)
  }

  private static func content(
    _ key: ByteView, _ body: ByteView
  ) -> (link: LinkPair, position: UInt64, isLink: Bool)? {
    guard body.count == 8 else { return nil }
    let value = body.uint64(at: 0)
    switch LinkOrderKey.content(key) {
    case .link(let owner, let other) where LinkOrderKey.isPosition(value):
      return (LinkPair(from: owner, to: other), value, true)
    case .position(let owner, let position):
      return (LinkPair(from: owner, to: value), position, false)
    default: return nil
    }
  }

  /// All links in an order, from the record of the side to the other record.
  static func pairs(
    of relationship: UInt32, _ side: RelationshipSide, in store: DamagedStore
  ) throws -> Set<LinkPair> {
    Set(try read(relationship, side, in: store) { $0.to > 0 && $0.to < 1 << 63 }.keys)
  }
}
