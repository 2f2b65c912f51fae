internal import LMDB
public import LodestoreEssentials
internal import LodestoreFormat

extension Store {
  /// The seal of an open sealed file; `nil` for any other store.
  ///
  /// The seal does not change while the store is open, because nobody writes a sealed file.
  public var seal: Seal? { core.seal.map { Seal($0) } }

  /// Copies the newest commit into a sealed file: compacted, read-only for everyone, with a seal.
  ///
  ///     try store.seal(
  ///       to: "pods-7.lodestore", name: "pods", generation: 7, dataAsOf: fetchedAt)
  ///
  /// The file contains records, indexes, links, orders, buckets and the schema. The file does not
  /// contain history, the pages that importers remember, values of removed attributes, expired
  /// records, or any byte of deleted data. Expired records and those above a limit are first
  /// evicted from the store. One commit always gives equal bytes when name, generation and dates
  /// are equal. ``init(at:entities:options:)-(String,_,_)`` opens the file, always read-only and
  /// without a lock file. See <doc:SealedFiles>.
  ///
  /// Readers and writers continue meanwhile. The file gets its name when it is complete and on
  /// disk, so the path never has a partial file. Everyone who may read the store may read the file.
  ///
  /// - Parameters:
  ///   - path: a path where nothing exists, on any local disk.
  ///   - name: the name of the dataset; see ``Seal/name``.
  ///   - generation: a number from 1 to 2^63 − 1, higher than that of every earlier state.
  ///   - dataAsOf: the date of the data in the store.
  ///   - sealedAt: the date of the file, by default the current date.
  /// - Throws: these errors, after which no file exists:
  ///   - ``StoreError/Code/invalidValue`` for an invalid name or generation.
  ///   - ``StoreError/Code/unsuitablePath`` when something exists at the path, which stays
  ///     unchanged.
  ///   - ``StoreError/Code/diskFull``.
  ///   - ``StoreError/Code/damaged`` when content does not match its checksums or digests.
  ///   - ``StoreError/Code/newerFormat`` when the store has a part that this version does not know.
  ///   - ``StoreError/Code/deleteDenied`` when expired records cannot be evicted, for example from
  ///     a read-only store.
  ///   - ``StoreError/Code/nestedWrite`` inside a write of this store.
  /// - Complexity: reading every pair once and writing the file once, in constant memory. The
  ///   commit is pinned until the file is complete, so writes meanwhile make the store grow.
  @discardableResult
  public func seal(
    to path: String, name: String, generation: UInt64, dataAsOf: Date, sealedAt: Date = Date()
  ) throws -> Seal {
    try core.seal(
      to: path, name: name, generation: generation, dataAsOf: dataAsOf, sealedAt: sealedAt
    ).seal
  }

  /// Copies the newest commit into a sealed file on a thread of the store, with progress.
  ///
  /// See ``seal(to:name:generation:dataAsOf:sealedAt:)``. After cancelling the task, no file
  /// exists.
  ///
  /// - Parameter onProgress: called repeatedly on a thread of the store, with counts of records and
  ///   entries.
  /// - Throws: `CancellationError` when the task is cancelled.
  @discardableResult
  public func seal(
    to path: String, name: String, generation: UInt64, dataAsOf: Date, sealedAt: Date = Date(),
    onProgress: (@Sendable (WorkProgress) -> Void)? = nil
  ) async throws -> Seal {
    let core = core
    return try await cancellably { isCancelled in
      try core.seal(
        to: path, name: name, generation: generation, dataAsOf: dataAsOf, sealedAt: sealedAt
      ) { done, total in
        onProgress?(WorkProgress(completed: done, total: total))
        return !isCancelled()
      }.seal
    }
  }
}

extension Store {
  /// Copies the newest commit, also of a sealed file, into a new store that can be changed.
  ///
  /// The copy contains everything that a sealed file contains, with equal record ids and without
  /// the seal. The file gets its name when it is complete and on disk.
  ///
  /// - Parameter isExact: whether records are copied byte for byte, with values of removed
  ///   attributes.
  /// - Throws: the errors of ``seal(to:name:generation:dataAsOf:sealedAt:)``; no file exists then.
  package func copyUnsealed(to path: String, isExact: Bool = false) throws {
    try core.checkOpen("copy")
    try wrappingErrors {
      try SealRun(core, isExact: isExact) { _, _ in true }.writeUnsealed(to: path)
    }
  }
}

extension StoreCore {
  /// Creates a sealed file of the newest commit; returns its seal, its fs-verity digest and its
  /// size.
  ///
  /// - Parameter step: called repeatedly with the number of copied key-value pairs and their total
  ///   number. Returning false ends the work with ``StoreError/Code/cancelled``.
  func seal(
    to path: String, name: String, generation: UInt64, dataAsOf: Date, sealedAt: Date,
    step: @escaping (_ done: Int, _ total: Int) -> Bool = { _, _ in true }
  ) throws -> (seal: Seal, digest: [UInt8], byteCount: UInt64) {
    try checkOpen("seal")
    guard SealDescription.isValidName(name) else { throw StoreError.badDatasetName(name) }
    guard (1...SealDescription.highestGeneration).contains(generation) else {
      throw StoreError.badGeneration(generation)
    }
    for date in [dataAsOf, sealedAt] where !date.timeIntervalSinceReferenceDate.isFinite {
      throw StoreError.badSealDate()
    }
    try evictBeforeSealing()
    return try wrappingErrors {
      let run = SealRun(self, step: step)
      let seal = SealDescription(
        name: name, generation: generation, dataAsOf: dataAsOf.timeIntervalSinceReferenceDate,
        sealedAt: sealedAt.timeIntervalSinceReferenceDate, schema: [], header: [], counts: [:],
        digest: ContentDigest())
      let (description, written) = try run.write(to: path, seal)
      return (Seal(description), written.verityDigest, written.byteCount)
    }
  }

  /// Evicts records above limits and expired records, if this store may write.
  ///
  /// A reader of the sealed file would not see expired records, but could find them in its bytes.
  ///
  /// - Throws: ``StoreError/Code/deleteDenied`` when expired records remain.
  private func evictBeforeSealing() throws {
    func expired() throws -> (name: String, count: Int)? {
      try read { core in
        for entity in core.schema.expiring {
          if let expired = try core.expired(of: entity) { return (entity.name, expired.ids.count) }
        }
        return nil
      }
    }
    let isWritable = !environment.isSealed && !options.isReadOnly
    if isWritable, try read({ try $0.isAboveLimit() }) { _ = try evict() }
    guard try expired() != nil else { return }
    if isWritable { _ = try evict() }
    guard let left = try expired() else { return }
    throw StoreError(
      .deleteDenied,
      "cannot seal the store: it has \(left.count) expired records of \(left.name), which no reader sees and "
        + "which would be in the file; "
        + (isWritable
          ? "other records keep them from being removed: remove those first"
          : "open it for writing, or remove them by kvdump evict"),
      entity: left.name)
  }
}
