internal import EntityStore
internal import Foundation
internal import LodestoreBytes

extension CachedDataset {
  /// Makes a sealed file that came by another way the current generation: from a medium, a mail, a
  /// build.
  ///
  /// The file is copied, and passes the checks that a fetched one does. For a published dataset
  /// these begin with the publisher's signature. So the manifest has to come along: as
  /// `manifest.json` in the folder of the file, with the folder `keys` where the publisher has
  /// changed keys since the last refresh. A whole folder of a publisher, compressed, is used
  /// otherwise: give its file URL as a mirror.
  ///
  /// - Parameters:
  ///   - file: the path of the sealed file, whose generation has to be higher than every one that was here.
  ///   - withoutSignature: takes a file of a published dataset without its manifest. Use it for files of the
  ///     program's own making. Such a file does not count for the publisher, whose next generation replaces it.
  /// - Returns: the new generation.
  /// - Throws: ``DatasetError``; the current generation stays as it is. `CancellationError`.
  @discardableResult
  public func install(
    fileAt file: String, withoutSignature: Bool = false
  ) async throws -> DatasetGeneration {
    let began = options.clock()
    // A download of this process may take hours; the file is here.
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
    // Under another name than a download's, which goes on where it ended.
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

  /// Forgets the highest generation that was here, so that the next one is taken although its
  /// number is lower, if it comes within seven days.
  ///
  /// For a publisher that had to go back: a file with a far too high number was published or
  /// installed. The data that is here stays in use until a refresh or
  /// ``install(fileAt:withoutSignature:)`` brings another. A seed counts on.
  ///
  /// - Throws: ``DatasetError`` when the folder cannot be used. `CancellationError`.
  public func forgetHighest() async throws {
    let lock = try await lockFolder()
    defer { withExtendedLifetime(lock) {} }
    var state = try content.state()
    state.trust.forgetHighest(at: options.clock())
    state.manifestTags = [:]
    try state.write(content.folder)
    forget()
  }

  /// Checks that the manifest next to a file is signed by a trusted key, and names the digest of
  /// the file.
  ///
  /// - Returns: the key set to which the folder's chain leads, which has signed the manifest.
  private func checkSignature(
    of file: String, _ digest: FileDigest, _ known: TrustedKeys
  ) throws -> TrustedKeys {
    let folder = SystemFile.folder(of: file)
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
      keys = try keys.followed(
        by: try bytes(path, SignedFile.keySet.byteLimit), dataset: name)
    }
    let verified = try DatasetManifest(verifying: manifest, with: keys, name: name)
    guard verified.digest == digest else {
      throw DatasetError.damagedFile(
        file, because: "its digest is not that of generation \(verified.generation) in its manifest"
      )
    }
    return keys
  }

  /// Copies a file, and checks that the copy has the digest of the original.
  private func copy(_ file: String, to part: String, _ digest: FileDigest) async throws {
    guard let source = try SystemFile.openForReading(file) else {
      throw DatasetError.system(ENOENT, "install", file)
    }
    let target = try SystemFile.openForWriting(part, isNew: true)
    let buffer = MutableByteView.allocate(byteCount: 1 << 20, alignment: 4_096)
    defer { buffer.deallocate() }
    var offset: UInt64 = 0
    while true {
      try Task.checkCancellation()
      let count = try FileBytes.read(
        into: buffer, from: source.descriptor, at: offset, path: file)
      guard count > 0 else { break }
      try FileBytes.write(
        ByteView(buffer.prefix(count)), to: target.descriptor, at: offset,
        path: part)
      offset += UInt64(count)
    }
    try FileBytes.sync(target.descriptor, path: part)
    guard try MirrorRefresh.digest(of: part) == digest else {
      throw DatasetError.damagedFile(file, because: "it changed while it was copied")
    }
  }
}
