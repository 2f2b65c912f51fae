internal import LMDB
package import LodestoreEssentials
internal import LodestoreFormat

/// One commit from which a sealed file is made that equals it byte for byte.
///
/// The snapshot can be read before and while the file is made. The age limit of snapshots does not
/// end it.
package final class ExactSnapshot: Sendable {
  /// The commit for reads.
  package let snapshot: PinnedSnapshot
  private let trees: [String: Tree]
  private let core: StoreCore

  fileprivate init(_ store: Store) throws {
    let core = store.core
    self.core = core
    let registry = store.companions.companion { SnapshotRegistry() }
    var opened: [String: Tree] = [:]
    let run = SealRun(core) { _, _ in true }
    while true {
      try wrappingErrors { try run.openTrees(&opened) }
      let pinned = try PinnedSnapshot(core, registry)
      let known = opened
      let hasAll = try pinned.read { snapshot in
        try snapshot.access.core.transaction.namedTrees().allSatisfy { known[$0.name] != nil }
      }
      guard hasAll else {
        pinned.end()
        continue
      }
      (snapshot, trees) = (pinned, known)
      return
    }
  }

  deinit { snapshot.end() }

  /// Copies the commit into a sealed file.
  ///
  /// The file has expired records and values of removed attributes, unlike one of
  /// ``Store/seal(to:name:generation:dataAsOf:sealedAt:)``. Digests of a store that continues from
  /// the file equal those of this store after the same changes.
  ///
  /// - Parameter step: called repeatedly with the number of copied key-value pairs and their total
  ///   number. Returning false ends the work with ``StoreError/Code/cancelled``.
  package func seal(
    to path: String, name: String, generation: UInt64, dataAsOf: Date, sealedAt: Date,
    step: @escaping (_ done: Int, _ total: Int) -> Bool = { _, _ in true }
  ) throws -> DynamicStore.SealedFacts {
    try core.checkOpen("seal")
    return try snapshot.read { snapshot in
      let transaction = snapshot.access.core.transaction
      return try wrappingErrors {
        let seal = SealDescription(
          name: name, generation: generation,
          dataAsOf: dataAsOf.timeIntervalSinceReferenceDate,
          sealedAt: sealedAt.timeIntervalSinceReferenceDate, schema: [], header: [], counts: [:],
          digest: ContentDigest())
        let (description, written) = try SealRun(core, isExact: true, step: step).write(
          to: path, seal, reading: transaction, trees)
        return DynamicStore.SealedFacts(
          seal: Seal(description), digest: written.verityDigest, byteCount: written.byteCount)
      }
    }
  }
}

extension Store {
  /// Pins the newest commit for a sealed file that equals it.
  package func exactSnapshot() throws -> ExactSnapshot { try ExactSnapshot(self) }
}
