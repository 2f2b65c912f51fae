internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

// The part of calls returning entities that is not compiled into the program. The calls themselves
// are inlinable, so that `read(from:)` is specialised in the program. Through a witness table, with
// a copy of each value, reading took a third more instructions. The functions here are called once
// for each call of the program, and pass readers to its closure.

extension TransactionAccess {
  /// Calls `body` with the record `id`, if there is one.
  @usableFromInline
  func readRecord<E: Entity>(
    _ type: E.Type, _ id: UInt64, _ body: (inout RecordReader) throws -> Void
  ) throws(StoreError) {
    let entity = try core.entity(type)
    guard let bytes = try core.record(id, of: entity) else { return }
    try wrappingErrors { try core.withReader(bytes, id: id, of: entity, body) }
  }

  /// Calls `body` with each existing record with one of `ids`, and its position in `ids`, in any
  /// order.
  @usableFromInline
  func readRecords<E: Entity>(
    _ type: E.Type, _ ids: [UInt64], _ body: (Int, inout RecordReader) throws -> Void
  ) throws(StoreError) {
    let entity = try core.entity(type)
    var texts = SharedTexts()
    defer { texts.deallocate() }
    try core.forEachRecord(ids, of: entity) { position, bytes in
      guard let bytes else { return }
      try core.withReader(
        bytes, id: ids[position], of: entity, textTables: texts.next(of: entity.layout)
      ) { try body(position, &$0) }
    }
  }

  /// Calls `body` like ``readRecords(_:_:_:)``, and reports the records that it cannot read.
  @usableFromInline
  func readRecords<E: Entity>(
    _ ids: [UInt64], onUnreadable report: (UnreadableRecord<E>) -> Void,
    _ body: (Int, inout RecordReader) throws -> Void
  ) throws(StoreError) {
    let entity = try core.entity(E.self)
    try core.forEachRecord(ids, of: entity) { position, bytes in
      guard let bytes else { return }
      core.read(bytes, id: ids[position], of: entity, onUnreadable: report) {
        try body(position, &$0)
      }
    }
  }

  /// Calls `body` with the results of `query` in order, until it returns false.
  ///
  /// - Parameter reserve: called first with the number of results, if it is known.
  @usableFromInline
  func readResults<E: Entity>(
    of query: Query<E>, reserve: (Int) -> Void = { _ in },
    _ body: (inout RecordReader) throws -> Bool
  ) throws(StoreError) {
    try core.readResults(of: try core.run(query), reserve: reserve, body)
  }

  /// Calls `body` like ``readResults(of:reserve:_:)``, and reports the records that it cannot read.
  @usableFromInline
  func readResults<E: Entity>(
    of query: Query<E>, onUnreadable report: (UnreadableRecord<E>) -> Void,
    _ body: (inout RecordReader) throws -> Bool
  ) throws(StoreError) {
    try core.readResults(of: try core.run(query), onUnreadable: report, body)
  }

  /// Calls `body` like ``readResults(of:reserve:_:)``, and throws its errors unchanged, since
  /// `body` runs code of the program.
  @usableFromInline
  func readEach<E: Entity>(of query: Query<E>, _ body: (inout RecordReader) throws -> Bool) throws {
    var thrown: (any Error)?
    try readResults(of: query) { reader in
      do {
        return try body(&reader)
      } catch {
        thrown = error
        return false
      }
    }
    if let thrown { throw thrown }
  }

  /// Calls `body` with one page of the results of `query`, and returns the token for the next page.
  @usableFromInline
  func readPage<E: Entity>(
    of query: Query<E>, _ body: (inout RecordReader) throws -> Void
  ) throws(StoreError) -> ContinuationToken? {
    let run = try core.run(query)
    return try run.forEachOfPage { id, bytes in
      try core.withReader(bytes, id: id, of: run.entity, body)
    }
  }

  /// Calls `body` like ``readPage(of:_:)``, and reports the records that it cannot read.
  @usableFromInline
  func readPage<E: Entity>(
    of query: Query<E>, onUnreadable report: (UnreadableRecord<E>) -> Void,
    _ body: (inout RecordReader) throws -> Void
  ) throws(StoreError) -> ContinuationToken? {
    let run = try core.run(query)
    return try run.forEachOfPage { id, bytes in
      core.read(bytes, id: id, of: run.entity, onUnreadable: report, body)
    }
  }
}

extension TransactionCore {
  /// Calls `body` with the results of `run`, until it returns false.
  ///
  /// - Parameter reserve: called first with the number of results, if it is known.
  @inline(__always)
  func readResults(
    of run: PlanRun, reserve: (Int) -> Void, _ body: (inout RecordReader) throws -> Bool
  ) throws(StoreError) {
    if let count = run.certainCount { reserve(count) }
    var texts = SharedTexts()
    defer { texts.deallocate() }
    try run.forEach { id, bytes in
      try withReader(
        bytes, id: id, of: run.entity, textTables: texts.next(of: run.entity.layout), body)
    }
  }

  /// Calls `body` like ``readResults(of:reserve:_:)``, and reports the records that it cannot read.
  func readResults<E: Entity>(
    of run: PlanRun, onUnreadable report: (UnreadableRecord<E>) -> Void,
    _ body: (inout RecordReader) throws -> Bool
  ) throws(StoreError) {
    try run.forEach { id, bytes in
      var goesOn = true
      read(bytes, id: id, of: run.entity, onUnreadable: report) { goesOn = try body(&$0) }
      return goesOn
    }
  }

  /// Calls `body` with a record, or `report` with the record's id and the error if reading fails.
  ///
  /// Nothing but the bytes of the record is read here, so an error is always one of that record.
  func read<E: Entity>(
    _ bytes: ByteView, id: UInt64, of entity: StoredEntity,
    onUnreadable report: (UnreadableRecord<E>) -> Void, _ body: (inout RecordReader) throws -> Void
  ) {
    do {
      try withReader(bytes, id: id, of: entity, body)
    } catch {
      report(UnreadableRecord(id, error))
    }
  }

  /// Calls `body` with a reader of a record, converted to ``StoredEntity/decodingLayout`` if it has
  /// another layout.
  @inline(__always)
  func withReader<R>(
    _ bytes: ByteView, id: UInt64, of entity: StoredEntity,
    textTables: UnsafeMutablePointer<TextTable>? = nil, _ body: (inout RecordReader) throws -> R
  ) throws -> R {
    let layout = entity.decodingLayout
    guard !store.options.verifiesChecksums, let heapOffset = layout.narrowHeapOffset(in: bytes)
    else { return try withOtherReader(bytes, id: id, of: entity, body) }
    var reader = RecordReader(
      bytes.start, layout, heapStart: heapOffset, isWide: false, entity: entity.label, recordID: id,
      textTables: textTables)
    return try body(&reader)
  }

  /// Calls `body` with a reader of a record that has an older layout, wide offsets, or a checksum
  /// to verify.
  @inline(never)
  private func withOtherReader<R>(
    _ bytes: ByteView, id: UInt64, of entity: StoredEntity, _ body: (inout RecordReader) throws -> R
  ) throws -> R {
    let view = try entity.view(bytes, id: id, verifying: store.options.verifiesChecksums)
    if view.isOf(entity.decodingLayout) {
      var reader = RecordReader(view, entity: entity.label, recordID: id)
      return try body(&reader)
    }
    let carried = try carriedOver(view, id: id, of: entity, to: entity.decodingLayout)
    return try carried._withBytes { bytes in
      var reader = RecordReader(
        try entity.view(carriedOver: bytes, id: id), entity: entity.label, recordID: id)
      return try body(&reader)
    }
  }

  /// Calls `body` with the records with `ids`, in the order of `ids`; throws for a missing one.
  func readRecords(
    _ ids: ArraySlice<UInt64>, of entity: StoredEntity, _ body: (inout RecordReader) throws -> Void
  ) throws(StoreError) {
    var texts = SharedTexts()
    defer { texts.deallocate() }
    try forEachRecord(ids, of: entity) { id, bytes in
      try withReader(
        bytes, id: id, of: entity, textTables: texts.next(of: entity.layout), body)
    }
  }

  /// Calls `body` with the bytes of the records with `ids`, in the order of `ids`; throws for a
  /// missing one.
  @inline(__always)
  func forEachRecord(
    _ ids: ArraySlice<UInt64>, of entity: StoredEntity, _ body: (UInt64, ByteView) throws -> Void
  ) throws(StoreError) {
    try wrappingErrors {
      let lookup = try RecordLookup(entity.records, in: transaction)
      let expired = try expired(of: entity)
      var start = ids.startIndex
      while start < ids.endIndex {
        let end = min(ids.endIndex, start + 512)
        lookup.look(for: ids[start..<end])
        for position in start..<end {
          guard expired?.contains(ids[position]) != true,
            let bytes = try lookup.record(ids[position], at: position - start)
          else { throw StoreError.noSuchRecord(entity: entity.name, id: ids[position]) }
          try body(ids[position], bytes)
        }
        start = end
      }
    }
  }

  /// Calls `body` with the record of each of `ids`, or `nil` if none exists, and its position in
  /// `ids`.
  ///
  /// The order is ascending by id, and many records are looked up at a time.
  func forEachRecord(
    _ ids: [UInt64], of entity: StoredEntity, _ body: (Int, ByteView?) throws -> Void
  ) throws(StoreError) {
    try wrappingErrors {
      let lookup = try RecordLookup(entity.records, in: transaction)
      let expired = try expired(of: entity)
      let order = IDSort.order(of: ids)
      var start = 0
      while start < order.count {
        let end = min(order.count, start + 512)
        lookup.look(for: order[start..<end].lazy.map { ids[Int($0)] })
        for position in start..<end {
          let origin = Int(order[position])
          let isExpired = expired?.contains(ids[origin]) ?? false
          try body(
            origin, isExpired ? nil : try lookup.record(ids[origin], at: position - start))
        }
        start = end
      }
    }
  }
}
