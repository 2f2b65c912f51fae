internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Collects the changes of several writes, whose records are read once with their present values.
struct ReplayTogether {
  private let survey: ReplaySurvey
  private let scope: ReplayScope
  private let core: TransactionCore
  /// The changed records of each entity, in the order of the changes.
  private var changes: [EntityNumber: [(ids: IDRuns, isInsert: Bool)]] = [:]
  private var links: [UInt32: [LinkPair: Bool]] = [:]
  /// The header of the last write.
  private(set) var header: HistoryPart.Header?
  /// The relationships of entities whose history was restarted.
  private let replaced: [StoredRelationship]

  init(_ survey: ReplaySurvey, _ scope: ReplayScope, _ core: TransactionCore) {
    self.survey = survey
    self.scope = scope
    self.core = core
    replaced = scope.relationships.filter { relationship in
      survey.restarted.contains(relationship.from.number)
        || survey.restarted.contains(relationship.to.number)
    }
  }

  /// Takes the next part of the history.
  mutating func note(_ part: HistoryPart, _ placed: inout ReplayPlacing) {
    header = part.header ?? header
    for change in part.changes where scope.has(change.entity) {
      changes[change.entity, default: []].append((change.ids, change.kind == .inserted))
    }
    for group in part.links where scope.has(relationship: group.relationship) {
      placed.note(group)
      if group.kind == .moved { continue }
      for pair in group.pairs {
        links[group.relationship, default: [:]][pair] = group.kind == .added
      }
    }
  }

  /// Reads the records and the links.
  func read(
    into builder: inout ReplayStepBuilder, _ placed: inout ReplayPlacing,
    _ body: (ReplayStep) throws -> Void
  ) throws {
    builder.replace(
      survey.restarted.sorted(),
      replaced.filter { $0.linksFrom != nil }.map(\.description.number).sorted())
    for entity in scope.entities {
      let changes = changes[entity.number] ?? []
      for change in changes where change.isInsert { builder.noteInserted(change.ids, of: entity) }
      if survey.restarted.contains(entity.number) {
        try readAll(entity, into: &builder, body)
      } else if !changes.isEmpty {
        try read(changes, of: entity, into: &builder, &placed, body)
      }
    }
    for relationship in replaced {
      placed.replace(relationship)
      guard relationship.linksFrom != nil else { continue }
      let pairs = try core.links(of: relationship)
      if pairs.isEmpty { continue }
      builder.add(
        HistoryPart.Links(
          relationship: relationship.description.number, kind: .added, pairs: pairs))
    }
    let numbers = Set(replaced.map(\.description.number))
    for (relationship, pairs) in links.sorted(by: { $0.key < $1.key })
    where !numbers.contains(relationship) {
      for (kind, isAdded) in [(HistoryPart.Links.Kind.removed, false), (.added, true)] {
        let found = pairs.filter { $0.value == isAdded }.keys.sorted()
        if !found.isEmpty {
          builder.add(HistoryPart.Links(relationship: relationship, kind: kind, pairs: found))
        }
      }
    }
  }

  private func read(
    _ changes: [(ids: IDRuns, isInsert: Bool)], of entity: StoredEntity,
    into builder: inout ReplayStepBuilder, _ placed: inout ReplayPlacing,
    _ body: (ReplayStep) throws -> Void
  ) throws {
    let placesLinks = placed.concerns(entity, core)
    let records = try Cursor(entity.records, in: core.transaction)
    var deleted = IDRuns()
    for id in IDRuns(changes.flatMap(\.ids.ranges)) {
      guard try records.seek(id) else {
        deleted.append(id)
        continue
      }
      if placesLinks { try placed.note(id, records.value, entity, core) }
      builder.put(id, records.value, of: entity)
      if builder.isFull { try body(builder.takeFull()) }
    }
    builder.delete(deleted.subtracting(Self.passing(deleted, changes)), of: entity)
  }

  /// Returns the deleted records that one of the changes has inserted.
  private static func passing(
    _ deleted: IDRuns, _ changes: [(ids: IDRuns, isInsert: Bool)]
  ) -> IDRuns {
    if deleted.isEmpty || !changes.contains(where: \.isInsert) { return IDRuns() }
    var seen: Set<UInt64> = []
    var passing = IDRuns()
    for change in changes {
      for id in change.ids.normalized.intersection(deleted) where seen.insert(id).inserted {
        if change.isInsert { passing.append(id) }
      }
    }
    return passing.normalized
  }

  private func readAll(
    _ entity: StoredEntity, into builder: inout ReplayStepBuilder,
    _ body: (ReplayStep) throws -> Void
  ) throws {
    let cursor = try Cursor(entity.records, in: core.transaction)
    var found = try cursor.first()
    while found {
      builder.put(cursor.integerKey, cursor.value, of: entity)
      if builder.isFull { try body(builder.takeFull()) }
      found = try cursor.next()
    }
  }
}
