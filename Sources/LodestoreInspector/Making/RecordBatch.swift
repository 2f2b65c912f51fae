internal import EntityStore
internal import LodestoreRows

/// Some of the records that a query finds.
struct RecordBatch: Sendable {
  var entity: String
  var columns: RecordColumns
  var request: QueryRequest
  /// The highest number of records.
  var count: Int
  /// The highest number of bytes of stored records, beyond the first one.
  var byteCount: Int
  /// The limits of the page.
  var limits: PageMaker.Limits
  /// Whether records follow; false for a request that is only for the first ones.
  var isContinued = true

  /// Reads the records, and the token of those that follow, if any follow.
  func read(
    _ snapshot: DynamicSnapshot, _ entity: DynamicEntity, noteDamage: (String) -> Void = { _ in }
  ) throws -> (rows: [Table.Row], token: ContinuationToken?) {
    let control = limits.time(limits.rows).control
    var request = request
    request.limit = count
    var rows: [Table.Row] = []
    var token: ContinuationToken?
    do {
      let names = columns.headings.map { CellJSON.text($0.column.name) }
      var bytes: [UInt8] = []
      var stored = 0
      token = try snapshot.query(request, of: entity).forEachOfPage(control: control) { record in
        stored += record.byteCount
        if stored > byteCount, !rows.isEmpty { throw Full() }
        let row = columns.row(record, noteDamage: noteDamage)
        if let most = limits.rowBytes {
          JSONTwin.append(row, names, to: &bytes)
          if bytes.count > most, !rows.isEmpty { throw Full() }
        }
        rows.append(row)
      }
    } catch is Full {
      // A token belongs to the last record that a page asks for, so the page asks for these only.
      request.limit = rows.count
      token = try snapshot.query(request, of: entity).forEachOfPage(control: control) { _ in }
    }
    guard let token, isContinued else { return (rows, nil) }
    return (rows, try isLast(token, request, snapshot, entity, control) ? nil : token)
  }

  /// Whether no record follows the end of a page.
  private func isLast(
    _ token: ContinuationToken, _ request: QueryRequest, _ snapshot: DynamicSnapshot,
    _ entity: DynamicEntity, _ control: RunControl
  ) throws -> Bool {
    var request = request
    request.after = token
    request.limit = 1
    return try snapshot.query(request, of: entity).ids(control: control).isEmpty
  }

  /// The end of a batch whose records take more bytes than it may have.
  private struct Full: Error {}

  /// Reads the records after a token in transactions of their own.
  ///
  /// - Parameter rest: the highest number of records; `nil` for all.
  static func next(
    _ maker: PageMaker, entity: String, columns: RecordColumns, request: QueryRequest,
    after token: ContinuationToken, rest: Int?
  ) -> Table.Batch.Next {
    {
      try maker.store.read { snapshot in
        guard let stored = snapshot.entity(named: entity) else {
          throw AddressError.notFound("the entity '\(entity)' was removed meanwhile")
        }
        var request = request
        request.after = token
        let count = min(rest ?? .max, maker.limits.batchSize)
        let batch = try RecordBatch(
          entity: entity, columns: columns, request: request, count: count,
          byteCount: maker.limits.batchBytes, limits: maker.limits
        ).read(snapshot, stored)
        let left = rest.map { $0 - batch.rows.count }
        var result = Table.Batch(rows: batch.rows)
        if let token = batch.token, left.map({ $0 > 0 }) ?? true {
          result.next = next(
            maker, entity: entity, columns: columns, request: request, after: token, rest: left)
        }
        return result
      }
    }
  }
}
