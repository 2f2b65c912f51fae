internal import LodestoreFormat

/// Collects changes of the entries of one computed index.
protocol ComputedEntries {
  var index: StoredComputedIndex { get }

  /// Writes the lists of vectors into an empty tree, before the first entries.
  func begin(with lists: VectorLists) throws(StoreError)

  /// Notes the difference between the entries of `old` and `new`, either of which may be `nil`.
  func change(_ id: UInt64, _ old: RecordView?, _ new: RecordView?) throws(StoreError)

  /// Writes all noted changes.
  func write() throws(StoreError)
}

extension ComputedEntries {
  func begin(with _: VectorLists) {}
}
