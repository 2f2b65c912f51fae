internal import LodestoreFormat

/// What is told of the changes of one write, and may add to them: history, links, derived attributes,
/// live results.
///
/// A sink is made for each run of a write's closure and gone with it, so a run that is repeated or
/// taken back leaves nothing behind in what a sink saw. It is used on the writer's thread alone.
///
/// Changes are told once they are sure to stand if the write does: a batch that is refused as a whole
/// is not told, and an error after a change was told ends the transaction.
protocol ChangeSink: AnyObject {
  /// A name for messages, as "derived attributes".
  var name: String { get }

  /// What it needs of the changes of `entity`; `nil` when it is not concerned.
  func interest(in entity: StoredEntity) -> ChangeInterest?

  /// Whether an update of the attributes with these numbers can matter to it; where it cannot, the update
  /// is told with its id alone.
  func isConcerned(byUpdateOf attributes: Set<UInt32>, of entity: StoredEntity) -> Bool

  /// Called with links that were added or removed, once they are; those of a removed record before it is.
  func record(_ change: borrowing LinkChange) throws(StoreError)

  /// Called when the record `owner` leads to `ids` at other places of an order than before.
  func recordMoves(_ ids: [UInt64], of owner: UInt64, by end: RelationshipEnd) throws(StoreError)

  /// Called for each change, with as much of it as was asked for; views are valid until it returns.
  ///
  /// The change is told before it is written; only a range of new records is told at the end of its
  /// batch, as a batch insert may be refused until then. It must not change records here, but in
  /// ``settle(_:)``.
  ///
  /// - Throws: what refuses the change, which is not made. The other sinks may have noted it, so the run of
  ///   the write can only be abandoned.
  func record(_ change: RecordChange, of entity: StoredEntity) throws(StoreError)

  /// Whether it may write to trees of the file in ``record(_:of:)``.
  ///
  /// A write may move the page that has the old record. So the view of it is of a copy then, for this
  /// sink and those after it.
  var writesWhenTold: Bool { get }

  /// Makes further changes of its own, through the same calls as a program, before the commit.
  ///
  /// Called when the closure has ended, and again as long as records have changed since the last call.
  /// What a sink changes is told to all of them, itself included.
  func settle(_ core: WriteCore) throws(StoreError)

  /// Called once, when nothing changes any more: the last word before the commit.
  ///
  /// It must not change records.
  func finish(_ core: WriteCore) throws(StoreError)

  /// Whether ``committed(_:)`` is called for writes too that changed nothing.
  var hearsEveryCommit: Bool { get }

  /// The disk has the write, and something was changed or ``hearsEveryCommit`` says so.
  ///
  /// Called before the next writer's changes are told, in the order of writes, on the writer's thread.
  /// Another write from here is refused as a nested one.
  func committed(_ write: CommittedWrite)
}

extension ChangeSink {
  func isConcerned(byUpdateOf _: Set<UInt32>, of _: StoredEntity) -> Bool { true }
  var writesWhenTold: Bool { false }
  func record(_: borrowing LinkChange) throws(StoreError) {}
  func recordMoves(_: [UInt64], of _: UInt64, by _: RelationshipEnd) throws(StoreError) {}
  func settle(_: WriteCore) throws(StoreError) {}
  func finish(_: WriteCore) throws(StoreError) {}
  var hearsEveryCommit: Bool { false }
  func committed(_: CommittedWrite) {}
}

/// What a sink needs of each change beside the kind and the id; nothing else is read or compared for it.
struct ChangeInterest: OptionSet, Sendable {
  let rawValue: UInt8

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The bytes before an update or a removal.
  ///
  /// A removal of all records is told record by record.
  static let oldRecord = ChangeInterest(rawValue: 1)
  /// The bytes after an insert or an update.
  static let newRecord = ChangeInterest(rawValue: 2)
  /// Which attributes an update changed.
  static let attributes = ChangeInterest(rawValue: 4)
  /// The id of each record of a removal of all.
  static let eachRemoval = ChangeInterest(rawValue: 8)
}

/// One change of records of one entity.
enum RecordChange {
  /// New records with consecutive ids, for those who asked for no bytes.
  case inserted(Range<UInt64>)
  /// A new record, for those who asked for its bytes.
  case insertedRecord(UInt64, RecordView)
  /// A record has other values; views and attributes are there where they were asked for.
  case updated(UInt64, old: RecordView?, new: RecordView?, attributes: AttributeSet?)
  /// A record goes; its bytes are there where they were asked for.
  case removed(UInt64, old: RecordView?)
  /// All records are removed; `count` is how many there were.
  ///
  /// For those who asked to see each it is followed by ``removed(_:old:)`` for each.
  case cleared(count: Int)

  /// The record before and after, for those who asked for both.
  var both: (id: UInt64, old: RecordView?, new: RecordView?)? {
    switch self {
    case .insertedRecord(let id, let new): (id, nil, new)
    case .updated(let id, let old?, let new?, _): (id, old, new)
    case .removed(let id, let old?): (id, old, nil)
    case .inserted, .updated, .removed, .cleared: nil
    }
  }
}

/// Links of one relationship that were added or removed; links that were there already, or were not, are
/// not among them.
struct LinkChange: ~Copyable {
  /// The relationship, as seen from the first ids of ``links``.
  let end: RelationshipEnd
  let isAdded: Bool
  let links: LinkList
}

/// A write that the disk has.
struct CommittedWrite: Sendable, Hashable {
  /// Its position in the order of writes.
  ///
  /// Of each environment since it was opened by this process.
  var number: WriteNumber
  /// The number of LMDB's transaction, which writes of one group share: a read that shows this commit
  /// or a later one sees the write.
  var commit: CommitNumber
}

/// Attributes of the current layout of an entity, by their positions.
struct AttributeSet: Sendable, Hashable {
  /// A bit an attribute.
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
