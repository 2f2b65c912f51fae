internal import LMDB
public import LodestoreEssentials
internal import LodestoreFormat

/// A reader of the history that the store knows by name, with its position.
public struct HistoryConsumer: Sendable, Hashable, Identifiable {
  /// The name.
  public let name: String
  /// The token up to which the consumer has read.
  public let token: HistoryToken
  /// The time at which the consumer set the token.
  public let updatedAt: Date

  /// The consumer's name.
  public var id: String { name }
}

extension ReadableTransaction where Self: ~Copyable {
  /// The consumers that the store knows, in the order of their names.
  public func historyConsumers() throws(StoreError) -> [HistoryConsumer] {
    try HistoryLog(access.core).consumers()
  }

  /// The token up to which the consumer called `name` has read; `nil` for an unknown consumer.
  public func historyToken(ofConsumer name: String) throws(StoreError) -> HistoryToken? {
    let log = HistoryLog(access.core)
    guard let document = try log.value(.consumer(name)) else { return nil }
    return HistoryToken(storeID: try log.storeID(), number: try HistoryMark(document).number)
  }
}

extension WriteTransaction {
  /// Sets the token up to which a consumer has read; `nil` removes the consumer.
  ///
  /// Call it in the transaction of the consumer's own changes.
  /// ``purgeConsumedHistory(andAllBefore:)`` keeps everything that some consumer has not read.
  ///
  /// - Parameter name: 1 to 64 bytes of UTF-8.
  /// - Throws: ``StoreError/Code/expiredHistory`` when the history after the token has already been
  ///   purged.
  public func setHistoryToken(_ token: HistoryToken?, ofConsumer name: String) throws(StoreError) {
    guard (1...HistoryKey.longestConsumerName).contains(name.utf8.count) else {
      throw StoreError(
        .invalidQuery,
        "cannot keep a token: the consumer's name has \(name.utf8.count) bytes; 1 to "
          + "\(HistoryKey.longestConsumerName) are allowed")
    }
    let log = try WritableHistoryLog(creatingIn: core)
    guard let token else { return try log.delete(.consumer(name)) }
    try log.reads.check(token)
    try log.put(HistoryMark(number: token.number, time: core.time).document, .consumer(name))
  }

  /// Removes the writes up to and including `token` from the history; returns their number.
  ///
  /// Earlier tokens are then expired. The call also removes history that registered consumers have
  /// not read. If the writes have already been purged, the call does nothing.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` for a token of another store, or of a write that
  ///   this file does not contain.
  @discardableResult
  public func purgeHistory(through token: HistoryToken) throws -> Int {
    let log = WritableHistoryLog(core)
    if let purged = try log.reads.purged(), token.number <= purged.number,
      token.storeID == (try log.reads.storeID())
    {
      return 0
    }
    try log.reads.check(token)
    return try log.purge(through: token.number)
  }

  /// Removes the writes before a time from the history, up to the first later write.
  ///
  /// Returns the number of removed writes.
  @discardableResult
  public func purgeHistory(before date: Date) throws -> Int {
    let log = WritableHistoryLog(core)
    return try log.purge(
      through: try log.reads.lastNumber(before: date.timeIntervalSinceReferenceDate))
  }

  /// Removes the writes that all consumers have read, and all writes older than `date`, from the
  /// history; returns the number of removed writes.
  ///
  /// Without a consumer, only writes older than `date` are removed.
  @discardableResult
  public func purgeConsumedHistory(andAllBefore date: Date? = nil) throws -> Int {
    let log = WritableHistoryLog(core)
    var end = try log.reads.consumers().map(\.token.number).min() ?? 0
    if let date {
      end = max(end, try log.reads.lastNumber(before: date.timeIntervalSinceReferenceDate))
    }
    return try log.purge(through: end)
  }
}

extension HistoryLog {
  func consumers() throws(StoreError) -> [HistoryConsumer] {
    guard let tree else { return [] }
    return try wrappingErrors {
      var found: [HistoryConsumer] = []
      let storeID = try storeID()
      let cursor = try Cursor(tree, in: core.transaction)
      try cursor.walk(.prefix(HistoryKey.consumers)) { key, value in
        guard case .consumer(let name)? = HistoryKey(key) else {
          throw StoreError.damagedHistory(FormatError("a consumer has a key that is none"))
        }
        let content = try Checksum.unsealed(key: key, body: value)
        let mark = try HistoryMark(Document(decoding: content))
        found.append(
          HistoryConsumer(
            name: name, token: HistoryToken(storeID: storeID, number: mark.number),
            updatedAt: Date(timeIntervalSinceReferenceDate: mark.time)))
        return true
      }
      return found
    }
  }

  /// Returns the number of the last write before a time.
  ///
  /// If a write has a later time, all writes after it are ignored.
  func lastNumber(before time: Double) throws -> UInt64 {
    var last: UInt64 = 0
    try forEachPart(from: 0) { number, _, part in
      guard let header = part.header else { return true }
      guard header.time < time else { return false }
      last = number
      return true
    }
    return last
  }
}

extension WritableHistoryLog {
  /// The maximum number of history entries and id ranges that are collected in memory before their
  /// data is removed.
  private static let keysPerRound = 1 << 16

  /// Consecutive ids of records that a write has changed in one way.
  private struct KeptRecords {
    let entity: EntityNumber
    let ids: Range<UInt64>
    /// The write number in the keys of the records' images and preserved values.
    let write: UInt64
    let isDeleted: Bool
  }

  /// Removes the writes up to `end` from the history; returns their number.
  func purge(through end: UInt64) throws -> Int {
    let end = min(end, try reads.lastNumber())
    guard reads.tree != nil, end > (try reads.purged()?.number ?? 0) else { return 0 }
    var count = 0
    var time = 0.0
    var parts: [HistoryKey] = []
    var kept: [KeptRecords] = []
    // The number under which the write's images are stored. Only the first of a write's entries in
    // the history contains it. The variable is outside the loop, because a round may end between
    // two entries of one write.
    var image: UInt64 = 0
    while true {
      parts.removeAll(keepingCapacity: true)
      kept.removeAll(keepingCapacity: true)
      try reads.forEachPart(from: 0) { number, part, content in
        guard number <= end, parts.count + kept.count < Self.keysPerRound else { return false }
        if let header = content.header {
          count += 1
          time = header.time
          image = header.images ?? number
        }
        for change in content.changes where change.kind != .inserted && change.kind != .restarted {
          for ids in change.ids.ranges {
            kept.append(
              KeptRecords(
                entity: change.entity, ids: ids, write: image,
                isDeleted: change.kind == .deleted))
          }
        }
        parts.append(.part(write: number, part: part))
        return true
      }
      if parts.isEmpty { break }
      for records in kept {
        try delete(records) { .image(entity: $0, id: $1, write: $2) }
        if records.isDeleted {
          try delete(records) { .tombstone(entity: $0, id: $1, write: $2) }
        }
      }
      for key in parts { try delete(key) }
    }
    try deleteUnneededImages(through: end)
    try put(HistoryMark(number: end, time: time).document, .purged)
    return count
  }

  /// Deletes images and preserved values of writes up to `end` that belong to no change.
  ///
  /// Earlier versions of the library kept an image even if an undo or a new layout left all values
  /// equal.
  ///
  /// - Complexity: O(*n*) in the number of remaining images and preserved values; none is read.
  private func deleteUnneededImages(through end: UInt64) throws {
    guard let tree = reads.tree else { return }
    // Writes of one commit store their images under one number, so a remaining write may use that
    // of a removed one.
    var shared: UInt64?
    try reads.forEachPart(from: end + 1) { _, _, part in
      shared = part.header?.images
      return false
    }
    var start = HistoryKey.images
    while true {
      var keys: [HistoryKey] = []
      let range = KeyRange(lower: .included(start), upper: .excluded(HistoryKey.consumers))
      try Cursor(tree, in: core.transaction).walk(range) { key, _ in
        if let key = HistoryKey(key), let number = key.write, number <= end, number != shared {
          keys.append(key)
        }
        return keys.count < Self.keysPerRound
      }
      for key in keys { try delete(key) }
      guard keys.count == Self.keysPerRound, let last = keys.last else { return }
      start = last.bytes
    }
  }

  /// Deletes the images or preserved values of `records`; `key` returns the history key for each
  /// record.
  private func delete(
    _ records: KeptRecords, _ key: @escaping (EntityNumber, UInt64, UInt64) -> HistoryKey
  ) throws {
    let kept = try HistoryKeyIDs(in: reads, of: records.write) {
      key(records.entity, $0, records.write)
    }
    try PresentIDs(
      IDRuns([records.ids]), recordsOf: nil, kept: [kept].compactMap { $0 }, core
    ).forEach { id in
      try delete(key(records.entity, id, records.write))
    }
  }
}
