internal import EntityStore
internal import Foundation
import LodestoreSystem

extension CachedDataset {
  /// Installs a sealed file that came by another way, such as a medium or a build, as the current
  /// generation.
  ///
  /// The file is copied, and passes the checks of a fetched file. For a published dataset the first
  /// check is the publisher's signature. The manifest must therefore be next to the file: as
  /// `manifest.json` in the file's folder, with the folder `keys` if the publisher has changed keys
  /// since the last refresh. To use a whole compressed folder of a publisher, give its file URL as
  /// a mirror.
  ///
  /// - Parameters:
  ///   - file: The path of the sealed file. Its generation must be higher than every generation
  ///     that the cache has held.
  ///   - withoutSignature: Accepts a file of a published dataset without its manifest. Use it for
  ///     files that the program itself makes. Such a file does not affect the publisher's numbers:
  ///     the publisher's next generation replaces it.
  /// - Returns: The new generation.
  /// - Throws: ``DatasetError``; the current generation stays unchanged. `CancellationError`.
  @discardableResult
  public func install(
    fileAt file: String, withoutSignature: Bool = false
  ) async throws -> DatasetGeneration {
    let began = options.clock()
    // A running refresh is stopped, because its download may take hours, while the file to install
    // is already complete.
    stopRun(.interrupted(name))
    let lock = try await lockFolder()
    defer { withExtendedLifetime(lock) {} }
    try content.folder.make()
    var state = try content.state()
    state.trust.endForgetting(at: began)
    guard let digest = try MirrorRefresh.digest(of: file) else {
      throw DatasetError.system(ENOENT, "install", file)
    }
    var signed: TrustedKeys?
    if let carried = content.carried, !withoutSignature {
      let keys = try checkSignature(of: file, digest, state.trust.keys(from: carried))
      state.trust.keep(keys, from: carried)
      signed = keys
    }
    let original = try OpenGeneration.open(
      SystemFile.resolved(file) ?? file, dataset: name, generation: nil, source: .file,
      entities: content.entities, options: options.store)
    guard let original else { throw DatasetError.system(ENOENT, "install", file) }
    let seal = original.seal
    original.store.close()
    let isSigned = content.carried == nil || signed != nil
    let highest = content.highest(state, try loaded().choice, isSigned: isSigned)
    guard seal.generation > highest else {
      throw DatasetError.notNewerFile(seal.generation, highest: highest)
    }
    // The copy gets another name than an interrupted download of the generation, so that the
    // download can continue later.
    let part = content.folder.part(seal.generation) + ".installing"
    defer { SystemFile.remove(part) }
    try await copy(file, to: part, digest)
    let installer = Installer(content: content, onStep: options.onStep)
    let open = try installer.install(
      part, as: seal.generation, source: .file, digest: digest.description,
      keys: isSigned ? signed?.description ?? "" : nil, at: began, &state)
    try state.write(content.folder)
    ended(state, open)
    return try current()
  }

  /// Forgets the highest generation number that the cache has held.
  ///
  /// The next generation within seven days is then accepted even with a lower number.
  ///
  /// Use it when a publisher must go back because a file with a much too high number was published
  /// or installed. The current data stays in use until a refresh or
  /// ``install(fileAt:withoutSignature:)`` brings another generation. A generation must still have
  /// a higher number than the seed.
  ///
  /// - Throws: ``DatasetError`` if the folder cannot be used. `CancellationError`.
  public func forgetHighest() async throws {
    let lock = try await lockFolder()
    defer { withExtendedLifetime(lock) {} }
    var state = try content.state()
    state.trust.forgetHighest(at: options.clock())
    state.manifestTags = [:]
    try state.write(content.folder)
    forget()
  }

  /// Checks that the manifest next to a file is signed by a trusted key and names the digest of the
  /// file.
  ///
  /// - Returns: The key set that signed the manifest, reached through the folder's chain.
  private func checkSignature(
    of file: String, _ digest: FileDigest, _ known: TrustedKeys
  ) throws -> TrustedKeys {
    let folder = Folder.path(of: file)
    func bytes(_ name: String, _ limit: Int) throws -> [UInt8] {
      guard let bytes = try SystemFile.bytes(of: "\(folder)/\(name)", atMost: limit) else {
        throw DatasetError.unsignedFile(file, missing: name)
      }
      return bytes
    }
    let manifest = try bytes(PublishedNames.manifest, SignedFile.manifest.byteLimit)
    let claimed = try DatasetManifest.claimedKeySet(in: manifest)
    var keys = known
    while let path = keys.nextSet(to: claimed, from: keys) {
      keys = try keys.followed(by: try bytes(path, SignedFile.keySet.byteLimit), dataset: name)
    }
    let verified = try DatasetManifest(verifying: manifest, with: keys, name: name)
    guard verified.digest == digest else {
      throw DatasetError.damagedFile(
        file, because: "its digest is not that of generation \(verified.generation) in its manifest"
      )
    }
    return keys
  }

  /// Copies a file and checks that the copy has the digest of the original.
  private func copy(_ file: String, to part: String, _ digest: FileDigest) async throws {
    guard let source = try SystemFile.openForReading(file) else {
      throw DatasetError.system(ENOENT, "install", file)
    }
    let target = try SystemFile.openForWriting(part, isNew: true)
    try FileBytes.forEachPiece(of: source.descriptor, path: file) { bytes, offset in
      try FileBytes.write(bytes, to: target.descriptor, at: offset, path: part)
    }
    try FileBytes.sync(target.descriptor, path: part)
    guard try MirrorRefresh.digest(of: part) == digest else {
      throw DatasetError.damagedFile(file, because: "it changed while it was copied")
    }
  }
}
