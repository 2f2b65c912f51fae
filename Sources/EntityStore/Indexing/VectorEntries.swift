internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

// Only this file writes the trees of vector indexes; `tools/lint` checks this.

/// Collects the codes of changed vectors of one index, and writes them block by block in the order
/// of their keys.
final class VectorEntries: ComputedEntries {
  /// The change of a record's vector.
  private struct Change {
    /// The new code; `nil` if the record has no vector any more.
    var code: VectorCode?
    var list: Int?
    /// The list that has the stored vector; `nil` without lists and without a stored vector.
    var storedList: Int?
  }

  private typealias NewCode = (id: UInt64, code: VectorCode?)

  let index: StoredComputedIndex
  private let entity: StoredEntity
  private let core: TreeWriteCore
  private let form: VectorForm
  private let encoder: VectorEncoder
  private let mostPending: Int
  /// The change of each record since the last ``write()``.
  private var pending: [UInt64: Change] = [:]
  /// The lists of the index, without lists `nil` inside; `nil` if they have not been read.
  private var readLists: VectorLists??

  init(_ index: StoredComputedIndex, of entity: StoredEntity, core: TreeWriteCore) {
    self.index = index
    self.entity = entity
    self.core = core
    form = VectorForm(dimensions: index.description.dimensions)
    encoder = VectorEncoder(dimensions: index.description.dimensions)
    mostPending = max(16, core.store.options.batchMemoryInBytes / 4 / (form.width * 9 / 8 + 160))
  }

  func change(_ id: UInt64, _ old: RecordView?, _ new: RecordView?) throws(StoreError) {
    let old = old.flatMap { vector(of: $0) }
    let new = new.flatMap { vector(of: $0) }
    if old == new { return }
    var change = Change(code: new.map(encoder.code))
    if let lists = try lists() {
      change.list = change.code.map(lists.list)
      change.storedList =
        if let earlier = pending[id] { earlier.storedList } else {
          old.map { lists.list(of: encoder.code(of: $0)) }
        }
    }
    pending[id] = change
    if pending.count >= mostPending { try write() }
  }

  private func vector(of view: RecordView) -> [Float]? {
    IndexedVector(of: index.description, in: view, entity.description).vector
  }

  // MARK: Lists

  private func lists() throws(StoreError) -> VectorLists? {
    if let readLists { return readLists }
    let lists = try VectorLists(of: index, in: core.transaction)
    readLists = .some(lists)
    return lists
  }

  func begin(with lists: VectorLists) throws(StoreError) {
    try damagedIfThrown {
      try core.store.trees.require([.vectorLists], in: core.writing)
      try core.store.trees.raiseSchemaNumber(in: core.writing)
      let cursor = try WritingCursor(index.entries.tree, in: core.writing)
      for (part, centroids) in [(VectorForm.Part.groups, lists.groups), (.lists, lists.lists)] {
        let span = Int(form.span(part))
        for first in Swift.stride(from: 0, to: centroids.count, by: span) {
          var block = VectorBlockBuilder()
          for number in first..<min(first + span, centroids.count) {
            block.append(centroids, at: number, UInt16(number - first))
          }
          try VectorForm.key(part, UInt64(first / span))._withBytes { key in
            try block.bytes._withBytes { try cursor.put(key, $0) }
          }
        }
      }
    }
    readLists = .some(lists)
  }

  // MARK: Blocks

  func write() throws(StoreError) {
    if pending.isEmpty { return }
    let changes = exchange(&pending, with: [:])
    let hasLists = try lists() != nil
    try damagedIfThrown {
      let cursor = try WritingCursor(index.entries.tree, in: core.writing)
      let codes = changes.map { (id: $0.key, code: $0.value.code) }.sorted { $0.id < $1.id }
      for part in hasLists ? [VectorForm.Part.levels] : [.signs, .levels] {
        let span = form.span(part)
        try forEachPart(of: codes, by: { $0.id / span }) { number, codes in
          try write(part, codes, from: number * span, cursor) { _ in VectorForm.key(part, number) }
        }
      }
      if hasLists { try writeListedSigns(of: changes, cursor) }
    }
    // The index may be built again, with other lists.
    readLists = nil
  }

  private func writeListedSigns(
    of changes: [UInt64: Change], _ cursor: WritingCursor
  ) throws {
    var moves: [(list: Int, new: NewCode)] = []
    for (id, change) in changes {
      if let list = change.list { moves.append((list, (id, change.code))) }
      if let list = change.storedList, list != change.list { moves.append((list, (id, nil))) }
    }
    moves.sort { $0.list != $1.list ? $0.list < $1.list : $0.new.id < $1.new.id }
    try forEachPart(of: moves, by: { $0.list }) { list, moves in
      try forEachPart(of: moves.map(\.new), by: { $0.id / VectorForm.section }) { section, codes in
        try write(.listedSigns, codes, from: section * VectorForm.section, cursor) {
          VectorForm.key(list: list, section: section, run: $0)
        }
      }
    }
  }

  /// Visits the parts of a sorted array whose elements have equal keys.
  private func forEachPart<Element, Key: Equatable>(
    of elements: [Element], by key: (Element) -> Key, _ body: (Key, [Element]) throws -> Void
  ) rethrows {
    var start = 0
    while start < elements.count {
      let shared = key(elements[start])
      var end = start + 1
      while end < elements.count, key(elements[end]) == shared { end += 1 }
      try body(shared, Array(elements[start..<end]))
      start = end
    }
  }

  /// Replaces the blocks that have the vectors of consecutive record ids.
  ///
  /// Only signs in lists may have several blocks, which are full except the last one. Full blocks
  /// before the first change stay.
  private func write(
    _ part: VectorForm.Part, _ changes: [NewCode], from first: UInt64, _ cursor: WritingCursor,
    _ key: (Int) -> [UInt8]
  ) throws {
    let span = form.span(part)
    var merged = VectorBlockBuilder()
    var next = 0
    func add(below offset: UInt16?) {
      while next < changes.count, offset.map({ changes[next].id - first < $0 }) ?? true {
        if let code = changes[next].code {
          merged.append(code, at: UInt16(changes[next].id - first), part, of: form)
        }
        next += 1
      }
    }
    var (unchanged, stored) = (0, 0)
    while stored < VectorForm.section, try key(stored)._withBytes({ try cursor.reads.seek($0) }) {
      let block = try VectorBlock(cursor.reads.value, part, of: form)
      if part == .listedSigns, unchanged == stored, block.count == span,
        UInt64(block.offset(block.count - 1)) < changes[0].id - first
      {
        unchanged += 1
      } else {
        for index in 0..<block.count {
          let offset = block.offset(index)
          add(below: offset)
          if next < changes.count, changes[next].id - first == offset {
            add(below: offset == .max ? nil : offset + 1)
          } else {
            merged.append(block, at: index)
          }
        }
      }
      stored += 1
      if part != .listedSigns { break }
    }
    add(below: nil)
    let runs = merged.runs(of: span)
    guard unchanged + runs.count <= VectorForm.section else {
      throw FormatError("a list has more vectors than its section has ids", .vectorBlock)
    }
    for (index, run) in runs.enumerated() {
      try key(unchanged + index)._withBytes { key in
        try run._withBytes { try cursor.put(key, $0) }
      }
    }
    for index in unchanged + runs.count..<max(stored, unchanged + runs.count)
    where try key(index)._withBytes({ try cursor.reads.seek($0) }) {
      try cursor.delete()
    }
  }

  private func damagedIfThrown(_ body: () throws -> Void) throws(StoreError) {
    do {
      try body()
    } catch let error as LMDBError {
      throw StoreError(error)
    } catch let error as FormatError {
      throw .damagedIndex(index.entries.name, error.description)
    } catch let error as StoreError {
      throw error
    } catch {
      throw .damagedIndex(index.entries.name, "\(error)")
    }
  }
}
