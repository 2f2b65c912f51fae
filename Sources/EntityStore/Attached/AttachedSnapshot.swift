internal import LodestoreFormat

/// An immutable view of a store and of its attached dataset: one commit and one generation.
///
/// The calls of ``ReadableTransaction`` read the program's own store; ``dataset`` has the same
/// calls for the dataset. A snapshot cannot outlive the closure that receives it.
public struct AttachedSnapshot: ~Copyable, ReadableTransaction {
  /// The library's implementation; programs cannot use it.
  @_documentation(visibility: internal)
  public var access: TransactionAccess {
    @_lifetime(borrow self) get {
      _overrideLifetime(TransactionAccess(core: core), borrowing: self)
    }
  }

  /// The generation of the dataset.
  public let dataset: Snapshot
  private let kept: TransactionStorage<TransactionCore>
  /// The maximum number of keys in memory for one side of a condition over both stores.
  var keyLimit = SemiJoinLimits.keys
  /// The maximum number of keys for a condition whose query has a limit, an offset or a token.
  var boundedKeyLimit = SemiJoinLimits.keys

  /// The transaction on the program's own store.
  var core: TransactionCore { kept.core }

  init(_ core: TransactionCore, _ dataset: TransactionCore) {
    kept = TransactionStorage(core: core)
    self.dataset = Snapshot(core: dataset)
  }

  // MARK: From the store to the dataset

  /// Returns the record of the dataset to which `reference` leads; `nil` when the generation has
  /// none.
  ///
  /// - Throws: ``StoreError/Code/unknownEntity`` when the dataset's store was not opened with the
  ///   target's type. A missing target is not an error.
  /// - Complexity: O(log *n*)
  public func resolve<T: Entity>(_ reference: Reference<T>?) throws(StoreError) -> T? {
    try dataset.core.targets([reference])[0]?.value
  }

  /// Returns the records to which `references` lead, in their order; `nil` for each dangling
  /// reference.
  ///
  /// The records are found in one pass over the sorted keys.
  ///
  /// - Throws: the errors of ``resolve(_:)-(Reference<T>?)``.
  /// - Complexity: O(*k* log *n*), with each page visited once
  public func resolve<T: Entity>(_ references: [Reference<T>?]) throws(StoreError) -> [T?] {
    try dataset.core.targets(references).map { $0?.value }
  }

  /// Returns the reason why `reference` leads to no record of this generation; `nil` when it leads
  /// to one.
  public func danglingReason<T: Entity>(
    of reference: Reference<T>
  ) throws(StoreError) -> DanglingReference.Reason? {
    guard reference.values != nil else { return .otherKey }
    return try dataset.core.targetIDs([reference])[0] == 0 ? .gone : nil
  }

  /// Returns the records of the program's own store that match `query`, with their referenced
  /// records.
  ///
  /// The reference is at `path`.
  ///
  /// - Throws: the errors of a fetch of the query, and of ``resolve(_:)-(Reference<T>?)``.
  public func fetch<Q: JoinableQuery, V: ReferenceValue>(
    _ query: Q, resolving path: KeyPath<Q.Root.Attributes, Attribute<Q.Root, V>>
  ) throws -> [ResolvedRecord<Q.Root, V.Target>] {
    try resolvedRows(query.attached, ReferenceAttribute(path)).map(\.resolved)
  }
}

/// A record of the program's own store, with the record of the dataset that it references.
public struct ResolvedRecord<E: Entity, T: Entity>: Sendable, Identifiable {
  /// The record.
  public let record: E
  /// The reference; `nil` when the record has none.
  public let reference: Reference<T>?
  /// The record of the dataset; `nil` without a reference, and for a dangling reference.
  public let target: T?

  /// Whether the reference leads to no record of the generation; false for a null reference.
  public var isDangling: Bool { reference != nil && target == nil }
  /// The id of the record.
  public var id: E.ID { record.id }
}

extension ResolvedRecord: Equatable where E: Equatable, T: Equatable {}

extension Entity {
  /// Returns the query for the records whose reference at `path` leads to `target`.
  ///
  ///     let notes = try snapshot.fetch(Note.referring(to: pod, by: \.pod))
  ///
  /// The query compares the reference with the key of `target`, so it can use an index on the
  /// reference.
  ///
  /// - Throws: the errors of ``Reference/init(_:)-(Target)``.
  public static func referring<V: ReferenceValue>(
    to target: V.Target, by path: KeyPath<Attributes, Attribute<Self, V>>
  ) throws(StoreError) -> Query<Self> {
    let key = try Reference(target).stored.value
    return Self.where(ReferenceAttribute<Self, V.Target>(path).isIn([key]))
  }
}
