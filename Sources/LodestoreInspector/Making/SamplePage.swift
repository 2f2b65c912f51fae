internal import EntityStore
internal import LodestoreRows

extension EntityPage {
  /// The page with up to `count` of the selected records, from ids spread over the entity.
  func samplePage(_ count: Int) throws -> Page {
    var page = Page(route: route(selection), title: "\(entity.name): sample")
    let names = selection.columns.isEmpty ? usualColumns : selection.columns
    let columns = try RecordColumns(entity, names: names, relationships: relationships)
    do {
      var damages: [String] = []
      var table = Table(columns.headings, try sample(count, columns) { damages.append($0) })
      table.isMain = true
      page.sections = [Section("total", .facts([Fact("records", "Records", .count(total))]))]
      page.sections += damages.map { Section("notice", .notice(Notice(.warning, $0))) }
      page.sections.append(Section("rows", .table(table)))
    } catch {
      let isLate = (error as? StoreError)?.code == .cancelled
      guard let notice = isLate ? lateNotice : Notice(fault: error, of: selection) else {
        throw error
      }
      page.isRefused = true
      page.sections = [Section("notice", .notice(notice))]
    }
    return page
  }

  /// The first selected record from each of `count` ids at equal distances.
  private func sample(
    _ count: Int, _ columns: RecordColumns, _ noteDamage: (String) -> Void
  ) throws -> [Table.Row] {
    let time = limits.time(limits.rows)
    let names = columns.headings.map { CellJSON.text($0.column.name) }
    guard let first = try edge("_id", time), let last = try edge("-_id", time) else { return [] }
    var rows: [Table.Row] = []
    var bytes: [UInt8] = []
    var next = first
    for step in 0..<count {
      let target = step + 1 < count ? first + (last - first) / UInt64(count) * UInt64(step) : last
      var request = try request(from: max(target, next))
      request.limit = 1
      var found: UInt64?
      try snapshot.query(request, of: entity).forEach(control: time.control) { record in
        let row = columns.row(record, noteDamage: noteDamage)
        JSONTwin.append(row, names, to: &bytes)
        if rows.isEmpty || bytes.count <= limits.rowBytes ?? .max { rows.append(row) }
        found = record.id
        return false
      }
      guard let found, found < last else { break }
      next = found + 1
    }
    return rows
  }

  /// The id of the first selected record in an order.
  private func edge(_ order: String, _ time: TimeLimit) throws -> UInt64? {
    var selection = selection
    selection.order = [order]
    var request = try SelectedQuery(
      snapshot: snapshot, entity: entity, selection: selection
    ).request()
    request.limit = 1
    return try snapshot.query(request, of: entity).ids(control: time.control).first
  }

  /// The request for the selected records with at least this id.
  private func request(from id: UInt64) throws -> QueryRequest {
    let bound = "_id >= \(id)"
    return try QueryRequest(format: selection.condition.map { "(\n\($0)\n) AND \(bound)" } ?? bound)
  }
}
