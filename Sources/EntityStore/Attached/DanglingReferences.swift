internal import LodestoreFormat

/// A reference that leads to no record of the dataset.
public struct DanglingReference: Sendable, Hashable {
  /// Why a reference dangles.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Reason: Sendable, Hashable {
    /// No record of the generation has the key. A later generation may have it again.
    case gone
    /// The stored value is no key of the target: the reference was written for a key of other
    /// attributes.
    case otherKey
  }

  /// The entity of the record that has the reference.
  public let entity: String
  /// The number of the record's id.
  public let recordID: UInt64
  /// The attribute that has the reference.
  public let attribute: String
  /// The entity that the reference leads to.
  public let target: String
  /// The key as text.
  public let key: String
  /// The reason why it dangles.
  public let reason: Reason
}

/// The references of a store that lead to no record of a dataset, as a sequence.
///
/// A loop reads one commit of the store and one generation of the dataset, which it keeps until its
/// end; see ``AttachedStore/danglingReferences()``.
public struct DanglingReferences: AsyncSequence, Sendable {
  /// One reference.
  @_documentation(visibility: internal)
  public typealias Element = DanglingReference

  let attached: AttachedStore

  /// Begins with the first reference of the newest commit.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(attached: attached) }

  /// A loop over references.
  @_documentation(visibility: internal)
  public struct AsyncIterator: AsyncIteratorProtocol {
    let attached: AttachedStore
    private var pinned: PinnedAttachment?
    private var place: DanglingPlace? = DanglingPlace()
    private var found: [DanglingReference] = []

    init(attached: AttachedStore) { self.attached = attached }

    /// The next reference; `nil` at the end, and when the task is cancelled.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> DanglingReference? {
      while found.isEmpty {
        guard let place, !Task.isCancelled else { return nil }
        let pinned = try self.pinned ?? attached.pinned()
        self.pinned = pinned
        let (references, next) = try await attached.store.core.onReader {
          try pinned.read { try $0.danglingReferences(from: place) }
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
  /// The loop goes through the entities that the store was opened with, and through each of their
  /// attributes that holds references to an entity of the dataset. References to entities that the
  /// dataset's store was not opened with are left out, as they may be of another dataset.
  ///
  /// - Complexity: O(*n* log *m*) for *n* records; memory for 1,024 records at a time
  public func danglingReferences() -> DanglingReferences { DanglingReferences(attached: self) }
}

/// The place that a search for dangling references has reached.
struct DanglingPlace: Sendable {
  /// The index of the attribute among those with references.
  var attribute = 0
  /// The id of the last record that was checked.
  var recordID: UInt64 = 0
}

extension AttachedSnapshot {
  /// The dangling references of the next records after `place`, and the place to go on from; `nil`
  /// at the end.
  func danglingReferences(
    from place: DanglingPlace
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
    if dataset.core.store.declares(target) {
      let last = try collect(&found, entity, attribute, target, after: place.recordID)
      if let last {
        next.recordID = last
        return (found, next)
      }
    }
    next.attribute += 1
    next.recordID = 0
    return (found, next)
  }

  /// Checks the next records of an entity; returns the id of the last, `nil` where there are no
  /// more.
  private func collect<T: Entity>(
    _ found: inout [DanglingReference], _ name: String, _ attribute: String, _: T.Type,
    after id: UInt64
  ) throws -> UInt64? {
    let entity = try core.entity(named: name)
    let names = core.store.declaration(of: entity.description)?.attributes.map(\.name) ?? []
    guard let ordinal = names.firstIndex(of: attribute) else { return nil }
    let column = try ValueColumn(entity, ordinal)
    var request = QueryRequest(
      condition: .comparison(
        Comparison(
          .path(ValuePath(attribute: BoundAttribute.recordIDName)), .greater,
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
    for (record, id) in zip(records, ids) where id == 0 {
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
  /// Whether the store was opened with the type.
  fileprivate func declares<E: Entity>(_: E.Type) -> Bool { name(of: E.self) != nil }
}
