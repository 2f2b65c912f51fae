internal import LodestoreBytes

/// The differences between two stores, or between a store and its earlier state.
///
///     for try await difference in try store.differences(from: older) {
///       if case .record(let record) = difference { print(record.kind, record.entity) }
///     }
///
/// Differences of the schema come first. Records follow by entity, in the order of their ids, or of
/// the matching key. Links, orders and buckets come last. A few differences at a time are in
/// memory. The sequence, and each loop over it, keeps the two commits readable. Each loop starts at
/// the beginning. A loop whose task is cancelled ends with `CancellationError`.
///
/// Values are compared as stored. A record that was only rewritten for a change of the schema is no
/// difference. An attribute that one store lacks has its initial value there. Expired records are
/// left out on both sides, as in every read.
public struct StoreDifferences: AsyncSequence, Sendable {
  /// One difference.
  @_documentation(visibility: internal)
  public typealias Element = StoreDifference

  let source: any DifferenceSource
  let store: StoreCore

  /// The differences of the schema; empty for differences since a token.
  public var schema: [SchemaDifference] { source.schema }

  /// The names of the parts that could not be compared.
  ///
  /// With matching by a unique key, these are attributes with ids of records without a key, and
  /// relationships with link trees. Since a token, these are entities that keep no history or whose
  /// history begins after the token, and `buckets`.
  public var uncompared: [String] { source.uncompared }

  /// Creates an iterator that begins with the first difference.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader) }

  /// A loop over differences.
  @_documentation(visibility: internal)
  public struct AsyncIterator: AsyncIteratorProtocol {
    var reader: DifferenceReader<StoreDifference>

    /// The next difference; `nil` after the last.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> StoreDifference? { try await reader.next() }
  }

  /// Visits the differences on the calling thread, until `body` returns false.
  ///
  /// - Throws: the errors of `body`; ``StoreError/Code/damaged`` for a damaged record;
  ///   ``StoreError/Code/snapshotExpired`` when a snapshot was ended or moved meanwhile.
  /// - Complexity: O(*n*) for *n* records and links of the entities that differ; entities with
  ///   equal digests are not read.
  public func forEach(_ body: (StoreDifference) throws -> Bool) throws { try reader.forEach(body) }

  private var reader: DifferenceReader<StoreDifference> {
    DifferenceReader(source, store, first: schema.map(StoreDifference.schema)) { found in
      switch found {
      case .record(let record): .record(try StoredRecordDifference(record))
      case .link(let link): .link(link)
      case .bucket(let bucket): .bucket(bucket)
      }
    }
  }
}

extension StoredRecordDifference {
  init(_ found: FoundRecord) throws {
    self.init(
      kind: found.kind, entity: found.entity, recordID: found.id,
      oldRecordID: found.kind == .inserted ? found.newID : found.oldID,
      attributes: try found.attributes())
  }
}

/// The records of one entity that differ between two stores, or between a store and its earlier
/// state.
///
/// See ``StoreDifferences``.
public struct RecordDifferences<E: Entity>: AsyncSequence, Sendable {
  /// One difference.
  @_documentation(visibility: internal)
  public typealias Element = RecordDifference<E>

  let source: any DifferenceSource
  let store: StoreCore

  /// The differences of the entity's schema; empty for differences since a token.
  public var schema: [SchemaDifference] { source.schema }

  /// The names of attributes that could not be compared; see ``StoreDifferences/uncompared``.
  public var uncompared: [String] { source.uncompared }

  /// Creates an iterator that begins with the first difference.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader) }

  /// A loop over differences.
  @_documentation(visibility: internal)
  public struct AsyncIterator: AsyncIteratorProtocol {
    var reader: DifferenceReader<RecordDifference<E>>

    /// The next difference; `nil` after the last.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> RecordDifference<E>? { try await reader.next() }
  }

  /// Visits the differences on the calling thread, until `body` returns false.
  ///
  /// - Throws: the errors of ``StoreDifferences/forEach(_:)``; ``StoreError/Code/undecodableValue``
  ///   for a record that cannot be decoded as `E`.
  public func forEach(_ body: (RecordDifference<E>) throws -> Bool) throws {
    try reader.forEach(body)
  }

  private var reader: DifferenceReader<RecordDifference<E>> {
    DifferenceReader(source, store) { found in
      guard case .record(let record) = found else { return nil }
      return try RecordDifference(record)
    }
  }
}

/// A record of `E` that exists in one of two stores, or has different values in them.
public struct RecordDifference<E: Entity>: Sendable, Identifiable {
  /// The kind of the difference.
  public let kind: HistoryChange.Kind
  /// The record's id in the newer store; for a deleted record, in the older store.
  public let id: E.ID
  /// The record in the older store; `nil` for an insert.
  ///
  /// Since a token, the value is also `nil` when the history keeps no image of the record.
  public let old: E?
  /// The record in the newer store; `nil` for a delete.
  public let new: E?
  /// The names of the changed attributes; empty unless the record was updated.
  public let attributes: [String]

  init(_ found: FoundRecord) throws {
    kind = found.kind
    id = RecordID(rawValue: found.id)
    old = try Self.decode(found.old, found.oldID, found.pair.older, found.older)
    new = try Self.decode(found.new, found.newID, found.pair.newer, found.newer)
    attributes = found.changedNames
  }

  private static func decode(
    _ bytes: ByteView?, _ id: UInt64, _ entity: StoredEntity?, _ core: TransactionCore
  ) throws -> E? {
    guard let bytes, let entity else { return nil }
    return try core.decode(E.self, bytes, id: id, of: entity)
  }
}

extension RecordDifference: Equatable where E: Equatable {}
extension RecordDifference: Hashable where E: Hashable {}

// MARK: Two stores

extension ReadableStore {
  /// The differences from `older` to this store, with entities identified by name.
  ///
  ///     for try await difference in try store.differences(from: older) { … }
  ///
  /// Each side is a ``Store`` or a ``PinnedSnapshot``. For a store, its newest commit is pinned.
  /// The two sides may be generations of a dataset, stores of any origin, or two commits of one
  /// store.
  ///
  /// - Parameters:
  ///   - matching: the rule for matching records.
  ///   - entities: the names of the entities to compare, with their links. By default everything is
  ///     compared, including buckets.
  /// - Throws: ``StoreError/Code/unknownEntity`` for a name that neither store has;
  ///   ``StoreError/Code/unknownIndex`` when an entity has no key for matching its records.
  /// - Complexity: O(*e* + *a*) for *e* entities and *a* attributes; the loop reads the records.
  public func differences(
    from older: some ReadableStore, matchingBy matching: DifferenceMatching = .id,
    entities: [String]? = nil
  ) throws -> StoreDifferences {
    let sides = DifferenceSides(older: try DifferenceSide(older), newer: try DifferenceSide(self))
    let pass = try DifferencePass(sides, matching, entities: entities.map(Set.init))
    return StoreDifferences(source: pass, store: sides.newer.store)
  }

  /// The records of `E` that differ from those in `older`, decoded.
  ///
  ///     for try await film in try store.differences(from: older, of: Film.self) {
  ///       print(film.kind, film.old?.title ?? "", film.new?.title ?? "")
  ///     }
  ///
  /// The two stores must have been opened with `E`. See ``differences(from:matchingBy:entities:)``.
  public func differences<E: Entity>(
    from older: some ReadableStore, of _: E.Type, matchingBy matching: DifferenceMatching = .id
  ) throws -> RecordDifferences<E> {
    let sides = DifferenceSides(older: try DifferenceSide(older), newer: try DifferenceSide(self))
    try sides.read { older, newer in
      for core in [older, newer] where core.schema.entity(named: E.schema.name) != nil {
        _ = try core.entity(E.self)
      }
    }
    let pass = try DifferencePass(
      sides, matching, entities: [E.schema.name], onlyRecords: true)
    return RecordDifferences(source: pass, store: sides.newer.store)
  }
}

// MARK: One store and its history

extension ReadableStore {
  /// The differences of this store since an earlier point of its history, with entities identified
  /// by name.
  ///
  ///     for try await difference in try store.differences(since: token) { … }
  ///
  /// Each record is reported once, with all its changes combined. A record that was inserted and
  /// then deleted is left out. So is a record whose old values have returned, if the history keeps
  /// images. Old values come from the image of the first change since the token, and for a deleted
  /// record from the values that ``HistoryPolicy/kept(preserving:images:)`` preserves. Otherwise
  /// they are unknown. The history contains no buckets and no changes of the schema.
  ///
  /// - Parameter entities: the names of the entities to compare, with their links; by default all
  ///   that keep a history.
  /// - Throws: ``StoreError/Code/expiredHistory`` when some of the writes have been purged;
  ///   ``StoreError/Code/invalidQuery`` for a token of another store, and for a named entity that
  ///   keeps no history.
  /// - Complexity: O(*w*) for *w* writes since the token; 16 bytes of memory for each run of
  ///   changed ids, and for each changed link.
  public func differences(
    since token: HistoryToken, entities: [String]? = nil
  ) throws -> StoreDifferences {
    let side = try DifferenceSide(self)
    let pass = try HistoryDifferences(side, since: token, entities: entities.map(Set.init))
    return StoreDifferences(source: pass, store: side.store)
  }

  /// The records of `E` that differ from those at an earlier point of the history, decoded.
  ///
  /// See ``differences(since:entities:)``.
  public func differences<E: Entity>(
    since token: HistoryToken, of _: E.Type
  ) throws -> RecordDifferences<E> {
    let side = try DifferenceSide(self)
    _ = try side.read { try $0.entity(E.self) }
    let pass = try HistoryDifferences(side, since: token, entities: [E.schema.name])
    return RecordDifferences(source: pass, store: side.store)
  }
}
