internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension PlanRun {
  /// Returns the ids of the records that have a vector, ascending.
  func collectIDs(_ access: VectorAccess) throws -> [UInt64] {
    try core.prepareSearch()
    let search = try VectorSearch(access.vector, in: core.transaction)
    guard let within = access.within else { return try search.allIDs() }
    return try search.ids(among: collectIDs(within))
  }

  /// Visits the records with the nearest vectors, the nearest first.
  ///
  /// The signs of all vectors give candidates, and the levels of the candidates an order. Records
  /// are read in this order until enough fulfil the rest of the condition. Their exact distances
  /// decide.
  func inOrderOfDistance(
    _ access: VectorAccess, _ body: (UInt64, ByteView) throws -> Bool
  ) throws {
    try core.prepareSearch()
    let ids = try access.within.map { try collectIDs($0) }
    let wanted = min(plan.request.wantedCount ?? .max, Int.max / 4)
    // The levels may order vectors with almost equal distances wrongly.
    let needed = 2 * wanted + 16
    let total = try core.transaction.count(of: entity.records)
    var size = max(access.vector.candidates, needed)
    var nearest: [(distance: Double, id: UInt64)] = []
    while true {
      let search = try VectorSearch(access.vector, in: core.transaction)
      let (candidates, areAll) = try search.candidates(size, among: ids, of: total)
      nearest = try exact(try search.sorted(candidates), access.vector, needed)
      counts.entriesRead &+= search.codesRead
      if areAll || nearest.count >= wanted { break }
      size = size > .max / 8 ? .max : size * 8
    }
    nearest.sort { $0.distance != $1.distance ? $0.distance < $1.distance : $0.id < $1.id }
    let records = try RecordLookup(entity.records, in: core.transaction)
    for (_, id) in nearest.prefix(wanted) {
      records.look(for: [id][...])
      guard let bytes = try records.record(id, at: 0) else { throw missing(id) }
      if try !body(id, bytes) { return }
    }
  }

  /// Returns the exact distances of the first `needed` records that fulfil the condition.
  private func exact(
    _ candidates: [VectorSearch.Candidate], _ vector: BoundVector, _ needed: Int
  ) throws -> [(distance: Double, id: UInt64)] {
    var found: [(distance: Double, id: UInt64)] = []
    let records = try RecordLookup(entity.records, in: core.transaction)
    for candidate in candidates {
      if found.count == needed { break }
      try tick()
      records.look(for: [candidate.id][...])
      guard let bytes = try records.record(candidate.id, at: 0) else {
        throw missing(candidate.id)
      }
      counts.recordsRead &+= 1
      guard try passes(bytes, candidate.id) else { continue }
      let record = RecordUnderTest(
        view: try entity.view(bytes, id: candidate.id), id: candidate.id)
      guard let distance = vector.distance(record, entity) else { continue }
      found.append((distance, candidate.id))
    }
    return found
  }
}
