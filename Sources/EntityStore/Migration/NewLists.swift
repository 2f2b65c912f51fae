internal import LodestoreFormat

/// Lists made for a vector index before the write that begins its construction.
struct NewLists: Sendable {
  private let entity: EntityNumber
  private let index: EntityDescription.ComputedIndex
  /// The lists; `nil` for an index without lists.
  let lists: VectorLists?

  fileprivate init(
    _ entity: EntityNumber, _ index: EntityDescription.ComputedIndex, _ lists: VectorLists?
  ) {
    self.entity = entity
    self.index = index
    self.lists = lists
  }

  func areMade(for index: StoredComputedIndex, of entity: StoredEntity) -> Bool {
    self.entity == entity.number && self.index == index.description
  }
}

extension StoreCore {
  /// Returns a closure that makes the lists of the vector index whose construction is to begin;
  /// `nil` if the next part needs no lists.
  ///
  /// The call reads all records, in one snapshot. The closure only calculates, and does not keep
  /// the store open; it throws an error soon after the store is closed.
  func listsForNextPart() throws -> (@Sendable () throws -> NewLists)? {
    try read { core in
      guard let entity = core.schema.entities.first(where: \.isBuilding), entity.building.isEmpty,
        let index = entity.computedIndexes.first(where: \.isBuilding),
        index.description.kind == .vector,
        try core.nextToIndex(index.counter(of: entity), index.entries.name) == 1
      else { return nil }
      let (number, description, verb) = (entity.number, index.description, "build indexes of")
      let sample = try core.vectorSample(for: index, of: entity) { () throws(StoreError) in
        try checkOpen(verb)
      }
      return { [weak self] in
        let lists = try sample?.lists {
          guard let self else { throw CancellationError() }
          try self.checkOpen(verb)
        }
        return NewLists(number, description, lists)
      }
    }
  }
}
