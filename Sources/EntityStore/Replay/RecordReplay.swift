internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Writes the records of one entity that another store has inserted or updated.
struct RecordReplay {
  private let puts: [ReplayNet.Put]
  private let net: ReplayNet
  private let entity: StoredEntity
  private let core: WriteCore

  /// - Parameter puts: in ascending order of their ids.
  init(_ puts: [ReplayNet.Put], _ net: ReplayNet, _ entity: StoredEntity, _ core: WriteCore) {
    self.puts = puts
    self.net = net
    self.entity = entity
    self.core = core
  }

  /// Writes the records; returns the number of those that have changed.
  ///
  /// All records change in one batch, because they may have exchanged unique keys. A record that
  /// returns under an id below the next one cannot be appended, and is inserted after the batch.
  func run() throws -> Int {
    let changes = core.changes(of: entity)
    let end = try core.nextID(of: entity)
    if let last = puts.last?.id, last >= end {
      try core.checkNewID(last, of: entity)
      core.takeIDs(below: last + 1, of: entity)
    }
    var returning: [ReplayNet.Put] = []
    var count = 0
    let newCount = puts.count - puts.partitioningIndex { $0.id >= end }
    try changes.withChangeBatch(
      expectedCount: newCount, memoryLimit: core.store.options.batchMemoryInBytes
    ) { batch in
      let stored = try WritingCursor(entity.records, in: core.writing)
      let new = try WritingCursor(entity.records, in: core.writing)
      for put in puts {
        if put.id >= end {
          try withRecord(put) { view in
            try batch.insert(try changes.prepare(replaying: view, id: put.id), at: new)
          }
          count += 1
        } else if try stored.reads.seek(put.id) {
          if try update(put, at: stored, in: batch) { count += 1 }
        } else {
          returning.append(put)
        }
      }
    }
    for put in returning {
      try withRecord(put) { view in
        try core.breakingOnError { try changes.replay(view, id: put.id) }
      }
    }
    return count + returning.count
  }

  private func update(
    _ put: ReplayNet.Put, at cursor: WritingCursor, in batch: ChangeBatch
  ) throws -> Bool {
    let changes = batch.changes
    let old = try changes.stored(cursor.reads.value, id: put.id)
    return try withRecord(put) { view in
      // A change would give a record of an older layout the current layout, and another checksum.
      if view.layout !== entity.layout, old.view.bytes.elementsEqual(view.bytes) { return false }
      return try batch.change(old, to: try changes.replayed(view, id: put.id), at: cursor)
    }
  }

  @inline(__always)
  private func withRecord<R>(_ put: ReplayNet.Put, _ body: (RecordView) throws -> R) throws -> R {
    let (records, index) = net.records(of: put)
    return try records.bytes._withBytes { bytes in
      try body(try entity.view(bytes[records.range(at: index)], id: put.id))
    }
  }
}
