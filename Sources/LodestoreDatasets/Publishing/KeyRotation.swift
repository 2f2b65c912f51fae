package import Foundation

/// Replaces a published folder's keys by the next key set.
///
/// The set is written first, then the manifest, which the new key signs under the new number. A
/// process that is killed between the two leaves the old manifest under the old set. The next
/// rotation or publication with the new key completes the rotation.
package struct KeyRotation: Sendable {
  /// The path of the folder.
  package let directory: String
  /// A key of the newest set; `nil` if all of them are lost.
  ///
  /// Without it, programs that trust the old set cannot follow. Such programs need a new version
  /// with the new keys.
  package let signer: SigningKey?
  /// The key that signs manifests from now on.
  package let newKey: SigningKey
  /// Further keys of the new set, such as one that is kept offline.
  package let otherKeys: [PublicKey]

  package init(
    _ directory: String, signer: SigningKey?, newKey: SigningKey, otherKeys: [PublicKey]
  ) {
    self.directory = directory
    self.signer = signer
    self.newKey = newKey
    self.otherKeys = otherKeys
  }

  /// Writes the next key set and signs the manifest, if there is one, with the new key.
  ///
  /// - Throws: `DatasetError` with the code `badKey` if the signer is not a key of the newest set.
  @discardableResult
  package func run(now: Date = Date()) throws(DatasetError) -> TrustedKeys {
    let folder = try PublishedFolder(directory)
    _ = try folder.removeTemporaries()
    let chain = try KeyChain(in: folder.path, name: nil)
    guard let newest = chain.newest else { throw .noKeys(directory) }
    let old = TrustedKeys(newest)
    if let signer, !old.keys.contains(signer.publicKey) {
      throw .unlistedKey(signer.publicKey, in: old)
    }
    guard newest.number < KeySet.numberLimit else { throw .lastKeySet(newest.number) }
    let keys = [newKey.publicKey] + otherKeys
    guard keys.count <= KeySet.keyLimit, Set(keys).count == keys.count else {
      throw .tooManyKeys(limit: KeySet.keyLimit)
    }
    let last = try DatasetPublisher.manifest(in: folder.path, chain: chain)
    let set = KeySet(name: newest.name, number: newest.number + 1, createdAt: now, keys: keys)
    try folder.write(
      try set.signed(by: [signer ?? newKey]), in: PublishedNames.keys, as: "\(set.number).json")
    let trusted = TrustedKeys(set)
    if let last {
      let manifest = last.signed(under: trusted, at: now)
      try DatasetPublisher.replace(manifest, in: folder, key: newKey, keys: trusted)
    } else {
      try folder.syncNames()
    }
    return trusted
  }
}

extension DatasetManifest {
  /// A copy of the manifest that names another key set, to be signed by a key of that set.
  ///
  /// The generation and its files stay the same.
  func signed(under keys: TrustedKeys, at date: Date) -> DatasetManifest {
    DatasetManifest(
      name: name, generation: generation, dataAsOf: dataAsOf, builtAt: builtAt, publishedAt: date,
      keySet: keys.number, length: length, digest: digest, contentDigest: contentDigest,
      schemaFingerprint: schemaFingerprint, formatVersion: formatVersion, records: records,
      whole: whole, patches: patches, mirrors: mirrors)
  }
}
