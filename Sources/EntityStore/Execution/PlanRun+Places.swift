internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension PlanRun {
  /// Returns the ids of the records whose places are in a region, ascending.
  ///
  /// A record is read only if its place is at the border of the region. The rest of the condition,
  /// which leaves out expired records, is checked later.
  func collectIDs(_ access: PlaceAccess) throws -> [UInt64] {
    try core.prepareSearch()
    var ids: [UInt64] = []
    var atBorder: [UInt64] = []
    let entries = try PlaceEntries(access.place.index.entries, in: core.transaction)
    for range in access.ranges {
      try entries.forEach(in: range) { field, id in
        try tick()
        counts.entriesRead &+= 1
        switch access.place.cover.admits(field) {
        case true?: ids.append(id)
        case nil: atBorder.append(id)
        case false?: break
        }
        return true
      }
    }
    IDSort.sort(&atBorder)
    try forEachRecord(of: atBorder) { id, record in
      if try access.place.admits(record, entity) { ids.append(id) }
    }
    IDSort.sort(&ids)
    return ids
  }

  private func forEachRecord(
    of ids: [UInt64], _ body: (UInt64, RecordUnderTest) throws -> Void
  ) throws {
    let records = try RecordLookup(entity.records, in: core.transaction)
    for id in ids {
      try tick()
      records.look(for: [id][...])
      guard let bytes = try records.record(id, at: 0) else { throw missing(id) }
      counts.recordsRead &+= 1
      let verifies = core.store.options.verifiesChecksums
      let view = try entity.view(bytes, id: id, verifying: verifies)
      try body(id, RecordUnderTest(view: view, id: id))
    }
  }

  /// Visits the records of a region in the order of their distances from its center.
  ///
  /// Records that do not fulfil the rest of the condition, such as expired ones, are left out.
  ///
  /// The nearest of the cells and records known so far comes next: a cell is replaced by its
  /// quarters or by its records. Records at one distance come in the order of their ids. After a
  /// continuation token, cells and entries nearer than the token's distance are left out, so only
  /// the cells at this distance are divided.
  func inOrderOfDistance(
    _ access: PlaceAccess, _ body: (UInt64, ByteView) throws -> Bool
  ) throws {
    guard let center = access.place.center,
      case .circle(_, let meters) = access.place.cover.region
    else { return }
    try core.prepareSearch()
    let entries = try PlaceEntries(access.place.index.entries, in: core.transaction)
    let records = try RecordLookup(entity.records, in: core.transaction)
    let start = try startOfDistances()
    var known = Heap<NearCandidate>()
    func add(_ cell: PlaceCell, _ kind: NearCandidate.Kind) {
      if let start, center.greatestDistance(to: cell) < start.distance { return }
      let distance = center.leastDistance(to: cell)
      known.insert(NearCandidate(distance: distance, kind), by: NearCandidate.precedes)
    }
    add(.whole, .cell(.whole))
    while let next = known.first {
      known.removeFirst(by: NearCandidate.precedes)
      if next.distance > meters { return }
      try tick()
      switch next.kind {
      case .cell(let cell):
        let found = try entries.fields(of: cell)
        counts.entriesRead &+= found?.count ?? PlaceEntries.mostOfCell
        if let found {
          for (field, id) in found { add(field, .entry(id)) }
        } else {
          for quarter in cell.quarters { add(quarter, .cell(quarter)) }
        }
      case .entry(let id):
        records.look(for: [id][...])
        guard let bytes = try records.record(id, at: 0) else { throw missing(id) }
        counts.recordsRead &+= 1
        let record = RecordUnderTest(view: try entity.view(bytes, id: id), id: id)
        guard try passes(bytes, id), let distance = try access.place.distance(record, entity),
          distance <= meters, start.map({ $0 < (distance, id) }) ?? true
        else { continue }
        known.insert(NearCandidate(distance: distance, .record(id)), by: NearCandidate.precedes)
      case .record(let id):
        records.look(for: [id][...])
        guard let bytes = try records.record(id, at: 0) else { throw missing(id) }
        if try !body(id, bytes) { return }
      }
    }
  }

  /// The distance and the id in the continuation token, for an order by distance.
  private func startOfDistances() throws -> (distance: Double, id: UInt64)? {
    guard let start else { return nil }
    guard let end = SortKeyWriter.distance(inKey: start) else {
      throw StoreError.badToken("it has no distance")
    }
    return end
  }
}

/// A cell, an entry or a record on the way to the nearest records.
private struct NearCandidate {
  enum Kind {
    case cell(PlaceCell)
    /// An entry, whose place is known to a field of the grid.
    case entry(UInt64)
    case record(UInt64)
  }

  /// The distance of a record; for a cell or an entry, a distance that no place of it falls below.
  let distance: Double
  let kind: Kind

  init(distance: Double, _ kind: Kind) {
    self.distance = distance
    self.kind = kind
  }

  /// The records come last among equal distances, in the order of ids.
  private var rank: UInt64 { if case .record(let id) = kind { id } else { 0 } }

  static func precedes(_ a: NearCandidate, _ b: NearCandidate) -> Bool {
    a.distance != b.distance ? a.distance < b.distance : a.rank < b.rank
  }
}

/// The entries of a place index.
struct PlaceEntries {
  /// The number of entries up to which the records of a cell are compared one by one.
  static let mostOfCell = 32

  private let cursor: Cursor
  private let name: String

  init(_ index: StoredIndex, in transaction: Transaction) throws {
    cursor = try Cursor(index.tree, in: transaction)
    name = index.name
  }

  /// Visits the fields and record ids of the entries in a range, until `body` returns false.
  func forEach(
    in range: IndexRange, _ body: (PlaceCell, UInt64) throws -> Bool
  ) throws {
    try cursor.forEachEntry(in: range.keys, backwards: false) { (key, _) throws in
      guard key.count == 16 else {
        throw StoreError.damagedIndex(name, "an entry's key has \(key.count) bytes, not 16")
      }
      return try body(
        PlaceCell(position: key.bigEndianUInt64(at: 0)), key.bigEndianUInt64(at: 8))
    }
  }

  /// Returns the fields and record ids of a cell, or `nil` if it has many and can be divided.
  func fields(of cell: PlaceCell) throws -> [(field: PlaceCell, id: UInt64)]? {
    var found: [(field: PlaceCell, id: UInt64)] = []
    let most = cell.level == PlaceCell.deepestLevel ? Int.max : Self.mostOfCell
    try forEach(in: IndexRange(positions: cell.positions)) { field, id in
      found.append((field, id))
      return found.count <= most
    }
    return found.count <= most ? found : nil
  }
}
