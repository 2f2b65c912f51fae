/// The changes of one write, or of several consecutive ones, with the values of the records.
///
/// A step is read from the history of a store, and made again in a copy of the store. Entities,
/// layouts and relationships have the numbers of that store.
package struct ReplayStep: Sendable, Hashable {
  /// Records of one entity, in ascending order of their ids.
  package struct Records: Sendable, Hashable {
    package var entity: EntityNumber
    package private(set) var ids: [UInt64] = []
    /// The end of each record in ``bytes``.
    package private(set) var ends: [Int] = []
    /// The records as stored, each with its checksum.
    package private(set) var bytes: [UInt8] = []

    package init(of entity: EntityNumber) { self.entity = entity }

    package mutating func append(_ id: UInt64, _ record: some Collection<UInt8>) {
      ids.append(id)
      bytes.append(contentsOf: record)
      ends.append(bytes.count)
    }

    /// The range of a record in ``bytes``.
    package func range(at index: Int) -> Range<Int> {
      (index == 0 ? 0 : ends[index - 1])..<ends[index]
    }
  }

  /// Deleted records of one entity.
  package struct Deleted: Sendable, Hashable {
    package var entity: EntityNumber
    package var ids: IDRuns

    package init(entity: EntityNumber, ids: IDRuns) {
      self.entity = entity
      self.ids = ids
    }
  }

  /// The numbers of the writes.
  package var writes: ClosedRange<UInt64>
  /// The time of the last write, in seconds since 2001.
  package var time: Double
  package var author: String?
  package var context: String?
  /// Whether the next step continues the same writes.
  package var continues = false
  /// The entities whose other records are deleted: the step, with those that continue it, has all
  /// of their records.
  package var replacedEntities: [EntityNumber] = []
  /// The relationships whose other links are removed: the step, with those that continue it, has
  /// all of their links.
  package var replacedRelationships: [UInt32] = []
  /// The inserted and updated records.
  package var records: [Records] = []
  package var deleted: [Deleted] = []
  /// The added, removed and moved links that are in trees, and moved links that are in records.
  package var links: [HistoryPart.Links] = []
  /// For each entity into which the writes have inserted records, an id above these records.
  package var nextIDs: [EntityNumber: UInt64] = [:]

  package init(writes: ClosedRange<UInt64>, time: Double, author: String?, context: String?) {
    self.writes = writes
    self.time = time
    self.author = author
    self.context = context
  }

  /// The number of bytes of the records.
  package var byteCount: Int { records.reduce(0) { $0 + $1.bytes.count } }

  /// Whether the step changes nothing.
  package var isEmpty: Bool {
    replacedEntities.isEmpty && replacedRelationships.isEmpty && records.isEmpty
      && deleted.isEmpty && links.isEmpty && nextIDs.isEmpty
  }
}

/// The place of one record in an order of related records.
package struct ReplayPlace: Sendable, Hashable {
  /// The record that leads to ``other``.
  package var owner: UInt64
  package var other: UInt64
  /// The record before ``other`` in the order; 0 for none.
  package var previous: UInt64

  package init(owner: UInt64, other: UInt64, previous: UInt64) {
    self.owner = owner
    self.other = other
    self.previous = previous
  }
}

/// Places in the order of one side of a relationship, by owner, then from the first place on.
///
/// The places are those of the links that a unit has changed. All other links keep their order.
package struct ReplayPlaces: Sendable, Hashable {
  package var relationship: UInt32
  package var side: RelationshipSide
  /// The entity whose records hold the links; `nil` when the links are in trees.
  package var holder: EntityNumber?
  package var places: [ReplayPlace]

  package init(
    relationship: UInt32, side: RelationshipSide, holder: EntityNumber?, places: [ReplayPlace]
  ) {
    self.relationship = relationship
    self.side = side
    self.holder = holder
    self.places = places
  }

  /// The link of a place.
  package func link(_ place: ReplayPlace) -> LinkPair {
    side == .from
      ? LinkPair(from: place.owner, to: place.other) : LinkPair(from: place.other, to: place.owner)
  }
}

/// The whole content of one bucket.
package struct ReplayBucket: Sendable, Hashable {
  package struct Pair: Sendable, Hashable {
    package var key: [UInt8]
    package var value: [UInt8]

    package init(key: [UInt8], value: [UInt8]) {
      self.key = key
      self.value = value
    }
  }

  package var name: String
  /// The pairs in the order of their keys; a bucket without pairs does not exist.
  package var pairs: [Pair]

  package init(name: String, pairs: [Pair]) {
    self.name = name
    self.pairs = pairs
  }

  /// The number of bytes of the keys and values.
  package var byteCount: Int { pairs.reduce(0) { $0 + $1.key.count + $1.value.count } }
}

/// The digests of the content that is replayed, by which a copy is compared with its store.
package struct ReplayDigests: Sendable, Hashable {
  /// The pairs of the tree `digests` for entities and relationships; see Format.md, "Digests".
  package var contents: [[UInt8]: [UInt8]]
  /// The digest of all pairs of buckets, except the buckets of the library.
  package var bucketTotal: [UInt8]
  /// The digests of the pairs of each bucket.
  package var buckets: [String: [UInt8]]

  package init(contents: [[UInt8]: [UInt8]], bucketTotal: [UInt8], buckets: [String: [UInt8]]) {
    self.contents = contents
    self.bucketTotal = bucketTotal
    self.buckets = buckets
  }
}
