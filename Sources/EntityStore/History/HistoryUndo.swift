internal import LMDB
internal import LodestoreFormat

extension WriteTransaction {
  /// Takes back the write that `token` names, as changes of this transaction.
  ///
  /// The undo is a write, which can be undone in its turn, by its own token: that makes the changes
  /// again.
  ///
  ///     let undo = try store.write { tx in
  ///       try tx.undo(token)
  ///       return try tx.ownHistoryToken()
  ///     }
  ///
  /// Records that the write inserted are removed. Records that it deleted are there again under
  /// their ids. Attributes that it changed have their old values, and links likewise. Derived
  /// attributes are derived again: later changes of them are never in the way.
  ///
  /// Call it before anything else is changed in the transaction. All entities that the write
  /// changed must keep images; see ``HistoryPolicy/kept(preserving:images:)``. Where some do not,
  /// ``undoPartly(_:)`` takes back the rest. A write by an earlier version of the library does not
  /// name entities without a history: there `undo` takes back everything that the history reports.
  /// Values in buckets stay. Positions in ordered relationships are not kept: restored links come
  /// last, and a write that moved records is not taken back.
  ///
  /// - Returns: how many records were changed.
  /// - Throws: ``StoreError/Code/cannotUndo`` when a later write has changed the same attributes of
  ///   a record, has deleted or linked it. Likewise when the write also changed entities that keep
  ///   no history or no images, or when a restored value would lead to a record that is gone.
  ///   Likewise when the history of an entity is off or began after the write, so that later
  ///   changes may be unknown. Other errors say that the old values are refused now, such as a
  ///   unique key that is in use again. After any error the transaction is as it was before the
  ///   call. A later write that has been undone itself is not in the way, nor is its undo.
  /// - Complexity: O(later writes + records concerned · log *n*).
  @discardableResult
  public mutating func undo(_ token: HistoryToken) throws -> Int {
    try takeBack(token, isPartial: false).recordCount
  }

  /// Takes back as much of the write that `token` names as the history keeps, and reports the rest.
  ///
  ///     let undone = try tx.undoPartly(token)
  ///     if !undone.stayingEntities.isEmpty { print("unchanged:", undone.stayingEntities) }
  ///
  /// The call differs from ``undo(_:)`` for writes that also changed entities that keep no history
  /// or no images. Of each such entity no change of a record is taken back. The call also leaves
  /// links to records that are gone, and places in ordered relationships.
  ///
  /// - Throws: as ``undo(_:)`` for everything that is taken back.
  @discardableResult
  public mutating func undoPartly(_ token: HistoryToken) throws -> PartialUndo {
    try takeBack(token, isPartial: true)
  }

  private func takeBack(_ token: HistoryToken, isPartial: Bool) throws -> PartialUndo {
    let core = core
    return try core.asOneCall("undo") { () throws(StoreError) in
      try wrappingErrors {
        guard core.changeCount == 0 else {
          throw StoreError.cannotUndo(
            token.number, "this transaction has changed records already; undo in one of its own")
        }
        var undoing = try HistoryUndo(token, core, isPartial: isPartial)
        try undoing.check()
        return try undoing.apply()
      }
    }
  }
}

/// The result of ``WriteTransaction/undoPartly(_:)``.
public struct PartialUndo: Sendable, Hashable {
  /// How many records were changed.
  public let recordCount: Int
  /// The names of the entities of which a change of the write stays, in alphabetical order.
  ///
  /// Entities are named that keep no history or no images, and both entities of links that are not
  /// made again. An entity is also named where its records keep the places that the write gave
  /// them. A write by an earlier version of the
  /// library does not say whether it changed entities without a history: then all of these are
  /// named.
  public let stayingEntities: [String]
}

/// The undo of one write: first checked, then applied.
struct HistoryUndo {
  let core: WriteCore
  let log: HistoryLog
  /// The number of the write.
  let number: UInt64
  /// Whether what cannot be taken back stays.
  let isPartial: Bool
  /// The number under which the images of the write are kept.
  let image: UInt64
  /// The changes to take back; those of updates without derived attributes.
  var changes: [HistoryPart.Change] = []
  var links: [HistoryPart.Links] = []
  /// The changes of earlier writes of the same commit, which keep their images under the same
  /// number.
  let siblings: [HistoryPart.Change]
  /// Later writes of which nothing is left.
  let takenBack: Set<UInt64>
  /// The names of entities of which something stays.
  var staying: Set<String> = []
  /// Whether a change stays that the history reports.
  var leavesTold = false
  /// By entity, attributes of records of ``siblings`` that lead to removed records.
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
      throw StoreError.cannotUndo(number, "the history does not tell of it")
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
    takenBack = try log.writesTakenBack(after: number)
    links = found.flatMap(\.links)
    for change in found.flatMap(\.changes) {
      guard !change.isExpired else {
        throw StoreError.cannotUndo(
          number, "it removed records that had expired, and they would be removed again")
      }
      if let kind = try entity(change.entity).own(change.kind) {
        changes.append(HistoryPart.Change(entity: change.entity, kind: kind, ids: change.ids))
      }
    }
    try noteUntold(header.untold)
  }

  /// Notes the entities without a history that the write changed too; throws where nothing may
  /// stay.
  ///
  /// - Parameter untold: their numbers; `nil` for a write of an earlier version, which may have
  ///   changed any.
  private mutating func noteUntold(_ untold: [EntityNumber]?) throws(StoreError) {
    guard let untold else {
      let without = core.schema.entities.filter { $0.description.history == nil }
      staying.formUnion(without.map(\.name))
      return
    }
    let names = untold.map { number in
      core.schema.entities.first { $0.number == number }?.name ?? "entity \(number)"
    }
    staying.formUnion(names)
    guard isPartial || names.isEmpty else {
      throw .cannotUndo(
        number,
        "it also changed \(names.sorted().joined(separator: ", ")), of which no history is kept; "
          + "'undoPartly' takes back the rest, and says what stays")
    }
  }

  func entity(_ number: EntityNumber) throws(StoreError) -> StoredEntity {
    guard let entity = core.schema.entities.first(where: { $0.number == number }) else {
      throw .cannotUndo(self.number, "entity \(number) is not there any more")
    }
    return entity
  }

  func relationship(_ group: HistoryPart.Links) throws(StoreError) -> StoredRelationship {
    guard
      let relationship = core.schema.relationships.first(where: {
        $0.description.number == group.relationship
      }), relationship.linksFrom != nil
    else { throw .cannotUndo(number, "a relationship of it is not there any more") }
    return relationship
  }

  func imageKey(_ entity: StoredEntity, _ id: UInt64) -> HistoryKey {
    .image(entity: entity.number, id: id, transaction: image)
  }

  /// The ids among `ids` that are records.
  func records(_ ids: IDRuns, of entity: StoredEntity) throws(StoreError) -> [UInt64] {
    var found: [UInt64] = []
    try wrappingErrors {
      try ToldIDs(ids, recordsOf: entity, core).forEach { found.append($0) }
    }
    return found
  }

  /// The records of an entity that the write deleted, which are restored.
  func restored(_ entity: EntityNumber) -> IDRuns {
    IDRuns(
      changes.filter { $0.kind == .deleted && $0.entity == entity }.flatMap(\.ids.ranges))
  }
}

extension StoredEntity {
  /// A change without its derived attributes; `nil` for an update of nothing else.
  func own(_ kind: HistoryPart.Change.Kind) -> HistoryPart.Change.Kind? {
    guard case .updated(let attributes) = kind else { return kind }
    let own = attributes.filter { description.attribute(number: $0)?.derivation == nil }
    return own.isEmpty ? nil : .updated(own)
  }
}

extension HistoryLog {
  /// The writes after `number` of which nothing is left: those that were taken back, and the undos
  /// of these.
  ///
  /// The last write is visited first, since an undo that was undone has taken nothing back.
  fileprivate func writesTakenBack(after number: UInt64) throws -> Set<UInt64> {
    var takenBack: Set<UInt64> = []
    try forEachPart(from: number + 1, backwards: true) { later, _, part in
      if let undone = part.header?.undoes, undone > number, !takenBack.contains(later) {
        takenBack.formUnion([later, undone])
      }
      return true
    }
    return takenBack
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
