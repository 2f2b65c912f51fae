internal import LMDB
internal import LodestoreFormat

extension WriteTransaction {
  /// Undoes the write with this token by changes in this transaction.
  ///
  /// The undo is itself a write. Undoing it, with its own token, makes the changes again.
  ///
  ///     let undo = try store.write { tx in
  ///       try tx.undo(token)
  ///       return try tx.ownHistoryToken()
  ///     }
  ///
  /// Records that the write inserted are removed. Records that it deleted are restored under their
  /// ids. Attributes and links that it changed are restored too. Derived attributes are recomputed;
  /// later changes of them are never an obstacle.
  ///
  /// Call `undo` before any other change in the transaction. All entities that the write changed
  /// must keep images; see ``HistoryPolicy/kept(preserving:images:)``. If some entities keep none,
  /// ``undoPartly(_:)`` undoes the other changes. A write by an earlier version of the library does
  /// not record its entities without a history; `undo` then undoes all recorded changes. Values in
  /// buckets stay. Positions in ordered relationships are not recorded: restored links come last,
  /// and a write that moved records cannot be undone.
  ///
  /// A later write that has been undone is not an obstacle, nor is its undo.
  ///
  /// - Returns: the number of changed records.
  /// - Throws: ``StoreError/Code/cannotUndo`` in these cases:
  ///   - A later write has changed the same attributes of a record, or has deleted or linked it.
  ///   - The write also changed entities that keep no history or no images.
  ///   - A restored value would lead to a missing record.
  ///   - The history of an entity is off or began after the write, so later changes may be unknown.
  ///
  ///   Other errors mean that the old values are no longer allowed, such as a unique key that is
  ///   used again. After any error the transaction is as it was before the call.
  /// - Complexity: O(*w* + *k* log *n*) for *w* later writes and *k* affected records.
  @discardableResult
  public mutating func undo(_ token: HistoryToken) throws -> Int {
    try takeBack(token, isPartial: false).recordCount
  }

  /// Undoes the recorded part of the write with this token, and returns the rest.
  ///
  ///     let undone = try tx.undoPartly(token)
  ///     if !undone.stayingEntities.isEmpty { print("unchanged:", undone.stayingEntities) }
  ///
  /// The call differs from ``undo(_:)`` for writes that also changed entities that keep no history
  /// or no images. All changes of such an entity's records stay. Links to missing records are not
  /// restored, and positions in ordered relationships stay.
  ///
  /// - Throws: the errors of ``undo(_:)`` for the part that is undone.
  @discardableResult
  public mutating func undoPartly(_ token: HistoryToken) throws -> PartialUndo {
    try takeBack(token, isPartial: true)
  }

  private func takeBack(_ token: HistoryToken, isPartial: Bool) throws -> PartialUndo {
    try core.takeBack(token, isPartial: isPartial)
  }
}

extension WriteCore {
  /// Undoes a write; see ``WriteTransaction/undo(_:)``.
  func takeBack(_ token: HistoryToken, isPartial: Bool) throws(StoreError) -> PartialUndo {
    try asOneCall("undo") { () throws(StoreError) in
      try wrappingErrors {
        guard changeCount == 0 else {
          throw StoreError.cannotUndo(
            token.number, "this transaction has changed records already; undo in one of its own")
        }
        var undoing = try HistoryUndo(token, self, isPartial: isPartial)
        try undoing.check()
        return try undoing.apply()
      }
    }
  }
}

/// The result of ``WriteTransaction/undoPartly(_:)``.
public struct PartialUndo: Sendable, Hashable {
  /// The number of changed records.
  public let recordCount: Int
  /// The names of the entities with changes that stay, in alphabetical order.
  ///
  /// The list contains the entities that keep no history or no images, and both entities of links
  /// that are not restored. An entity is also listed if its records keep positions from the write.
  /// A write by an earlier version of the library does not record its entities without a history,
  /// so all of these are listed.
  public let stayingEntities: [String]
}

/// The undo of one write, which is checked first and then applied.
struct HistoryUndo {
  let core: WriteCore
  let log: HistoryLog
  /// The number of the write.
  let number: UInt64
  /// Whether changes of the write that cannot be undone may stay, as in
  /// ``WriteTransaction/undoPartly(_:)``.
  let isPartial: Bool
  /// The write number under which the images of the write are stored.
  let image: UInt64
  /// The changes to undo; updates do not list derived attributes, which are recomputed.
  var changes: [HistoryPart.Change] = []
  var links: [HistoryPart.Links] = []
  /// The changes of earlier writes in this commit, which store their images under the same number.
  let siblings: [HistoryPart.Change]
  /// The later writes that have been completely undone.
  let undoneWrites: Set<UInt64>
  /// The names of entities with changes that stay.
  var staying: Set<String> = []
  /// Whether a recorded change stays.
  var leavesRecordedChange = false
  /// By entity and record id, the attributes of records in ``siblings`` that lead to records which
  /// the undo removes.
  var leading: [EntityNumber: [UInt64: Set<UInt32>]] = [:]

  init(_ token: HistoryToken, _ core: WriteCore, isPartial: Bool) throws {
    self.core = core
    self.isPartial = isPartial
    let log = HistoryLog(core)
    self.log = log
    let number = token.number
    self.number = number
    try log.check(token, includesWrite: number > 0)
    var found: [HistoryPart] = []
    try log.forEachPart(from: number) { written, _, part in
      guard written == number else { return false }
      found.append(part)
      return true
    }
    guard let header = found.first?.header else {
      throw StoreError.cannotUndo(number, "the history does not contain this write")
    }
    let image = header.images ?? number
    self.image = image
    var siblings: [HistoryPart.Change] = []
    if image < number {
      var isSibling = false
      try log.forEachPart(from: image) { other, _, part in
        guard other < number else { return false }
        if let header = part.header { isSibling = (header.images ?? other) == image }
        if isSibling { siblings += part.changes }
        return true
      }
    }
    self.siblings = siblings
    undoneWrites = try log.findUndoneWrites(after: number)
    links = found.flatMap(\.links)
    for change in found.flatMap(\.changes) {
      guard !change.isExpired else {
        throw StoreError.cannotUndo(
          number, "the write removed expired records, which would be removed again")
      }
      if let kind = try entity(change.entity).own(change.kind) {
        changes.append(HistoryPart.Change(entity: change.entity, kind: kind, ids: change.ids))
      }
    }
    try noteUnrecorded(header.untold)
  }

  /// Notes the entities without a history that the write also changed; throws unless the undo may
  /// be partial.
  ///
  /// - Parameter untold: the numbers of these entities; `nil` for a write of an earlier version,
  ///   which may have changed any entity.
  private mutating func noteUnrecorded(_ untold: [EntityNumber]?) throws(StoreError) {
    guard let untold else {
      let without = core.schema.entities.filter { $0.description.history == nil }
      staying.formUnion(without.map(\.name))
      return
    }
    let names = untold.map { core.schema.entity($0)?.name ?? "entity \($0)" }
    staying.formUnion(names)
    guard isPartial || names.isEmpty else {
      throw .cannotUndo(
        number,
        "the write also changed \(names.sorted().joined(separator: ", ")), without a history; "
          + "'undoPartly' undoes the other changes, and reports those that stay")
    }
  }

  func entity(_ number: EntityNumber) throws(StoreError) -> StoredEntity {
    guard let entity = core.schema.entity(number) else {
      throw .cannotUndo(self.number, "entity \(number) no longer exists")
    }
    return entity
  }

  func relationship(_ group: HistoryPart.Links) throws(StoreError) -> StoredRelationship {
    guard let relationship = core.schema.relationship(group.relationship),
      relationship.linksFrom != nil
    else { throw .cannotUndo(number, "a relationship of the write no longer exists") }
    return relationship
  }

  func imageKey(_ entity: StoredEntity, _ id: UInt64) -> HistoryKey {
    .image(entity: entity.number, id: id, write: image)
  }

  /// Returns those of `ids` that are existing records.
  func records(_ ids: IDRuns, of entity: StoredEntity) throws(StoreError) -> [UInt64] {
    var found: [UInt64] = []
    try wrappingErrors {
      try PresentIDs(ids, recordsOf: entity, core).forEach { found.append($0) }
    }
    return found
  }

  /// Returns the records of an entity that the write deleted and the undo restores.
  func restored(_ entity: EntityNumber) -> IDRuns {
    IDRuns(
      changes.filter { $0.kind == .deleted && $0.entity == entity }.flatMap(\.ids.ranges))
  }
}

extension StoredEntity {
  /// Returns the change without derived attributes; `nil` for an update of derived attributes only.
  func own(_ kind: HistoryPart.Change.Kind) -> HistoryPart.Change.Kind? {
    guard case .updated(let attributes) = kind else { return kind }
    let own = attributes.filter { description.attribute(number: $0)?.derivation == nil }
    return own.isEmpty ? nil : .updated(own)
  }
}

extension HistoryLog {
  /// Returns the writes after `number` that have been undone, and the writes that undid them.
  ///
  /// The last write is visited first, because an undo that was itself undone has no effect.
  fileprivate func findUndoneWrites(after number: UInt64) throws -> Set<UInt64> {
    var undoneWrites: Set<UInt64> = []
    try forEachPart(from: number + 1, backwards: true) { later, _, part in
      if let undone = part.header?.undoes, undone > number, !undoneWrites.contains(later) {
        undoneWrites.formUnion([later, undone])
      }
      return true
    }
    return undoneWrites
  }
}

extension StoreError {
  static func cannotUndo(
    _ number: UInt64, _ reason: String, _ entity: StoredEntity? = nil, _ id: UInt64? = nil
  ) -> StoreError {
    StoreError(
      .cannotUndo, "cannot undo write \(number): \(reason)", entity: entity?.name, recordID: id)
  }
}
