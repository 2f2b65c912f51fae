internal import LodestoreBytes
package import LodestoreFormat

/// The block that ends a unit: the facts that hold after its last write.
///
/// The rest of a ``ReplayEnd`` is in the head of the entry.
package struct UnitEnd: Sendable, Hashable {
  package var after: UInt64
  package var last: UInt64
  package var places: [ReplayPlaces]
  package var nextIDs: [EntityNumber: UInt64]
  /// The digest of all buckets and of each bucket; `nil` if they are not known.
  package var bucketTotal: [UInt8]?
  package var buckets: [String: [UInt8]]

  package init(_ end: ReplayEnd) {
    (after, last) = (end.after, end.last)
    (places, nextIDs) = (end.places, end.nextIDs)
    bucketTotal = end.digests?.bucketTotal
    buckets = end.digests?.buckets ?? [:]
  }

  /// The first byte of the block.
  static let kind: UInt8 = 3

  // MARK: Bytes

  func encoded() throws(FormatError) -> [UInt8] {
    var block = Column(bytes: [Self.kind])
    block.append(after)
    block.append(last, after: after)
    block.append(count: places.count)
    for group in places {
      block.append(UInt64(group.relationship))
      block.append(UInt64(group.side.rawValue))
      block.append(UInt64(group.holder?.rawValue ?? 0))
      block.append(count: group.places.count)
      var (owner, other): (UInt64, UInt64) = (0, 0)
      for place in group.places {
        block.append(place.owner, after: owner)
        block.append(place.other, after: other)
        block.append(place.previous, after: place.other)
        (owner, other) = (place.owner, place.other)
      }
    }
    block.append(count: nextIDs.count)
    for (entity, next) in nextIDs.sorted(by: { $0.key < $1.key }) {
      block.append(UInt64(entity.rawValue))
      block.append(next)
    }
    guard let bucketTotal else {
      block.append(0)
      return block.bytes
    }
    guard bucketTotal.count == ContentDigest.size,
      buckets.values.allSatisfy({ $0.count == ContentDigest.size })
    else { throw FormatError("a digest of buckets does not have \(ContentDigest.size) bytes") }
    block.append(1)
    block.bytes += bucketTotal
    block.append(count: buckets.count)
    for (name, digest) in buckets.sorted(by: { $0.key < $1.key }) {
      block.append(text: name)
      block.bytes += digest
    }
    return block.bytes
  }

  /// Decodes the bytes after the kind.
  init(decoding bytes: ByteView) throws(FormatError) {
    var reader = ColumnReader(bytes, "end")
    after = try reader.next()
    last = try reader.next(after: after)
    guard after <= PackLimits.write, last >= after, last <= PackLimits.write else {
      throw reader.fault("has a number that no write has")
    }
    places = []
    for _ in 0..<(try reader.count()) { places.append(try Self.places(&reader)) }
    nextIDs = [:]
    var lastEntity: UInt32 = 0
    for _ in 0..<(try reader.count()) {
      let entity = try reader.number32()
      let next = try reader.next()
      guard entity > lastEntity, next > 0, next <= 1 << 63 else {
        throw reader.fault("has entities that do not ascend, or a number that is no id")
      }
      nextIDs[EntityNumber(entity)] = next
      lastEntity = entity
    }
    buckets = [:]
    let hasDigests = try reader.next()
    guard hasDigests <= 1 else { throw reader.fault("has an unknown flag") }
    if hasDigests == 1 {
      bucketTotal = Array(try reader.take(ContentDigest.size))
      for _ in 0..<(try reader.count()) {
        let name = try reader.text()
        let digest = Array(try reader.take(ContentDigest.size))
        guard buckets.updateValue(digest, forKey: name) == nil else {
          throw reader.fault("names a bucket twice")
        }
      }
    }
    try reader.requireEnd()
  }

  private static func places(_ reader: inout ColumnReader) throws(FormatError) -> ReplayPlaces {
    let relationship = try reader.number32()
    let side = UInt32(exactly: try reader.next()).flatMap(RelationshipSide.init(rawValue:))
    let holder = try reader.next()
    let count = try reader.count()
    guard let side, count > 0, let holder = UInt32(exactly: holder) else {
      throw reader.fault("has places of no side, or none")
    }
    var group = ReplayPlaces(
      relationship: relationship, side: side, holder: holder == 0 ? nil : EntityNumber(holder),
      places: [])
    var (owner, other): (UInt64, UInt64) = (0, 0)
    for _ in 0..<count {
      owner = try reader.next(after: owner)
      other = try reader.next(after: other)
      let previous = try reader.next(after: other)
      guard Self.isID(owner), Self.isID(other), previous == 0 || Self.isID(previous),
        previous != other
      else { throw reader.fault("has a place of no ids") }
      group.places.append(ReplayPlace(owner: owner, other: other, previous: previous))
    }
    return group
  }

  private static func isID(_ id: UInt64) -> Bool { id > 0 && id < 1 << 63 }
}
