internal import LodestoreFormat

/// A receiver of the changes of one write, which may add changes: history, links, derived
/// attributes, live results.
///
/// Each run of a write's closure creates its own sinks. A run that is repeated or aborted therefore
/// leaves nothing in a sink. Only the writer's thread uses a sink.
///
/// Changes are reported after they are certain to stand if the write succeeds. A batch that is
/// refused as a whole is not reported, and an error after a reported change ends the transaction.
protocol ChangeSink: AnyObject {
  /// The name for messages, such as "derived attributes".
  var name: String { get }

  /// The facts that the sink needs about changes of `entity`; `nil` when the entity does not
  /// concern it.
  func interest(in entity: StoredEntity) -> ChangeInterest?

  /// Returns whether an update of the attributes with these numbers may matter to the sink.
  ///
  /// If not, the update is reported with only its id.
  func isConcerned(byUpdateOf attributes: Set<UInt32>, of entity: StoredEntity) -> Bool

  /// Receives links after they were added or removed; links of a deleted record arrive before its
  /// removal.
  func record(_ change: borrowing LinkChange) throws(StoreError)

  /// Receives a change of order: the targets `ids` of the record `owner` are at other positions.
  func recordMoves(_ ids: [UInt64], of owner: UInt64, by end: RelationshipEnd) throws(StoreError)

  /// Receives a change with the requested facts; views are valid until the method returns.
  ///
  /// The change is reported before it is written. A range of new records is reported at the end of
  /// its batch, because the batch may be refused until then. The sink must change records in
  /// ``flush(_:)`` only.
  ///
  /// - Throws: an error that refuses the change, which is then not made. Other sinks may have
  ///   received the change, so the run of the write must be aborted.
  func record(_ change: RecordChange, of entity: StoredEntity) throws(StoreError)

  /// Whether ``record(_:of:)`` of this sink writes to the file, so that the old record must be
  /// copied before.
  ///
  /// A write to a tree may move the page of the old record, which this sink or a later one reads.
  /// All sinks then receive a view of a copy. The value is false for the last sink, the history.
  /// The history writes too, but only after its last read of the old record.
  var writesOnRecord: Bool { get }

  /// Makes the sink's own changes before the commit, with the calls that programs use.
  ///
  /// Called after the closure has ended, and again while records have changed since the last call.
  /// All sinks receive these changes, including this one.
  func flush(_ core: WriteCore) throws(StoreError)

  /// Called once before the commit, when no sink makes further changes.
  ///
  /// The method must not change records.
  func finish(_ core: WriteCore) throws(StoreError)

  /// Whether ``committed(_:)`` is also called for writes without changes.
  var hearsEveryCommit: Bool { get }

  /// Called after the write is on disk, if it changed something or ``hearsEveryCommit`` is true.
  ///
  /// Runs on the writer's thread, in the order of writes, before the next writer's changes are
  /// reported. A write inside this call is refused as a nested write.
  func committed(_ write: CommittedWrite)
}

extension ChangeSink {
  func isConcerned(byUpdateOf _: Set<UInt32>, of _: StoredEntity) -> Bool { true }
  var writesOnRecord: Bool { false }
  func record(_: borrowing LinkChange) throws(StoreError) {}
  func recordMoves(_: [UInt64], of _: UInt64, by _: RelationshipEnd) throws(StoreError) {}
  func flush(_: WriteCore) throws(StoreError) {}
  func finish(_: WriteCore) throws(StoreError) {}
  var hearsEveryCommit: Bool { false }
  func committed(_: CommittedWrite) {}
}

/// The facts that a sink needs of each change, besides its kind and id; nothing else is read or
/// compared.
struct ChangeInterest: OptionSet, Sendable {
  let rawValue: UInt8

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The bytes before an update or a removal.
  ///
  /// A removal of all records is then reported record by record.
  static let oldRecord = ChangeInterest(rawValue: 1)
  /// The bytes after an insert or an update.
  static let newRecord = ChangeInterest(rawValue: 2)
  /// The attributes that an update changed.
  static let attributes = ChangeInterest(rawValue: 4)
  /// The id of each removed record, even when all records of the entity are removed at once.
  static let eachRemoval = ChangeInterest(rawValue: 8)
}

/// One change of records of one entity.
enum RecordChange {
  /// New records with consecutive ids, for sinks that need no bytes.
  case inserted(Range<UInt64>)
  /// A new record, for sinks that need its bytes.
  case insertedRecord(UInt64, RecordView)
  /// A record with changed values; views and attributes are present when the sink requested them.
  case updated(UInt64, old: RecordView?, new: RecordView?, attributes: AttributeSet?)
  /// A removed record; its bytes are present when the sink requested them.
  case removed(UInt64, old: RecordView?)
  /// A removal of all records; `count` is their number.
  ///
  /// For sinks that requested each removal, ``removed(_:old:)`` follows for each record.
  case cleared(count: Int)

  /// The record before and after the change, for sinks that requested both.
  var both: (id: UInt64, old: RecordView?, new: RecordView?)? {
    switch self {
    case .insertedRecord(let id, let new): (id, nil, new)
    case .updated(let id, let old?, let new?, _): (id, old, new)
    case .removed(let id, let old?): (id, old, nil)
    case .inserted, .updated, .removed, .cleared: nil
    }
  }
}

/// Added or removed links of one relationship.
///
/// Links that already existed, or did not exist, are not included.
struct LinkChange: ~Copyable {
  /// The side of the relationship from which ``links`` are listed: each pair begins with the id of
  /// a record on this side.
  let end: RelationshipEnd
  let isAdded: Bool
  let links: LinkList
}

/// A write that is on disk.
struct CommittedWrite: Sendable, Hashable {
  /// The position in the order of writes.
  ///
  /// The numbers count the writes of this process since it opened the environment.
  var number: WriteNumber
  /// The number of LMDB's transaction, which grouped writes share.
  ///
  /// A read of this commit or of a later one sees the write.
  var commit: CommitNumber
}

/// A set of attributes, stored as their positions in the entity's current layout.
struct AttributeSet: Sendable, Hashable {
  /// One bit for each attribute.
  private var words: [UInt64]

  init(count: Int) { words = Array(repeating: 0, count: (count + 63) / 64) }

  mutating func insert(_ position: Int) {
    words[position / 64] |= 1 << UInt64(position % 64)
  }

  func contains(_ position: Int) -> Bool {
    position / 64 < words.count && words[position / 64] >> UInt64(position % 64) & 1 == 1
  }

  var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

  func union(_ other: AttributeSet) -> AttributeSet {
    var result = self
    for index in result.words.indices where index < other.words.count {
      result.words[index] |= other.words[index]
    }
    return result
  }

  var positions: [Int] { (0..<words.count * 64).filter(contains) }
}
