internal import LodestoreBytes

extension PlanRun {
  /// Returns the ids of the records that match a search, ascending.
  func collectIDs(_ access: SearchAccess) throws -> [UInt64] {
    guard var node = try SearchContext(access.search, core: core).node() else { return [] }
    node = AllNode.of(node, among: try filter(of: access))
    var ids: [UInt64] = []
    try node.advance(to: 1)
    while node.id != .max {
      try tick()
      counts.entriesRead &+= 1
      ids.append(node.id)
      try node.advance(to: node.id + 1)
    }
    return ids
  }

  /// The records that the other way of the access finds; `nil` if it has none.
  private func filter(of access: SearchAccess) throws -> GivenRecords? {
    try access.beside.map { GivenRecords(try collectIDs($0.path)) }
  }

  /// Visits the records with the highest scores, the best first.
  ///
  /// A record is read only if its score is among the best so far. Records that do not fulfil the
  /// rest of the condition, such as expired ones, are left out.
  func inRankedOrder(
    _ access: SearchAccess, _ body: (UInt64, ByteView) throws -> Bool
  ) throws {
    guard let node = try SearchContext(access.search, core: core).node() else { return }
    let records = try RecordLookup(entity.records, in: core.transaction)
    let wanted = plan.request.wantedCount ?? .max
    let best = try BestMatches.of(node, count: wanted, among: try filter(of: access)) { id in
      try tick()
      counts.entriesRead &+= 1
      guard residual != nil else { return true }
      records.look(for: [id][...])
      guard let bytes = try records.record(id, at: 0) else { throw missing(id) }
      counts.recordsRead &+= 1
      return try passes(bytes, id)
    }
    expect(best.count)
    for match in best {
      records.look(for: [match.id][...])
      guard let bytes = try records.record(match.id, at: 0) else { throw missing(match.id) }
      if residual == nil { counts.recordsRead &+= 1 }
      if try !body(match.id, bytes) { return }
    }
  }
}
