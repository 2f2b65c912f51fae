internal import LodestoreFormat

/// A reference that leads to no record of the dataset.
public struct DanglingReference: Sendable, Hashable {
  /// The reason why a reference dangles.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Reason: Sendable, Hashable {
    /// No record of the generation has the key; a later generation may contain it again.
    case gone
    /// The stored value is not a key of the target: the reference was written for a key of other
    /// attributes.
    case otherKey
  }

  /// The entity of the record with the reference.
  public let entity: String
  /// The number of the record's id.
  public let recordID: UInt64
  /// The attribute that contains the reference.
  public let attribute: String
  /// The entity of the target.
  public let target: String
  /// The key as text.
  public let key: String
  /// The reason why it dangles.
  public let reason: Reason
}

/// The references of a store that lead to no record of a dataset, as a sequence.
///
/// A loop reads one commit of the store and one generation of the dataset, which it pins until its
/// end; see ``AttachedStore/danglingReferences(since:)``.
public struct DanglingReferences: AsyncSequence, Sendable {
  /// A dangling reference.
  @_documentation(visibility: internal)
  public typealias Element = DanglingReference

  let attached: AttachedStore
  /// An older generation: only references to a record that it contains are reported.
  ///
  /// If `nil`, all dangling references are reported.
  let older: Store?

  /// Creates an iterator that begins with the first reference of the newest commit.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(attached: attached, older: older)
  }

  /// A loop over references.
  @_documentation(visibility: internal)
  public struct AsyncIterator: AsyncIteratorProtocol {
    let attached: AttachedStore
    let older: Store?
    fileprivate var pinned: PinnedAttachment?
    fileprivate var place: DanglingPlace? = DanglingPlace()
    fileprivate var found: [DanglingReference] = []

    /// The next reference; `nil` at the end, and when the task is cancelled.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> DanglingReference? {
      while found.isEmpty {
        guard let place, !Task.isCancelled else { return nil }
        let pinned = try self.pinned ?? attached.pinned()
        self.pinned = pinned
        let older = older
        let (references, next) = try await attached.store.core.onReader {
          try pinned.read { snapshot in
            guard let older else { return try snapshot.danglingReferences(from: place, nil) }
            return try older.core.read { try snapshot.danglingReferences(from: place, $0) }
          }
        }
        found = references.reversed()
        self.place = next
      }
      return found.popLast()
    }
  }
}

extension AttachedStore {
  /// The references of all records of the store that lead to no record of the dataset.
  ///
  ///     for try await dangling in attached.danglingReferences() {
  ///       print(dangling.entity, dangling.recordID, dangling.key)
  ///     }
  ///
  /// The loop visits the entities with which the store was opened, and each of their attributes
  /// that contains references to an entity of the dataset. References to entities with which the
  /// dataset's store was not opened are skipped, because they may belong to another dataset.
  ///
  /// With `older` the loop gives only the references that a replacement of the dataset has made
  /// dangling. Their records are in `older`, and not in the current generation.
  ///
  ///     let before = try pods.currentStore
  ///     try await pods.refresh()
  ///     for try await dangling in attached.danglingReferences(since: before) { … }
  ///
  /// References to an entity that is equal in both generations are not read. Digests show this when
  /// both are sealed files with equal schemas.
  ///
  /// - Parameter older: the store of an earlier generation, opened with the same entities.
  /// - Complexity: O(*n* log *m*) for *n* records, with `older` only those that refer to changed
  ///   entities; memory for 1,024 records at a time
  public func danglingReferences(since older: Store? = nil) -> DanglingReferences {
    DanglingReferences(attached: self, older: older)
  }
}

/// The position of a search for dangling references.
struct DanglingPlace: Sendable {
  /// The index of the attribute in the list of attributes with references.
  var attribute = 0
  /// The id of the last record that was checked.
  var recordID: UInt64 = 0
}

extension AttachedSnapshot {
  /// Returns the dangling references of the next records after `place`, and the next position;
  /// `nil` at the end.
  ///
  /// - Parameter older: an older generation; only references to a record that it contains are
  ///   returned. If `nil`, all dangling references are returned.
  func danglingReferences(
    from place: DanglingPlace, _ older: TransactionCore?
  ) throws -> ([DanglingReference], next: DanglingPlace?) {
    let attributes = core.store.declared.flatMap { entity in
      entity.attributes.compactMap { attribute in
        attribute.storage.target.map { (entity.name, attribute.name, $0) }
      }
    }
    guard place.attribute < attributes.count else { return ([], nil) }
    let (entity, attribute, target) = attributes[place.attribute]
    var next = place
    var found: [DanglingReference] = []
    if try dataset.core.store.declares(target) && mayDiffer(target, from: older) {
      let last = try collect(
        into: &found, entity: entity, attribute: attribute, target: target, older: older,
        after: place.recordID)
      if let last {
        next.recordID = last
        return (found, next)
      }
    }
    next.attribute += 1
    next.recordID = 0
    return (found, next)
  }

  /// Returns whether the records of an entity may differ from those of an older generation.
  private func mayDiffer<T: Entity>(_: T.Type, from older: TransactionCore?) throws -> Bool {
    guard let older else { return true }
    var region = ObservedRegion()
    region.entities = [try dataset.core.entity(T.self).number]
    return try StoreReplacement.delta(from: older, to: dataset.core, in: region)?.isEmpty != true
  }

  /// Checks the next records of an entity; returns the id of the last one, or `nil` when there are
  /// no more.
  private func collect<T: Entity>(
    into found: inout [DanglingReference], entity name: String, attribute: String, target _: T.Type,
    older: TransactionCore?, after id: UInt64
  ) throws -> UInt64? {
    let entity = try core.entity(named: name)
    let names = core.store.declaration(of: entity.description)?.attributes.map(\.name) ?? []
    guard let ordinal = names.firstIndex(of: attribute) else { return nil }
    let column = try ValueColumn(entity, ordinal)
    var request = QueryRequest(
      condition: .comparison(
        Comparison(
          .path(ValuePath(attribute: ValuePath.recordIDName)), .greater,
          .value(.integer(unsigned: id)))))
    request.limit = SemiJoinLimits.chunk
    var records: [(id: UInt64, reference: Reference<T>)] = []
    var last: UInt64?
    var count = 0
    try core.run(request, for: entity).forEach { id, bytes in
      count += 1
      last = id
      let row = StoredRow(id: id, bytes: bytes)
      if let reference = try column.reference(of: row, T.self) { records.append((id, reference)) }
      return true
    }
    let ids = try dataset.core.targetIDs(records.map(\.reference))
    var dangling = zip(records, ids).filter { $1 == 0 }.map(\.0)
    if let older {
      let before = try older.targetIDs(dangling.map(\.reference))
      dangling = zip(dangling, before).filter { $1 != 0 }.map(\.0)
    }
    for record in dangling {
      found.append(
        DanglingReference(
          entity: name, recordID: record.id, attribute: attribute, target: T.schema.name,
          key: KeyText.text(of: record.reference.stored.value),
          reason: record.reference.values == nil ? .otherKey : .gone))
    }
    return count == SemiJoinLimits.chunk ? last : nil
  }
}

extension StoreCore {
  /// Returns whether the store was opened with the type.
  fileprivate func declares<E: Entity>(_: E.Type) -> Bool { name(of: E.self) != nil }
}
