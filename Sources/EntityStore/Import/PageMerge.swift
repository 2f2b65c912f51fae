internal import LodestoreFormat

/// What an import does with a record whose unique key is in the store already.
package enum MergeMode: String, Sendable, CaseIterable {
  /// The record takes the incoming values.
  case replace
  /// The record stays as it is.
  case ignore
  /// The incoming record is rejected.
  case fail
}

/// Merges one page of encoded records into an entity by a unique index.
///
/// The stored records of the whole page are found in one pass over the sorted keys, and compared
/// before anything is written: an unchanged record costs one read and no write.
package final class PageMerge {
  /// What became of one record of the page.
  package enum Outcome: Sendable {
    case inserted, updated, unchanged, ignored
    case rejected(String)
  }

  private let core: TransactionCore
  private let entity: StoredEntity
  private let index: StoredIndex
  private let mode: MergeMode
  /// The records' contents, each followed by room for its checksum.
  private var contents: [UInt8] = []
  private var ends: [Int] = []
  private var outcomes: [Outcome?] = []

  package init(
    into entity: StoredEntity, matching index: StoredIndex, mode: MergeMode, core: TransactionCore
  ) {
    self.core = core
    self.entity = entity
    self.index = index
    self.mode = mode
  }

  package func add(_ content: UnsafeRawBufferPointer) {
    contents.append(contentsOf: content)
    contents.append(contentsOf: [0, 0, 0, 0])
    ends.append(contents.count)
    outcomes.append(nil)
  }

  /// Writes the page; one outcome per record, in order.
  package func apply() throws(StoreError) -> [Outcome] {
    let holders = try findHolders()
    for place in ends.indices where outcomes[place] == nil {
      outcomes[place] = try settle(place, holder: holders[place])
    }
    return outcomes.map { $0 ?? .unchanged }
  }

  private func withContent<R>(
    _ place: Int, _ body: (UnsafeMutableRawBufferPointer) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let start = place == 0 ? 0 : ends[place - 1]
    let end = ends[place] - RecordLayout.checksumSize
    return try contents.withMutableBytes { (bytes) throws(StoreError) in
      try body(UnsafeMutableRawBufferPointer(rebasing: bytes[start..<end]))
    }
  }

  /// The record that each key leads to.
  ///
  /// Of records of the page with one key the last is kept, so that importing the same page again
  /// changes nothing.
  private func findHolders() throws(StoreError) -> [UInt64?] {
    var holders = [UInt64?](repeating: nil, count: ends.count)
    let box = EntryArenaBox(expectedCount: ends.count)
    for place in ends.indices {
      try withContent(place) { (content) throws(StoreError) in
        let view = try entity.view(core.seal(content, id: 0), id: 0)
        let hasNull = try core.encodeKey(of: view, id: 0, in: index, of: entity)
        if !hasNull { box.append(key: core.key.bytes, recordID: UInt64(place)) }
      }
    }
    box.sort()
    let entries = box.arena.entries
    for (position, entry) in entries.enumerated().dropLast() {
      let next = entries[position + 1]
      if compareKeys(box.arena.key(entry), box.arena.key(next)) == 0 {
        outcomes[Int(box.arena.recordID(entry))] = .rejected(
          "a later record of the page has the same '\(index.name)'; the last one is kept")
      }
    }
    try box.eachHeld(in: index, core: core) { (position, holder) throws(StoreError) in
      holders[Int(box.arena.recordID(entries[position]))] = holder
      return true
    }
    return holders
  }

  private func settle(_ place: Int, holder: UInt64?) throws(StoreError) -> Outcome {
    do throws(StoreError) {
      return try withContent(place) { (content) throws(StoreError) in
        guard let holder else {
          _ = try core.insert(content, into: entity)
          return .inserted
        }
        switch mode {
        case .fail:
          return .rejected("'\(index.name)' already leads to \(entity.name) \(holder)")
        case .ignore: return .ignored
        case .replace:
          return try core.update(holder, to: content, in: entity) ? .updated : .unchanged
        }
      }
    } catch  where error.code == .uniqueViolation {
      // A second unique index: that record alone is refused.
      return .rejected(error.message)
    }
  }
}
