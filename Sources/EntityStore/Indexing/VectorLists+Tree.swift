internal import LMDB
internal import LodestoreFormat

extension VectorLists {
  /// Reads the lists of an index; `nil` if it has none.
  init?(of index: StoredComputedIndex, in transaction: Transaction) throws(StoreError) {
    let form = VectorForm(dimensions: index.description.dimensions)
    self.init(form)
    do {
      let cursor = try Cursor(index.entries.tree, in: transaction)
      var isFound = try cursor.seek(atOrAfter: VectorForm.key(.groups, 0))
      while isFound, cursor.key.count == 9, let part = VectorForm.Part(rawValue: cursor.key[0]),
        part == .groups || part == .lists
      {
        try append(
          VectorBlock(cursor.value, part, of: form), part,
          number: cursor.key.bigEndianUInt64(at: 1), of: form)
        isFound = try cursor.next()
      }
      try check()
    } catch let error as LMDBError {
      throw StoreError(error)
    } catch let error as FormatError {
      throw .damagedIndex(index.entries.name, error.description)
    } catch {
      throw .damagedIndex(index.entries.name, "\(error)")
    }
    if isEmpty { return nil }
  }

  /// Whether an index has more vectors than its lists, or an index without lists, are good for.
  ///
  /// - Parameter limit: the highest number of vectors without lists.
  static func areOutgrown(
    in index: StoredComputedIndex, of entity: StoredEntity, limit: Int, in transaction: Transaction
  ) throws -> Bool {
    guard try transaction.count(of: entity.records) > limit else { return false }
    let form = VectorForm(dimensions: index.description.dimensions)
    let cursor = try Cursor(index.entries.tree, in: transaction)
    var vectors = 0
    var isFound = try cursor.seek(atOrAfter: VectorForm.key(.levels, 0))
    while isFound, cursor.key.first == VectorForm.Part.levels.rawValue {
      vectors += cursor.value.count / form.size(.levels)
      isFound = try cursor.next()
    }
    guard vectors > limit else { return false }
    return try VectorLists(of: index, in: transaction)?.isOutgrown(by: vectors) ?? true
  }
}

extension TransactionCore {
  /// Takes a sample of the vectors of an index that needs lists; returns `nil` for other indexes.
  ///
  /// - Parameter check: called for each record; an error ends the call.
  func vectorSample(
    for index: StoredComputedIndex, of entity: StoredEntity,
    checking check: () throws(StoreError) -> Void = {}
  ) throws(StoreError) -> VectorTraining? {
    let limit = store.options.mostVectorsWithoutLists
    guard index.description.kind == .vector, try count(of: entity) > limit else { return nil }
    func forEachVector(_ body: ([Float]) -> Void) throws(StoreError) {
      try forEachRecord(of: entity) { (_, view) throws(StoreError) in
        try check()
        if let vector = IndexedVector(of: index.description, in: view, entity.description).vector {
          body(vector)
        }
      }
    }
    var count = 0
    try forEachVector { _ in count += 1 }
    guard count > limit else { return nil }
    let encoder = VectorEncoder(dimensions: index.description.dimensions)
    var sample = VectorTraining(
      VectorForm(dimensions: index.description.dimensions), vectors: count)
    try forEachVector { sample.add(encoder.code(of: $0)) }
    return sample
  }
}
