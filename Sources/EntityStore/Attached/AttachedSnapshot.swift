internal import LodestoreFormat

/// An unchanging view of a store and of its attached dataset: one commit and one generation.
///
/// The calls of ``ReadableTransaction`` read the program's own store; ``dataset`` has the same
/// calls for the dataset. A snapshot cannot outlive the closure that it is passed to.
public struct AttachedSnapshot: ~Copyable, ReadableTransaction {
  /// The library's own part; nothing for others.
  @_documentation(visibility: internal)
  public var access: TransactionAccess {
    @_lifetime(borrow self) get {
      _overrideLifetime(TransactionAccess(core: core), borrowing: self)
    }
  }

  /// The generation of the dataset.
  public let dataset: Snapshot
  private let kept: KeptCore<TransactionCore>
  /// The most keys that one side of a condition over both stores may have in memory.
  var keyLimit = SemiJoinLimits.keys
  /// As ``keyLimit``, for conditions whose query has a limit, an offset or a token.
  var boundedKeyLimit = SemiJoinLimits.keys

  /// The transaction on the program's own store.
  var core: TransactionCore { kept.core }

  init(_ core: TransactionCore, _ dataset: TransactionCore) {
    kept = KeptCore(core: core)
    self.dataset = Snapshot(core: dataset)
  }

  // MARK: To the dataset

  /// Returns the record of the dataset that `reference` leads to; `nil` where the generation has
  /// none.
  ///
  /// - Throws: ``StoreError/Code/unknownEntity`` when the dataset's store was not opened with the
  ///   target's type; never because the target is gone.
  /// - Complexity: O(log *n*)
  public func resolve<T: Entity>(_ reference: Reference<T>?) throws(StoreError) -> T? {
    try dataset.core.targets([reference])[0]?.value
  }

  /// Returns the records that `references` lead to, in their order; `nil` for each that dangles.
  ///
  /// One pass over the sorted keys finds them.
  ///
  /// - Throws: as ``resolve(_:)-(Reference<T>?)``.
  /// - Complexity: O(*k* log *n*), with each page visited once
  public func resolve<T: Entity>(_ references: [Reference<T>?]) throws(StoreError) -> [T?] {
    try dataset.core.targets(references).map { $0?.value }
  }

  /// Returns why `reference` leads to no record of this generation; `nil` where it leads to one.
  public func danglingReason<T: Entity>(
    of reference: Reference<T>
  ) throws(StoreError) -> DanglingReference.Reason? {
    guard reference.values != nil else { return .otherKey }
    return try dataset.core.targetIDs([reference])[0] == 0 ? .gone : nil
  }

  /// Returns the records that `query` finds in the program's own store, each with the record that
  /// the reference at `path` leads to.
  ///
  /// - Throws: as a fetch of the query, and as ``resolve(_:)-(Reference<T>?)``.
  public func fetch<Q: JoinableQuery, V: ReferenceValue>(
    _ query: Q, resolving path: KeyPath<Q.Root.Attributes, Attribute<Q.Root, V>>
  ) throws -> [ResolvedRecord<Q.Root, V.Target>] {
    try resolvedRows(query.attached, ReferenceAttribute(path)).map(\.resolved)
  }
}

/// A record of the program's own store, and the record of the dataset that it refers to.
public struct ResolvedRecord<E: Entity, T: Entity>: Sendable, Identifiable {
  /// The record.
  public let record: E
  /// The reference; `nil` where the record has none.
  public let reference: Reference<T>?
  /// The record of the dataset; `nil` without a reference, and where the reference dangles.
  public let target: T?

  /// Whether there is a reference that leads to no record of the generation.
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
  /// The query compares the reference with that of `target`, so an index over the reference serves
  /// it.
  ///
  /// - Throws: as ``Reference/init(_:)-(Target)``.
  public static func referring<V: ReferenceValue>(
    to target: V.Target, by path: KeyPath<Attributes, Attribute<Self, V>>
  ) throws(StoreError) -> Query<Self> {
    let key = try Reference(target).stored.value
    return Self.where(ReferenceAttribute<Self, V.Target>(path).isIn([key]))
  }
}
