package import LodestoreEssentials

extension DynamicStore {
  /// The seal of a sealed file; `nil` for any other store.
  package var seal: Seal? { core.seal.map { Seal($0) } }

  /// A newly created sealed file.
  package struct SealedFacts: Sendable {
    package var seal: Seal
    /// The fs-verity digest of the file: the SHA-256 hash that Linux's fs-verity computes, 32
    /// bytes.
    package var digest: [UInt8]
    package var byteCount: UInt64
  }

  /// Creates a sealed file of the newest commit; see
  /// ``Store/seal(to:name:generation:dataAsOf:sealedAt:)``.
  ///
  /// - Parameter step: called repeatedly with the number of copied key-value pairs and their total
  ///   number. Returning false ends the work with ``StoreError/Code/cancelled``.
  package func seal(
    to path: String, name: String, generation: UInt64, dataAsOf: Date, sealedAt: Date = Date(),
    step: @escaping (_ done: Int, _ total: Int) -> Bool = { _, _ in true }
  ) throws -> SealedFacts {
    let made = try core.seal(
      to: path, name: name, generation: generation, dataAsOf: dataAsOf, sealedAt: sealedAt,
      step: step)
    return SealedFacts(seal: made.seal, digest: made.digest, byteCount: made.byteCount)
  }
}
