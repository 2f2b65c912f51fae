internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension PlanRun {
  /// Visits the values of some attributes of the results, read from index entries alone.
  ///
  /// Returns false, and visits nothing, if the index does not cover the query. Text that is not
  /// ASCII is normalized in keys, so it is read from the record.
  func forEachCovered(
    _ attributes: [UInt32], _ body: ([Value]) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    guard plan.isAnsweredByEntries, start == nil, case .index(let access) = plan.access else {
      return false
    }
    var positions: [Int] = []
    for attribute in attributes {
      guard let position = access.index.description.attributes.firstIndex(of: attribute) else {
        return false
      }
      positions.append(position)
    }
    return try wrappingErrors {
      switch plan.arrangement {
      case .index(let isReversed): try inOrder(access, positions, isReversed: isReversed, body)
      case .natural(let isReversed): try byID(access, positions, isReversed: isReversed, body)
      case .sort, .groups, .merge, .ranked: return false
      }
      return true
    }
  }

  private func inOrder(
    _ access: IndexAccess, _ positions: [Int], isReversed: Bool,
    _ body: ([Value]) throws(StoreError) -> Bool
  ) throws {
    var toSkip = plan.request.offset
    var left = plan.request.limit ?? .max
    if left == 0 { return }
    var last = CoveredRow()
    var goesOn = true
    for (range, _) in ranges(of: access, isReversed: isReversed) where goesOn {
      try forEachEntry(of: access, range, isReversed: isReversed) { id, key in
        if toSkip > 0 {
          toSkip -= 1
          return true
        }
        left -= 1
        counts.results += 1
        goesOn =
          try body(
            try values(at: positions, of: key, id: id, by: access, last: &last)) && left > 0
        return goesOn
      }
    }
  }

  private func byID(
    _ access: IndexAccess, _ positions: [Int], isReversed: Bool,
    _ body: ([Value]) throws(StoreError) -> Bool
  ) throws {
    var rows: [(id: UInt64, values: [Value])] = []
    var last = CoveredRow()
    try forEachEntry(of: access) { id, key in
      rows.append(
        (id, try values(at: positions, of: key, id: id, by: access, last: &last)))
      return true
    }
    rows.sort { isReversed ? $0.id > $1.id : $0.id < $1.id }
    for row in rows.dropFirst(plan.request.offset).prefix(plan.request.limit ?? .max) {
      try tick()
      counts.results += 1
      guard try body(row.values) else { return }
    }
  }

  /// The values of one entry and the bytes of their elements, reused for following entries with
  /// equal elements.
  private struct CoveredRow {
    var elements: [UInt8] = []
    var values: [Value] = []
  }

  private func values(
    at positions: [Int], of key: ByteView, id: UInt64, by access: IndexAccess,
    last: inout CoveredRow
  ) throws -> [Value] {
    guard !key.isEmpty else { return try recordValues(positions, id, access) }
    if !last.values.isEmpty, KeyDecoder.isElements(last.elements, atBeginningOf: key) {
      return last.values
    }
    var decoder = KeyDecoder(key)
    var elements: [Value] = []
    for _ in 0...(positions.max() ?? 0) { elements.append(try decoder.next()) }
    for position in positions {
      if elements[position].isNormalizedText { return try recordValues(positions, id, access) }
    }
    last.elements = Array(key[..<decoder.offset])
    last.values = positions.map { elements[$0] }
    return last.values
  }

  func recordValues(_ positions: [Int], _ id: UInt64, _ access: IndexAccess) throws -> [Value] {
    guard let bytes = try core.storedRecord(id, of: entity) else { throw missing(id) }
    counts.recordsRead += 1
    let view = try entity.view(bytes, id: id)
    return try positions.map { position in
      let number = access.index.description.attributes[position]
      return try view.value(
        ofAttribute: number,
        initial: entity.description.attribute(number: number)?.initial ?? .null)
    }
  }
}

extension Value {
  /// Whether the value is a text that is not ASCII, so that an index key may hold another form than
  /// the record.
  var isNormalizedText: Bool {
    if case .string(let text) = self { !text.utf8.allSatisfy { $0 < 0x80 } } else { false }
  }
}
