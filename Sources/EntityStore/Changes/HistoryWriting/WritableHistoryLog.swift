internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Writes in the tree `history`, whose reads are those of a ``HistoryLog``.
struct WritableHistoryLog {
  /// The log within this write, for reads.
  let reads: HistoryLog
  let core: WriteCore

  /// Opens the log.
  ///
  /// When the store has no tree, the log is empty, and its calls write nothing.
  init(_ core: WriteCore) {
    self.core = core
    reads = HistoryLog(core)
  }

  /// Opens the log, and creates the tree if the store has none.
  init(creatingIn core: WriteCore) throws(StoreError) {
    _ = try core.openOrMakeTree(.history)
    self.init(core)
  }

  /// Stores one write in the history as one or more entries, its parts.
  ///
  /// - Throws: ``StoreError/Code/unstorableValue`` when all numbers of writes have been used.
  func append(
    number: UInt64, origin: WriteOrigin, time: Double, changes: [HistoryPart.Change],
    links: [HistoryPart.Links], images: UInt64? = nil, undoes: UInt64? = nil,
    untold: [EntityNumber] = []
  ) throws(StoreError) {
    guard number <= HistoryKey.lastWrite else { throw .historyUsedUp }
    var parts = Self.parts(changes, links)
    parts[0].header = HistoryPart.Header(
      partCount: parts.count, time: time, process: Int64(currentProcess()),
      author: origin.author, context: origin.context, images: images == number ? nil : images,
      undoes: undoes, untold: untold)
    for (index, part) in parts.enumerated() {
      try put(part.encoded, .part(write: number, part: UInt32(index)))
    }
  }

  /// Divides changes and links into parts of about ``partByteCount`` bytes.
  private static func parts(
    _ changes: [HistoryPart.Change], _ links: [HistoryPart.Links]
  ) -> [HistoryPart] {
    var parts = [HistoryPart()]
    var size = 0
    func make(_ added: Int) {
      if size > 0, size + added > HistoryLog.partByteCount {
        parts.append(HistoryPart())
        size = 0
      }
      size += added
    }
    for change in changes {
      let ranges = change.ids.ranges
      for start in stride(from: 0, to: max(1, ranges.count), by: HistoryLog.runsPerChange) {
        let end = min(ranges.count, start + HistoryLog.runsPerChange)
        make(32 + (end - start) * 4)
        parts[parts.count - 1].changes.append(
          HistoryPart.Change(
            entity: change.entity, kind: change.kind, ids: IDRuns(Array(ranges[start..<end])),
            isExpired: change.isExpired))
      }
    }
    for group in links {
      for start in stride(from: 0, to: group.pairs.count, by: HistoryLog.runsPerChange) {
        let end = min(group.pairs.count, start + HistoryLog.runsPerChange)
        make(32 + (end - start) * 4)
        parts[parts.count - 1].links.append(
          HistoryPart.Links(
            relationship: group.relationship, kind: group.kind,
            pairs: Array(group.pairs[start..<end])))
      }
    }
    return parts
  }

  func put(_ document: Document, _ key: HistoryKey) throws(StoreError) {
    try put(document.encoded(), key)
  }

  private func put(_ content: [UInt8], _ key: HistoryKey) throws(StoreError) {
    guard let tree = reads.tree else { return }
    try wrappingErrors {
      let bytes = key.bytes
      try core.writing.put(bytes, Checksum.sealed(key: bytes, content: content), in: tree)
    }
  }

  /// Stores the image of a record; returns false when an earlier image of this write exists.
  func keep(_ record: ByteView, _ key: HistoryKey) throws(StoreError) -> Bool {
    guard let tree = reads.tree else { return true }
    return try wrappingErrors {
      let bytes = key.bytes
      if try core.transaction.get(bytes, in: tree) != nil { return false }
      try core.writing.put(bytes, Array(record), in: tree)
      return true
    }
  }

  func delete(_ key: HistoryKey) throws(StoreError) {
    guard let tree = reads.tree else { return }
    try wrappingErrors { _ = try core.writing.delete(key.bytes, in: tree) }
  }
}

extension StoreError {
  fileprivate static let historyUsedUp = StoreError(
    .unstorableValue,
    "cannot record this write in the history: the last write has number \(HistoryKey.lastWrite), "
      + "the highest; copy the records into a new store, as with 'kvdump export' and "
      + "'kvdump import', or open this one with history .off")
}
