internal import LMDB
internal import LodestoreFormat

extension WriteCore {
  /// Rewrites derived attributes of the records with `ids`, in ascending order.
  ///
  /// `body` receives the id and all values of each record, and sets derived attributes.
  ///
  /// After an error the transaction can only be aborted.
  ///
  /// - Parameters:
  ///   - numbers: the attributes that `body` changes.
  ///   - laterIndexes: the numbers of indexes that are still empty and are built later, so their
  ///     entries are not changed.
  ///   - occasion: whether attributes derived from the record alone are recomputed too.
  func rewriteDerived(
    _ ids: [UInt64], of entity: StoredEntity, _ numbers: Set<UInt32>,
    laterIndexes: Set<UInt32> = [], _ occasion: RecordDerivations.Occasion = .related,
    _ body: (UInt64, inout DerivedValues) throws -> Void
  ) throws(StoreError) {
    guard !ids.isEmpty, let derivations = entity.derivations else { return }
    let changes = changes(of: entity)
    let attributes = SetAttributes(derived: numbers, occasion, of: entity, except: laterIndexes)
    try changes.withUpdateBatch(
      setting: attributes, memoryLimit: store.options.batchMemoryInBytes
    ) { batch in
      try forEachChangeable(ids, of: entity) { id, cursor in
        let old = try changes.stored(cursor.reads.value, id: id)
        var values = try DerivedValues(of: old, changes, derivations, occasion)
        try body(id, &values)
        try batch.change(old, to: values, at: cursor)
      }
    }
  }

  /// Recomputes the derived attributes with `numbers` in all records of `entity`.
  ///
  /// - Complexity: O(*n* + *m*) for *n* records of the entity and *m* related records, in one pass.
  ///   The ids are in memory.
  func rebuildDerived(
    _ numbers: Set<UInt32>, of entity: StoredEntity, laterIndexes: Set<UInt32>,
    _ occasion: RecordDerivations.Occasion = .rebuild
  ) throws(StoreError) {
    let ids = try storedIDs(of: entity)
    let related = schema.derived.filter { $0.owner === entity && numbers.contains($0.number) }
    let readers = try related.map { (derivation) throws(StoreError) in
      try RelatedReader(derivation, core: self)
    }
    let dates = entity.layout.attributes.indices.filter { position in
      let number = entity.layout.attributes[position].number
      let kind = entity.description.attribute(number: number)?.derivation?.kind
      return numbers.contains(number) && (kind == .inserted || kind == .changed)
    }
    // The records are processed in parts, so that their entries fit in memory. With a unique index
    // there is one part, because one record may release a key that another one takes.
    let isUnique = entity.indexes.contains { index in
      index.isUnique && !laterIndexes.contains(index.description.number)
        && !numbers.isDisjoint(with: index.description.attributes)
    }
    let size = isUnique ? Int.max : 1 << 18
    var start = ids.startIndex
    while start < ids.endIndex {
      let end = ids.endIndex - start > size ? start + size : ids.endIndex
      try rewriteDerived(
        Array(ids[start..<end]), of: entity, numbers, laterIndexes: laterIndexes, occasion
      ) { id, values in
        for (derivation, reader) in zip(related, readers) {
          values[derivation.position] = try reader.derive(id)
        }
        for position in dates { values[position] = .date(time) }
      }
      start = end
    }
  }
}
