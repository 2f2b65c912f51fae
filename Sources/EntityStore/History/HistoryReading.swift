internal import LodestoreEssentials
internal import LodestoreFormat

extension ReadableTransaction where Self: ~Copyable {
  /// The token of the last write that this transaction sees; in a write, without its own changes.
  ///
  /// Read records and this token in one transaction, then continue with the writes after the token.
  public func historyToken() throws(StoreError) -> HistoryToken {
    try HistoryLog(access.core).token()
  }

  /// Returns the writes in the history that match the query, by default the oldest first.
  ///
  /// - Throws: ``StoreError/Code/expiredHistory`` when some of these writes have been purged.
  /// - Complexity: O(*t* + *r*) for *t* writes after the start with *r* ranges of ids.
  public func history(_ query: HistoryQuery) throws -> [HistoryWrite] {
    var found: [HistoryWrite] = []
    try forEachWrite(query) { write, _ in found.append(write) }
    return found
  }

  /// Visits the writes in the history that match the query, in its order, until `body` sets `stop`.
  ///
  /// Only one write at a time is in memory.
  public func forEachWrite(
    _ query: HistoryQuery, _ body: (HistoryWrite, _ stop: inout Bool) throws -> Void
  ) throws {
    try HistoryRun(query, access.core).forEach(body)
  }
}

extension WriteTransaction {
  /// The token that this write will have in the history after its commit.
  ///
  /// Returns `nil` when there is nothing to record so far: no record of an entity with a history
  /// has changed.
  ///
  ///     let token = try store.write { tx in
  ///       try tx.delete(Memo.where { $0.folder == "done" })
  ///       return try tx.ownHistoryToken()
  ///     }
  ///
  /// Call this method after the changes of the write. A write that throws has no token.
  public func ownHistoryToken() throws(StoreError) -> HistoryToken? {
    let recorder = core.sinks?.all.lazy.compactMap { $0 as? HistoryRecorder }.first
    guard let number = recorder?.promisedNumber() else { return nil }
    return HistoryToken(storeID: try HistoryLog(core).storeID(), number: number)
  }
}

/// Runs a query of the history.
struct HistoryRun {
  private let query: HistoryQuery
  private let core: TransactionCore
  private let log: HistoryLog
  private let storeID: UUID
  private let filters: [String: [HistoryQuery.RecordFilter.Decision]]

  init(_ query: HistoryQuery, _ core: TransactionCore) throws {
    self.query = query
    self.core = core
    log = HistoryLog(core)
    storeID = try log.storeID()
    var filters: [String: [HistoryQuery.RecordFilter.Decision]] = [:]
    for filter in query.recordFilters {
      filters[filter.entity, default: []].append(try filter.make(core))
    }
    self.filters = filters
  }

  private func first() throws(StoreError) -> UInt64 {
    switch query.start {
    case .beginning, .date: return 0
    case .token(let token):
      try log.check(token)
      return token.number + 1
    case .write(let token):
      if token.number > 0 { try log.check(token, includesWrite: true) }
      return token.number
    }
  }

  func forEach(_ body: (HistoryWrite, inout Bool) throws -> Void) throws {
    if let limit = query.limitCount, limit <= 0 {
      if limit < 0 { throw StoreError.badQuery("the limit is \(limit)") }
      return
    }
    let first = try first()
    var collected: Collected?
    var left = query.limitCount ?? .max
    var isStopped = false
    func end() throws {
      guard let whole = collected else { return }
      collected = nil
      guard let header = whole.header, isWanted(header),
        let write = try historyWrite(whole, header)
      else { return }
      try body(write, &isStopped)
      left -= 1
      if left == 0 { isStopped = true }
    }
    try log.forEachPart(from: first, before: query.end, backwards: isBackwards) { number, _, part in
      if collected?.number != number {
        try end()
        if isStopped { return false }
      }
      if case .write(let token) = query.start, number != token.number { return false }
      var whole = collected ?? Collected(number: number)
      collected = nil
      whole.header = part.header ?? whole.header
      // The changes of a write are not collected when its author or time already excludes the
      // write.
      let isLeftOut = whole.header.map { !isWanted($0) } ?? false
      if !isLeftOut, query.wantsChanges || filtersChanges { whole.parts.append(part) }
      collected = whole
      return true
    }
    if !isStopped { try end() }
  }

  private struct Collected {
    let number: UInt64
    var header: HistoryPart.Header?
    /// The write's entries in the history, in the order of the visit, which is reversed when the
    /// last write comes first.
    var parts: [HistoryPart] = []
  }

  /// Whether the query returns the last write first.
  private var isBackwards: Bool {
    if case .write = query.start { false } else { query.isNewestFirst }
  }

  private func isWanted(_ header: HistoryPart.Header) -> Bool {
    if case .date(let date) = query.start, header.time < date.timeIntervalSinceReferenceDate {
      return false
    }
    if let authors = query.authors, !(header.author.map(authors.contains) ?? false) { return false }
    return !(header.author.map(query.excludedAuthors.contains) ?? false)
  }

  /// Whether the filters may exclude all changes of a write.
  private var filtersChanges: Bool {
    query.entities != nil || query.kinds != nil || !query.attributes.isEmpty || !filters.isEmpty
  }

  private func historyWrite(
    _ whole: Collected, _ header: HistoryPart.Header
  ) throws -> HistoryWrite? {
    let image = header.images ?? whole.number
    let parts = isBackwards ? whole.parts.reversed() : whole.parts
    var groups: [HistoryChanges.Group] = []
    var restarted: [String] = []
    var undecidedCount = 0
    for change in parts.lazy.flatMap(\.changes) {
      let entity = core.schema.entity(change.entity)
      let name = entity?.name ?? "entity \(change.entity)"
      if let entities = query.entities, !entities.contains(name) { continue }
      if change.kind == .restarted {
        restarted.append(name)
        continue
      }
      let kind = change.kind.public
      if let kinds = query.kinds, !kinds.contains(kind) { continue }
      var attributes: [String] = []
      if case .updated(let numbers) = change.kind {
        attributes = numbers.map {
          entity?.description.attribute(number: $0)?.name ?? "attribute \($0)"
        }
        if let wanted = query.attributes[name], wanted.isDisjoint(with: attributes) { continue }
      }
      var ids = change.ids
      if let filters = filters[name], let entity {
        let found = try matching(
          filters, among: change.ids, of: entity, kind: kind, image: image)
        ids = found.ids
        undecidedCount = undecidedCount.addingClamped(found.undecidedCount)
      }
      if ids.isEmpty { continue }
      groups.append(
        HistoryChanges.Group(
          entity: name, entityNumber: change.entity.rawValue, kind: kind, attributes: attributes,
          ids: ids, isExpired: change.isExpired))
    }
    var links: [HistoryLinks] = []
    if query.kinds?.contains(.updated) ?? true {
      links = parts.flatMap(\.links).compactMap(self.links)
    }
    if filtersChanges, groups.isEmpty, links.isEmpty, restarted.isEmpty, undecidedCount == 0 {
      return nil
    }
    if !query.wantsChanges {
      groups = []
      links = []
    }
    return HistoryWrite(
      token: HistoryToken(storeID: storeID, number: whole.number),
      time: Date(timeIntervalSinceReferenceDate: header.time), author: header.author,
      contextName: header.context, process: Int(clamping: header.process),
      undoes: header.undoes.map { HistoryToken(storeID: storeID, number: $0) },
      changes: HistoryChanges(groups: groups, write: whole.number, image: image),
      links: links, restartedEntities: restarted, unrecordedEntities: unrecordedEntities(header),
      undecidedCount: undecidedCount)
  }

  /// Returns the records in `all` that match all conditions of the entity, and the number of
  /// undecided ones.
  private func matching(
    _ filters: [HistoryQuery.RecordFilter.Decision], among all: IDRuns, of entity: StoredEntity,
    kind: HistoryChange.Kind, image: UInt64
  ) throws -> (ids: IDRuns, undecidedCount: Int) {
    let isDeleted = kind == .deleted
    let number = entity.number
    let write = isDeleted ? image : nil
    let images = try HistoryKeyIDs(in: log, of: write) {
      .image(entity: number, id: $0, write: write ?? 0)
    }
    let preserved = try HistoryKeyIDs(in: log, of: write) {
      .tombstone(entity: number, id: $0, write: write ?? 0)
    }
    var ids = IDRuns()
    var decidedCount = 0
    try PresentIDs(
      all, recordsOf: isDeleted ? nil : entity, kept: [images, preserved].compactMap { $0 }, core
    ).forEach { id in
      var fulfils = true
      for filter in filters {
        guard let decision = try filter(id, kind, image) else { return }
        fulfils = fulfils && decision
      }
      decidedCount += 1
      if fulfils { ids.append(id) }
    }
    return (ids, max(0, all.count - decidedCount))
  }

  private func unrecordedEntities(_ header: HistoryPart.Header) -> [String] {
    (header.untold ?? []).map { number in core.schema.entity(number)?.name ?? "entity \(number)" }
  }

  /// Returns the links as seen from the side of the relationship that has a name; `nil` when a
  /// filter excludes them.
  private func links(_ group: HistoryPart.Links) -> HistoryLinks? {
    guard let end = core.schema.relationship(group.relationship)?.namedEnd else { return nil }
    let isSwapped = end.side == .to
    if let entities = query.entities, !entities.contains(end.source.name),
      !entities.contains(end.target.name)
    {
      return nil
    }
    return HistoryLinks(
      entity: end.source.name, relationship: end.name ?? "", target: end.target.name,
      kind: HistoryLinks.Kind(group.kind),
      links: group.pairs.map {
        isSwapped
          ? HistoryLinks.Link(recordID: $0.to, targetID: $0.from)
          : HistoryLinks.Link(recordID: $0.from, targetID: $0.to)
      }, number: group.relationship)
  }
}

extension HistoryLinks.Kind {
  fileprivate init(_ kind: HistoryPart.Links.Kind) {
    switch kind {
    case .added: self = .added
    case .removed: self = .removed
    case .moved: self = .moved
    }
  }
}

extension HistoryPart.Change.Kind {
  fileprivate var `public`: HistoryChange.Kind {
    switch self {
    case .inserted: .inserted
    case .updated, .restarted: .updated
    case .deleted: .deleted
    }
  }
}

extension StoredRelationship {
  /// The side with a name, which determines the perspective of the relationship.
  var namedEnd: RelationshipEnd { end(end(.from).name == nil ? .to : .from) }
}
