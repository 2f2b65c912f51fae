internal import LMDB
internal import LodestoreFormat

extension PlanRun {
  /// Visits the groups from the entries of an index that begins with the attributes and has those
  /// of the terms; false, before any group, where there is none, or a key is cut.
  func coveredGroups(
    _ keyTerms: [BoundOrder.Term], _ functions: [GroupTerm.Function], _ readers: [TermReader],
    _ body: (GroupRow) throws(StoreError) -> Void
  ) throws -> Bool {
    guard case .scan = plan.access, plan.residual == nil, start == nil,
      keyTerms.allSatisfy({ $0.steps.isEmpty && !$0.attribute.isRecordID })
    else { return false }
    let numbers = keyTerms.map(\.attribute.number)
    var places: [Int?] = []
    let index = entity.indexes.first { index in
      let attributes = index.description.attributes
      guard attributes.starts(with: numbers) else { return false }
      places = []
      for reader in readers {
        guard let number = reader.coveredNumber else {
          guard case .records = reader else { return false }
          places.append(nil)
          continue
        }
        guard let place = attributes.firstIndex(of: number) else { return false }
        places.append(place)
      }
      return true
    }
    guard let index else { return false }
    var rows: [GroupRow] = []
    var isWhole = true
    var current: [UInt8] = []
    var totals = Array(repeating: GroupTotal(), count: readers.count)
    let elementCount = (places.compactMap(\.self).max() ?? -1) + 1
    func end() {
      guard !rows.isEmpty else { return }
      let last = rows.count - 1
      rows[last].values = readers.values(functions, count: rows[last].count, totals[...])
    }
    var elements: [Value] = []
    try core.walk(index, of: entity, .all, isReversed: false) { _, key in
      try tick()
      counts.entriesRead += 1
      // Cut: only the records tell.
      guard !key.isEmpty else {
        isWhole = false
        return false
      }
      let isSame = !current.isEmpty && KeyDecoder.isElements(current, atBeginningOf: key)
      if isSame {
        rows[rows.count - 1].count += 1
        if elementCount == 0 { return true }
      }
      var decoder = KeyDecoder(key)
      elements.removeAll(keepingCapacity: true)
      for _ in keyTerms { elements.append(try decoder.next()) }
      if !isSame {
        end()
        current = Array(key[..<decoder.offset])
        rows.append(GroupRow(keys: elements, count: 1, values: []))
        for index in totals.indices { totals[index] = GroupTotal() }
      }
      while elements.count < elementCount { elements.append(try decoder.next()) }
      for (index, place) in places.enumerated() {
        guard let place else { continue }
        try totals[index].add(DynamicValue(elements[place]), functions[index])
      }
      return true
    }
    guard isWhole else { return false }
    end()
    for row in rows { try body(row) }
    return true
  }
}
