internal import LMDB
internal import LodestoreFormat

/// A record of a page, with the keys that one of its members contains.
struct LinkedRow {
  /// The position among the page's decoded records.
  var row: Int
  /// The number of the record in its page, counted from 1.
  var record: Int
  var keys: [Value]
}

/// The links that attributes of a page's records hold, after looking up their keys.
struct PageLinks {
  /// The links without a target yet, by row.
  var unresolved: [Int: [Unresolved]] = [:]
  /// The id of the page's first record, if it is new; new record `row` gets this id plus `row`.
  var firstID: UInt64?
  /// The rows of new records in the page that are targets of other records.
  var targets: Set<Int> = []
  /// The records that cannot be stored because a required link has no target.
  var refused: [Int: StoreError] = [:]

  struct Unresolved {
    /// The position of the link in the import's links.
    var link: Int
    /// The index of the attribute's slot in the layout.
    var place: Int
    var record: Int
    var key: Value
  }
}

/// Thrown when records of a page are refused while the page is written.
///
/// The page must then be written again without them.
struct PageRefusals: Error {
  /// The number of the page.
  var page: Int
  /// The rows of new records that were link targets and were not stored.
  var lost: Set<Int> = []
  /// The records with a link that violates a unique index or a rule.
  var refused: [Int: StoreError] = [:]

  mutating func add(_ other: PageRefusals) {
    lost.formUnion(other.lost)
    refused.merge(other.refused) { first, _ in first }
  }
}

extension ImportEngine {
  func linked(_ position: Int, _ page: DecodedPage) -> [LinkedRow] {
    guard let keys = page.links.first(where: { $0.link == position }) else { return [] }
    var rows: [Int: Int] = [:]
    for (row, origin) in page.origins.enumerated() { rows[origin.record] = row }
    return keys.records.compactMap { one in
      rows[one.record].map { LinkedRow(row: $0, record: one.record, keys: one.keys) }
    }
  }

  // MARK: Links of attributes

  /// A key in a member of a page's record, for which no record is stored.
  private struct OpenKey {
    let resolver: LinkResolver
    let slot: RecordLayout.Slot
    let row: Int
    let unresolved: PageLinks.Unresolved
  }

  /// Looks up the keys of to-one links, and writes the ids into the records of a page before the
  /// merge.
  ///
  /// A record without the member does not set the attribute. A key may belong to a new record of
  /// the same page, whose id is computed here. A link whose key no record has becomes null, and its
  /// key is looked up again at the end of the import.
  ///
  /// - Parameter known: records of the page that are known to be refused.
  func resolve(
    _ page: DecodedPage, in batch: inout IncomingRecords, known: PageRefusals?,
    for destination: ImportDestination, state: inout ImportState
  ) throws(StoreError) -> PageLinks {
    let (entity, core) = (destination.entity, destination.core)
    var found = PageLinks()
    found.refused = known?.refused ?? [:]
    let lost = (known?.lost ?? []).union(found.refused.keys)
    var open: [OpenKey] = []
    for (position, link) in links.enumerated() where link.isToOne {
      let resolver = try LinkResolver(link, of: entity, core)
      guard let number = resolver.end.attribute?.number,
        let place = entity.layout.slotIndex(ofAttribute: number)
      else { continue }
      let slot = entity.layout.slots[place]
      let records = linked(position, page)
      try markGiven(records, place, in: &batch, entity)
      let ids = try resolver.ids(of: records.map { $0.keys.first ?? .null })
      for (one, id) in zip(records, ids) {
        if id > 0 || slot.nullBit >= 0 { try batch.setID(id, in: slot, at: one.row) }
        if id > 0 { continue }
        if let key = one.keys.first {
          open.append(
            OpenKey(
              resolver: resolver, slot: slot, row: one.row,
              unresolved: .init(link: position, place: place, record: one.record, key: key)))
        } else if slot.nullBit < 0 {
          found.refused[one.row] = .requiredLinkIsNull(entity.name, link)
        }
      }
    }
    if !open.isEmpty {
      try resolve(
        open, in: &batch, lost: lost, for: destination, state: &state, found: &found)
    }
    return found
  }

  /// Marks a link's attribute as given, so that the merge sets it.
  ///
  /// The attribute is given in records that have the member or in which the program's closure set
  /// it.
  private func markGiven(
    _ records: [LinkedRow], _ place: Int, in batch: inout IncomingRecords, _ entity: StoredEntity
  ) throws(StoreError) {
    let slot = entity.layout.slots[place]
    let rows = Set(records.map(\.row))
    for row in 0..<batch.count {
      let isNull = try batch.view(row, of: entity).isNull(slot)
      if rows.contains(row) {
        batch.setGiven(true, place, at: row)
      } else if isNull || slot.nullBit < 0 {
        batch.setGiven(false, place, at: row)
      }
    }
  }

  private func resolve(
    _ open: [OpenKey], in batch: inout IncomingRecords, lost: Set<Int>,
    for destination: ImportDestination, state: inout ImportState, found: inout PageLinks
  ) throws(StoreError) {
    let (entity, core) = (destination.entity, destination.core)
    var rowsByKey: [String: [Value: Int]] = [:]
    var rest: [OpenKey] = []
    var ofPage: [(open: OpenKey, row: Int)] = []
    for one in open {
      let link = one.resolver.link
      guard link.target == entity.name else {
        rest.append(one)
        continue
      }
      if rowsByKey[link.key] == nil {
        rowsByKey[link.key] = try rows(by: link.key, batch, lost, entity)
      }
      if let row = rowsByKey[link.key]?[one.unresolved.key] {
        ofPage.append((one, row))
      } else {
        rest.append(one)
      }
    }
    // Links that create records come first, because other links may lead to these records.
    for makes in [true, false] {
      for one in rest where one.resolver.link.makesMissing == makes {
        let link = one.resolver.link
        var made: [UInt64] = []
        let id = try one.resolver.ids(of: [one.unresolved.key], made: &made, core).first ?? 0
        try noteMade(made, by: link, entity, in: &state)
        if id > 0 {
          try batch.setID(id, in: one.slot, at: one.row)
        } else if one.slot.nullBit < 0 {
          found.refused[one.row] = .requiredLinkLeadsNowhere(entity.name, link, one.unresolved.key)
        } else {
          found.unresolved[one.row, default: []].append(one.unresolved)
        }
      }
    }
    guard !ofPage.isEmpty else { return }
    // Created records have taken their ids by now, so the next id is known.
    let firstID = try core.newID(of: entity)
    for (one, row) in ofPage {
      let id: UInt64
      if let holder = try holder(of: batch, at: row, in: destination) {
        id = holder
      } else {
        id = firstID &+ UInt64(row)
        found.targets.insert(row)
        found.firstID = firstID
      }
      try batch.setID(id, in: one.slot, at: one.row)
    }
  }

  /// The rows of a page's records, by the value of one of their attributes.
  ///
  /// Of several records with one value, the result contains the record that will be stored.
  private func rows(
    by key: String, _ batch: IncomingRecords, _ lost: Set<Int>, _ entity: StoredEntity
  ) throws(StoreError) -> [Value: Int] {
    guard let number = entity.description.attribute(named: key)?.number,
      let place = entity.layout.slotIndex(ofAttribute: number)
    else { return [:] }
    var rows: [Value: Int] = [:]
    for row in 0..<batch.count
    where batch.isGiven(place, at: row) && !lost.contains(row) {
      let view = try batch.view(row, of: entity)
      let value: Value
      do {
        value = try view.value(at: entity.layout.slots[place])
      } catch {
        throw .damagedRecord(entity: entity.name, recordID: 0, error)
      }
      if value != .null, rule.takesLastOfPage || rows[value] == nil { rows[value] = row }
    }
    return rows
  }

  /// Counts the records that links have created, and remembers those of the imported entity.
  func noteMade(
    _ made: [UInt64], by link: ImportedLink, _ entity: StoredEntity, in state: inout ImportState
  ) throws(StoreError) {
    guard !made.isEmpty else { return }
    state.report.linkCounts.made += made.count
    if link.target == entity.name, rule.distinguishesNewRecords {
      state.madeRecords = (state.madeRecords ?? []) + made
    }
  }

  /// Creates the counter for links held in attributes; `nil` when the import has no such links.
  func linkTally(of entity: StoredEntity, _ core: WriteCore) -> LinkTally? {
    let attributes = links.filter(\.isToOne).compactMap { link in
      core.schema.end(named: link.name, of: entity)?.attribute?.number
    }
    return attributes.isEmpty ? nil : LinkTally(attributes, of: entity)
  }

  /// Throws ``PageRefusals`` when a new record of the page that is a link target was not stored.
  func checkTargets(
    _ links: PageLinks, _ page: DecodedPage, _ outcomes: [BatchMerge.Outcome]
  ) throws {
    guard let firstID = links.firstID else { return }
    let lost = links.targets.filter { row in (try? outcomes[row].id()) != firstID &+ UInt64(row) }
    if lost.isEmpty { return }
    throw PageRefusals(page: page.number, lost: lost)
  }
}

extension MergeRule {
  /// Whether only the last of several records with one key in a page is used.
  ///
  /// If true, importing the same page again changes nothing. If false, the records are merged one
  /// after the other.
  var takesLastOfPage: Bool {
    switch self {
    case .patch, .patchGiven, .closure: false
    case .fail, .ignore, .replace, .reinsert: true
    case .policy(let policies): !policies.takesParts
    }
  }

  /// Whether a stored record is treated differently from a new one.
  ///
  /// If so, records that links have created must be distinguished from other stored records.
  fileprivate var distinguishesNewRecords: Bool {
    switch self {
    case .replace, .reinsert, .patchGiven: false
    case .fail, .ignore, .patch, .policy, .closure: true
    }
  }
}

extension StoreError {
  fileprivate static func requiredLinkIsNull(_ entity: String, _ link: ImportedLink) -> StoreError {
    StoreError(
      .unstorableValue, "'\(link.member)' is null, and required", entity: entity,
      attribute: link.name)
  }

  fileprivate static func requiredLinkLeadsNowhere(
    _ entity: String, _ link: ImportedLink, _ key: Value
  ) -> StoreError {
    StoreError(
      .unstorableValue,
      "'\(link.member)' is required, and no \(link.target) has its key; import that record in an "
        + "earlier page or in the same page", entity: entity, attribute: link.name,
      privateDetail: KeyText.text(of: key))
  }
}
