internal import LMDB
internal import LodestoreFormat

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Store {
  /// The seal of a sealed file that is open; `nil` for any other store.
  ///
  /// The seal is the same for as long as the store is open, since nobody writes a sealed file.
  public var seal: Seal? { core.seal.map { Seal($0) } }

  /// Copies the newest commit into a sealed file: compacted, read-only for everyone, with a seal.
  ///
  ///     try store.seal(
  ///       to: "pods-7.lodestore", name: "pods", generation: 7, dataAsOf: fetchedAt)
  ///
  /// The file has records, indexes, links, orders, buckets and the schema. The file has no history,
  /// nothing that importers remember of their sources, no values of removed attributes, no expired
  /// record, and no byte of deleted data. Expired records are evicted from the store first, and those above a limit. One
  /// commit gives the same bytes whenever name, generation and dates are the same.
  /// ``init(at:entities:options:)-(String,_,_)`` opens the file, always read-only and without a
  /// lock file. See <doc:SealedFiles>.
  ///
  /// Readers and writers go on meanwhile. The file gets its name when it is complete and on the
  /// disk, so there is a whole file or none. Whoever may read the store may read the file.
  ///
  /// - Parameters:
  ///   - path: where nothing is yet, on any local disk.
  ///   - name: of the dataset, see ``Seal/name``.
  ///   - generation: from 1 to 2^63 − 1; higher than that of every earlier state.
  ///   - dataAsOf: when the data was as it is now in the store.
  ///   - sealedAt: the date of the file, the present by default.
  /// - Throws: ``StoreError/Code/invalidValue`` for a name or a generation that cannot be;
  ///   ``StoreError/Code/unsuitablePath`` where something is there already, which stays as it is;
  ///   ``StoreError/Code/diskFull``; ``StoreError/Code/damaged`` when content does not fit its
  ///   checksums or digests; ``StoreError/Code/newerFormat`` when the store has a part that this
  ///   version does not know; ``StoreError/Code/deleteDenied`` when expired records cannot be evicted, as
  ///   of a store that is read-only; ``StoreError/Code/nestedWrite`` inside a write of this store.
  ///   No file is left then.
  /// - Complexity: one reading of every pair and one writing of the file; memory does not grow with
  ///   either. The commit is held until the file is complete, so the store grows with each write
  ///   meanwhile.
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
  /// As ``seal(to:name:generation:dataAsOf:sealedAt:)``. Cancelling the task leaves nothing.
  ///
  /// - Parameter onProgress: called on a thread of the store now and then, in records and entries.
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
  /// Copies the newest commit into a new store that can be written, also of a sealed file.
  ///
  /// The copy has all that a sealed file has, with the same ids of records and without the seal.
  /// It gets its name when it is complete and on the disk.
  ///
  /// - Throws: as ``seal(to:name:generation:dataAsOf:sealedAt:)``; no file is left then.
  package func copyUnsealed(to path: String) throws {
    try core.checkOpen("copy")
    try wrappingErrors { try SealRun(core) { _, _ in true }.writeUnsealed(to: path) }
  }
}

extension StoreCore {
  /// Makes a sealed file of the newest commit; also returns the hashes of the file.
  ///
  /// - Parameter step: called now and then with the pairs so far, of how many; false ends the work
  ///   with ``StoreError/Code/cancelled``.
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

  /// Removes the records above limits, where this store may write, and the expired ones, which a reader
  /// of the sealed file would not see and find in its bytes.
  ///
  /// - Throws: ``StoreError/Code/deleteDenied`` where some remain.
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
