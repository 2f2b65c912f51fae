internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Reads of the tree `history`; see Format.md, "History".
struct HistoryLog {
  let core: TransactionCore
  /// The tree; `nil` when the store has none, which is read as an empty history.
  let tree: Tree?

  init(_ core: TransactionCore) {
    self.core = core
    tree = core.tree(.history)
  }

  /// The maximum size of the changes in one history entry, in bytes; a single long list of ids may
  /// exceed it.
  ///
  /// A longer write is divided into several entries, its parts.
  static let partByteCount = 64 << 10
  /// The maximum number of id ranges in one change of a part.
  static let runsPerChange = 8 << 10

  // MARK: Numbers

  /// The number of the last write in the history; 0 before the first.
  func lastNumber() throws(StoreError) -> UInt64 {
    guard let tree else { return 0 }
    let last: UInt64? = try wrappingErrors {
      let cursor = try Cursor(tree, in: core.transaction)
      guard try HistoryKey.images._withBytes({ try cursor.seek(before: $0) }) else { return nil }
      guard case .part(let number, _)? = HistoryKey(cursor.key) else {
        throw StoreError.damagedHistory(FormatError("a key is none that is listed"))
      }
      return number
    }
    if let last { return last }
    return try purged()?.number ?? 0
  }

  /// The last purged write; `nil` when the history has never been purged.
  func purged() throws(StoreError) -> HistoryMark? {
    try value(.purged).map { (document) throws(StoreError) in try HistoryMark(document) }
  }

  // MARK: Reading

  /// Returns the document under `key`; `nil` when the key has no value.
  func value(_ key: HistoryKey) throws(StoreError) -> Document? {
    guard let tree else { return nil }
    do {
      guard let body = try core.transaction.get(key.bytes, in: tree) else { return nil }
      return try key.bytes._withBytes { (key) throws(FormatError) in
        try Document(decoding: try Checksum.unsealed(key: key, body: body))
      }
    } catch let error as FormatError {
      throw .damagedHistory(error)
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// Returns the bytes of a record under `key`; `nil` when the key has no value.
  func image(_ key: HistoryKey) throws(StoreError) -> ByteView? {
    guard let tree else { return nil }
    return try wrappingErrors { try core.transaction.get(key.bytes, in: tree) }
  }

  /// Returns the key for the write with `number`, or else for the last write that stored a value.
  ///
  /// Returns `nil` when no write stored one.
  ///
  /// - Parameter key: the key of an image or of preserved values; its write number is ignored.
  private func keptKey(_ key: HistoryKey, of number: UInt64?) throws(StoreError) -> HistoryKey? {
    if let number { return key.with(write: number) }
    guard let tree else { return nil }
    return try wrappingErrors {
      let cursor = try Cursor(tree, in: core.transaction)
      let isFound = try key.with(write: .max).bytes._withBytes { try cursor.seek(before: $0) }
      guard isFound, let found = HistoryKey(cursor.key) else { return nil }
      return found.with(write: 0) == key.with(write: 0) ? found : nil
    }
  }

  /// Returns the image of a record from the write with `number`, or else the last image; `nil` for
  /// none.
  func kept(_ key: HistoryKey, of number: UInt64?) throws(StoreError) -> ByteView? {
    guard let key = try keptKey(key, of: number) else { return nil }
    return try image(key)
  }

  /// Returns the preserved values of a record from the write with `number`, or else the last
  /// preserved values.
  ///
  /// Returns `nil` for none.
  func keptDocument(_ key: HistoryKey, of number: UInt64?) throws(StoreError) -> Document? {
    guard let key = try keptKey(key, of: number) else { return nil }
    return try value(key)
  }

  /// Visits the parts of the writes from `first` on and before `end`, until `body` returns false.
  ///
  /// When `backwards` is true, visits the last write first, and of each write the last part first.
  func forEachPart(
    from first: UInt64, before end: UInt64? = nil, backwards: Bool = false,
    _ body: (UInt64, UInt32, HistoryPart) throws -> Bool
  ) throws {
    guard let tree else { return }
    let cursor = try Cursor(tree, in: core.transaction)
    let range = KeyRange(
      lower: .included(HistoryKey.part(write: first, part: 0).bytes),
      upper: .excluded(end.map { HistoryKey.part(write: $0, part: 0).bytes } ?? HistoryKey.images))
    var nextIDs: [EntityNumber: UInt64] = [:]
    try cursor.walk(range, backwards: backwards) { key, value in
      guard case .part(let number, let part)? = HistoryKey(key) else {
        throw StoreError.damagedHistory(FormatError("a key is none that is listed"))
      }
      let content: HistoryPart
      do throws(FormatError) {
        content = try HistoryPart(decoding: Checksum.unsealed(key: key, body: value))
      } catch {
        throw StoreError.damagedHistory(error)
      }
      try checkIDs(of: content, &nextIDs)
      return try body(number, part, content)
    }
  }
}

extension HistoryLog {
  /// Throws when a part of a write contains ids of records that were never assigned.
  ///
  /// A run of ids is short in a file, and visiting the ids of a damaged run could take forever.
  ///
  /// - Parameter nextIDs: a cache for the walk: for each entity, the id above all assigned ids.
  private func checkIDs(
    of part: HistoryPart, _ nextIDs: inout [EntityNumber: UInt64]
  ) throws(StoreError) {
    for change in part.changes {
      guard let last = change.ids.ranges.last,
        let entity = core.schema.entities.first(where: { $0.number == change.entity })
      else { continue }
      if nextIDs[entity.number] == nil {
        nextIDs[entity.number] = try core.storedNextID(of: entity)
      }
      if let next = nextIDs[entity.number], last.upperBound > next {
        throw .damagedHistory(
          FormatError("\(entity.name) \(last.upperBound - 1) was never a record", .historyIDs))
      }
    }
  }
}

/// A position in the history, with its time.
struct HistoryMark: Sendable, Hashable {
  var number: UInt64
  /// The time in seconds since 2001.
  var time: Double

  init(number: UInt64, time: Double) {
    self.number = number
    self.time = time
  }

  init(_ document: Document) throws(StoreError) {
    guard case .integer(let number) = document["number"], number >= 0,
      number <= HistoryKey.lastWrite, case .date(let time) = document["time"],
      time.isFinite
    else { throw .damagedHistory(FormatError("a mark has no 'number' and 'time'")) }
    self.init(number: UInt64(number), time: time)
  }

  var document: Document {
    .object(["number": .integer(Int64(clamping: number)), "time": .date(time)])
  }
}

extension StoreError {
  static func damagedHistory(_ cause: FormatError) -> StoreError {
    StoreError(
      .damaged, "cannot read the history: \(cause.reason); run 'kvdump verify' to see the extent",
      cause: cause)
  }
}
