internal import LodestoreBytes
internal import LodestoreFormat

/// The sinks interested in one entity, with the facts that they need.
struct ChangeListeners {
  private let sinks: [(sink: any ChangeSink, interest: ChangeInterest)]
  /// The union of the needs of all sinks.
  private let needs: ChangeInterest
  private let entity: StoredEntity
  private let count: ChangeCount?
  /// Whether old records are copied before they are reported.
  ///
  /// A write by a sink may move the page that contains the old record, while this sink or a later
  /// one still reads the record.
  private let copiesOld: Bool
  /// Whether new records that are already in the file are copied before they are reported, because
  /// a sink that writes may move their page.
  private let copiesNew: Bool

  init(_ sinks: ChangeSinks?, of entity: StoredEntity) {
    self.entity = entity
    count = sinks?.count
    self.sinks = (sinks?.all ?? []).compactMap { sink in
      sink.interest(in: entity).map { (sink, $0) }
    }
    needs = self.sinks.reduce(into: []) { $0.formUnion($1.interest) }
    let writes = self.sinks.contains { $0.sink.writesOnRecord }
    copiesOld = writes && needs.contains(.oldRecord)
    copiesNew = writes && needs.contains(.newRecord)
  }

  /// Whether any sink is interested in the entity.
  @inline(__always)
  var isAny: Bool { !sinks.isEmpty }

  /// Whether a sink needs the bytes when an update changes the attributes with these numbers.
  func wantBytes(ofUpdateOf attributes: Set<UInt32>) -> Bool {
    sinks.contains { sink, interest in
      !interest.isDisjoint(with: [.oldRecord, .newRecord, .attributes])
        && sink.isConcerned(byUpdateOf: attributes, of: entity)
    }
  }

  var wantNewRecords: Bool { needs.contains(.newRecord) }

  var wantOldRecords: Bool { needs.contains(.oldRecord) }

  /// Whether a removal of all records is reported record by record.
  var wantEachRemoval: Bool { !needs.isDisjoint(with: [.oldRecord, .eachRemoval]) }

  private func report(_ sink: any ChangeSink, _ change: RecordChange) throws(StoreError) {
    try sink.record(change, of: entity)
  }

  /// Reports new records with consecutive ids.
  ///
  /// Sinks that need the bytes receive each record through ``reportInsertedRecord(_:_:)``.
  func reportInserted(_ ids: Range<UInt64>) throws(StoreError) {
    guard !ids.isEmpty else { return }
    count?.note(entity)
    for (sink, interest) in sinks where !interest.contains(.newRecord) {
      try report(sink, .inserted(ids))
    }
  }

  /// Reports one of the records of ``reportInserted(_:)``.
  func reportInsertedRecord(_ id: UInt64, _ new: RecordView) throws(StoreError) {
    for (sink, interest) in sinks where interest.contains(.newRecord) {
      try report(sink, .insertedRecord(id, new))
    }
  }

  /// Reports one of the records of ``reportInserted(_:)`` that is in the file already.
  func reportStored(_ id: UInt64, _ new: RecordView) throws(StoreError) {
    try withStable(new, id, copies: copiesNew) { (new) throws(StoreError) in
      try reportInsertedRecord(id, new)
    }
  }

  func reportInserted(_ id: UInt64, _ new: RecordView) throws(StoreError) {
    try reportInserted(id..<id + 1)
    try reportInsertedRecord(id, new)
  }

  func reportUpdated(
    _ id: UInt64, _ old: RecordView, _ new: RecordView, _ core: WriteCore
  ) throws(StoreError) {
    try withStable(old, id, copies: copiesOld) { (old) throws(StoreError) in
      try reportEachUpdated(id, old, new, core)
    }
  }

  /// Calls `body` with a record of the file, or with a copy if `copies` is true.
  ///
  /// A copy stays valid when a sink writes and thereby moves the record's page.
  @inline(__always)
  private func withStable(
    _ record: RecordView, _ id: UInt64, copies: Bool,
    _ body: (RecordView) throws(StoreError) -> Void
  ) throws(StoreError) {
    if !copies { return try body(record) }
    try Array(record.bytes)._withBytes { (bytes) throws(StoreError) in
      try body(try entity.view(bytes, id: id))
    }
  }

  private func reportEachUpdated(
    _ id: UInt64, _ old: RecordView, _ new: RecordView, _ core: WriteCore
  ) throws(StoreError) {
    count?.note(entity)
    let attributes =
      needs.contains(.attributes) ? try core.differences(old, new, id: id, of: entity) : nil
    for (sink, interest) in sinks {
      let change = RecordChange.updated(
        id, old: interest.contains(.oldRecord) ? old : nil,
        new: interest.contains(.newRecord) ? new : nil,
        attributes: interest.contains(.attributes) ? attributes : nil)
      try report(sink, change)
    }
  }

  /// Reports an update for which no sink needs bytes or attributes; see ``wantBytes(ofUpdateOf:)``.
  func reportUpdated(_ id: UInt64) throws(StoreError) {
    count?.note(entity)
    for (sink, _) in sinks { try report(sink, .updated(id, old: nil, new: nil, attributes: nil)) }
  }

  func reportRemoved(_ id: UInt64, _ old: RecordView) throws(StoreError) {
    count?.note(entity)
    try withStable(old, id, copies: copiesOld) { (old) throws(StoreError) in
      for (sink, interest) in sinks {
        try report(sink, .removed(id, old: interest.contains(.oldRecord) ? old : nil))
      }
    }
  }

  func reportCleared(_ count: Int) throws(StoreError) {
    self.count?.note(entity)
    for (sink, _) in sinks { try report(sink, .cleared(count: count)) }
  }

  /// Reports one of the records of ``reportCleared(_:)``.
  ///
  /// `old` must not be `nil` when ``wantOldRecords`` is true.
  func reportClearedRecord(_ id: UInt64, _ old: RecordView?) throws(StoreError) {
    guard let old else { return try reportEachCleared(id, nil) }
    try withStable(old, id, copies: copiesOld) { (old) throws(StoreError) in
      try reportEachCleared(id, old)
    }
  }

  private func reportEachCleared(_ id: UInt64, _ old: RecordView?) throws(StoreError) {
    for (sink, interest) in sinks where !interest.isDisjoint(with: [.oldRecord, .eachRemoval]) {
      try report(sink, .removed(id, old: interest.contains(.oldRecord) ? old : nil))
    }
  }
}

extension WriteCore {
  /// Returns the attributes of the current layout in which two records differ; `new` has that
  /// layout.
  func differences(
    _ old: RecordView, _ new: RecordView, id: UInt64, of entity: StoredEntity
  ) throws(StoreError) -> AttributeSet {
    if old.layout === entity.layout { return entity.differences(old, new) }
    return try carriedOver(old, id: id, of: entity)._withBytes { (bytes) throws(StoreError) in
      entity.differences(try entity.view(bytes, id: id), new)
    }
  }
}

extension StoredEntity {
  /// Returns the attributes in which two records of the current layout differ.
  fileprivate func differences(_ old: RecordView, _ new: RecordView) -> AttributeSet {
    var found = AttributeSet(count: layout.slots.count)
    for (position, slot) in layout.slots.enumerated() where !old.hasSameValue(as: new, at: slot) {
      found.insert(position)
    }
    return found
  }
}
