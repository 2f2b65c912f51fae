package import LodestoreFormat

/// The changes of one write, or of several consecutive ones, with the values of the records.
///
/// ``ReadableTransaction/forEachReplayStep(after:byteLimit:_:)`` reads steps from the history of a
/// store. ``WriteTransaction/replay(_:)`` makes the same changes in a copy of the store.
package struct ReplayStep: Sendable, Equatable {
  /// Records of one entity, in ascending order of their ids.
  package struct Records: Sendable, Equatable {
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
  package struct Deleted: Sendable, Equatable {
    package var entity: EntityNumber
    package var ids: IDRuns

    package init(entity: EntityNumber, ids: IDRuns) {
      self.entity = entity
      self.ids = ids
    }
  }

  /// The place of one record in an order of related records.
  package struct Place: Sendable, Equatable {
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
  package struct Places: Sendable, Equatable {
    package var relationship: UInt32
    package var side: RelationshipSide
    package var places: [Place]

    package init(relationship: UInt32, side: RelationshipSide, places: [Place]) {
      self.relationship = relationship
      self.side = side
      self.places = places
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
  /// The inserted and updated records.
  package var records: [Records] = []
  package var deleted: [Deleted] = []
  /// Added and removed links.
  package var links: [HistoryPart.Links] = []
  /// The places of links that are new or have moved; only in the last step of a read.
  package var places: [Places] = []
  /// The next record id of each changed entity; only in the last step of a read.
  package var nextIDs: [EntityNumber: UInt64] = [:]

  package init(writes: ClosedRange<UInt64>, time: Double, author: String?, context: String?) {
    self.writes = writes
    self.time = time
    self.author = author
    self.context = context
  }

  /// The number of bytes of the records.
  package var byteCount: Int { records.reduce(0) { $0 + $1.bytes.count } }
}

/// The end of a read of steps.
package enum ReplayEnd: Sendable, Equatable {
  /// The steps lead to the state of the transaction, whose last write has this number.
  case complete(UInt64)
  /// `body` has ended the read.
  case stopped
  /// A write may have changed records of these entities without a report in the history.
  case unreported([String])
}
