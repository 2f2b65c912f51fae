internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

// Only this file writes the trees of vector indexes; `tools/lint` checks this.

/// Collects the codes of changed vectors of one index, and writes them block by block in the order
/// of ids.
final class VectorEntries: ComputedEntries {
  let index: StoredComputedIndex
  private let entity: StoredEntity
  private let core: TreeWriteCore
  private let form: VectorForm
  private let encoder: VectorEncoder
  private let mostPending: Int
  /// The new code of each changed record; `nil` for a record whose code is removed.
  private var pending: [UInt64: VectorCode?] = [:]

  init(_ index: StoredComputedIndex, of entity: StoredEntity, core: TreeWriteCore) {
    self.index = index
    self.entity = entity
    self.core = core
    form = VectorForm(dimensions: index.description.dimensions)
    encoder = VectorEncoder(dimensions: index.description.dimensions)
    mostPending = max(16, core.store.options.batchMemoryInBytes / 4 / (form.width * 9 / 8 + 128))
  }

  func change(_ id: UInt64, _ old: RecordView?, _ new: RecordView?) throws(StoreError) {
    let old = old.flatMap { vector(of: $0) }
    let new = new.flatMap { vector(of: $0) }
    if old == new { return }
    pending[id] = .some(new.map(encoder.code))
    if pending.count >= mostPending { try write() }
  }

  private func vector(of view: RecordView) -> [Float]? {
    IndexedVector(of: index.description, in: view, entity.description).vector
  }

  func write() throws(StoreError) {
    if pending.isEmpty { return }
    let changes = exchange(&pending, with: [:])
    let ids = changes.keys.sorted()
    do {
      let cursor = try WritingCursor(index.entries.tree, in: core.writing)
      for part in VectorForm.Part.allCases {
        var start = 0
        while start < ids.count {
          let number = ids[start] / form.span(part)
          var end = start + 1
          while end < ids.count, ids[end] / form.span(part) == number { end += 1 }
          try write(part, number, ids[start..<end].map { ($0, changes[$0] ?? nil) }, cursor)
          start = end
        }
      }
    } catch let error as LMDBError {
      throw StoreError(error)
    } catch let error as FormatError {
      throw .damagedIndex(index.entries.name, error.description)
    } catch {
      throw .damagedIndex(index.entries.name, "\(error)")
    }
  }

  /// Replaces one block.
  private func write(
    _ part: VectorForm.Part, _ number: UInt64, _ changes: [(id: UInt64, code: VectorCode?)],
    _ cursor: WritingCursor
  ) throws {
    var merged = VectorBlockBuilder()
    let first = number * form.span(part)
    try VectorForm.key(part, number)._withBytes { key in
      let isStored = try cursor.reads.seek(key)
      let stored = isStored ? try VectorBlock(cursor.reads.value, part, of: form) : nil
      var next = 0
      func copy(below offset: UInt16?) {
        guard let stored else { return }
        while next < stored.count, offset.map({ stored.offset(next) < $0 }) ?? true {
          merged.append(stored, at: next)
          next += 1
        }
      }
      for (id, code) in changes {
        let offset = UInt16(id - first)
        copy(below: offset)
        if let stored, next < stored.count, stored.offset(next) == offset { next += 1 }
        if let code { merged.append(code, at: offset, part, of: form) }
      }
      copy(below: nil)
      if !merged.isEmpty {
        try merged.bytes._withBytes { try cursor.put(key, $0) }
      } else if isStored {
        try cursor.delete()
      }
    }
  }
}
