internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows

extension PageReading {
  /// The number of nearest or most similar records that the page of a record shows.
  private static let mostNeighbours = 10

  /// The records that are nearest to a record by its places and vectors.
  func neighbours(
    of reader: DynamicRecord.Reader, _ entity: DynamicEntity, _ id: UInt64
  ) throws -> [Section] {
    var sections: [Section] = []
    for (position, index) in entity.placeIndexes.enumerated() {
      guard let place = try entity.place(in: reader, by: position) else { continue }
      let name = Self.name("nearest", position, index)
      sections += try neighbours(
        entity, id, index, Section(name, heading: "Nearest records", .facts([])), "Show on the map"
      ) { $0.near = NearPlace(place) }
    }
    for (position, index) in entity.vectorIndexes.enumerated()
    where entity.vector(in: reader, by: position) != nil {
      let name = Self.name("similar", position, index)
      sections += try neighbours(
        entity, id, index, Section(name, heading: "Similar records", .facts([])), "Show more"
      ) { $0.similar = id }
    }
    return sections
  }

  /// The member of the form `json`, with the name of the index if it is not the first.
  private static func name(_ word: String, _ position: Int, _ index: DynamicIndex) -> String {
    position == 0 ? word : "\(word) \(index.shortName)"
  }

  /// A section with the first records of a selection, without the record with the id itself.
  private func neighbours(
    _ entity: DynamicEntity, _ id: UInt64, _ index: DynamicIndex, _ section: Section,
    _ linkText: String, _ change: (inout Selection) -> Void
  ) throws -> [Section] {
    var selection = Selection().with(change)
    let route = Route.index(entity.name, index.shortName, selection)
    selection.indexes = [index.shortName]
    if selection.near != nil { selection.condition = "\(DynamicRecord.idName) != \(id)" }
    let query = SelectedQuery(snapshot: snapshot, entity: entity, selection: selection)
    var columns = try relatedColumns(of: entity)
    var section = section
    do {
      let request = try query.request()
      if let distance = try snapshot.query(request, of: entity).distance {
        columns.addDistance(distance)
      }
      let batch = try RecordBatch(
        entity: entity.name, columns: columns, request: request,
        count: Self.mostNeighbours, byteCount: limits.pageBytes,
        limits: limits.together(limits.count),
        isContinued: false
      ).read(snapshot, entity)
      guard !batch.rows.isEmpty else { return [] }
      var table = Table(columns.headings, batch.rows)
      (table.nextPage, table.nextTitle) = (route, linkText)
      section.content = .table(table)
    } catch let error as StoreError where error.code == .cancelled {
      var notice = Notice(.note, "The records were not found within \(limits.count).")
      notice.link = (linkText, route)
      section.content = .notice(notice)
    } catch let error as StoreError where error.code == .invalidQuery {
      // A vector of zeros has no angle to others.
      return []
    }
    return [section]
  }
}
