internal import EntityStore
internal import Foundation
internal import LodestoreFormat
internal import LodestorePages
internal import LodestoreWeb
internal import Synchronization

/// Refreshes a dataset from one mirror.
struct MirrorRefresh {
  let refresh: PublishedRefresh
  let files: PublishedFiles
  let current: OpenGeneration?
  var result: RefreshReport
  let triesPatch: Bool
  private(set) var hasTriedPatch = false

  private var content: CacheContent { refresh.installer.content }
  private var folder: DatasetFolder { content.folder }
  private var onStep: @Sendable (RefreshStep) -> Void { refresh.installer.onStep }

  /// Fetches the mirror's newest generation.
  ///
  /// - Returns: The new generation, which becomes current when `state` is written; `nil` if none is
  ///   newer.
  mutating func run(_ state: inout CacheState) async throws -> OpenGeneration? {
    guard let (manifest, keys, tag) = try await manifest(&state) else { return nil }
    onStep(.verified)
    let open = try await obtain(manifest, keys, &state)
    if let tag { state.remember(tag, of: files.words, by: refresh.keys) }
    state.mirrors = manifest.mirrors
    return open
  }

  private mutating func obtain(
    _ manifest: DatasetManifest, _ keys: TrustedKeys, _ state: inout CacheState
  ) async throws -> OpenGeneration? {
    let number = manifest.generation
    let choice = CacheContent.Choice(open: current, seed: refresh.seed)
    let highest = content.highest(state, choice)
    guard number >= highest else {
      throw DatasetError.rolledBack(offered: number, highest: highest, place: files.words)
    }
    if let digest = try knownDigest(of: number, keys, state), digest != manifest.digest {
      throw DatasetError.rewritten(number, place: files.words)
    }
    let isHere = try current?.number == number && digestOfCurrent() == manifest.digest
    if isHere {
      // The mirror offers the current file. The publisher may have signed it again with new keys,
      // so the signature is recorded.
      state.sign(number, by: keys.description)
      state.trust.keep(keys, from: refresh.keys, generation: number)
      return nil
    }
    // If the current file was installed without a signature, the publisher's generation replaces it
    // only with a number that is new to the cache.
    guard number > highest || number > current?.number ?? 0 else { return nil }
    guard state.trust.refusedDigest != manifest.digest.description else {
      throw DatasetError.refused(number, place: files.words)
    }
    try checkFit(manifest, state)
    folder.removeIncoming(except: number)
    let file = try await file(of: manifest, &state)
    refresh.report(RefreshProgress(step: .installing, completed: 0, total: 1))
    do throws(DatasetError) {
      let open = try refresh.installer.install(
        file, as: number, source: .refresh, digest: manifest.digest.description,
        keys: keys.description, at: refresh.time, &state)
      refresh.report(RefreshProgress(step: .installing, completed: 1, total: 1))
      (result.outcome, result.generation) = (.replaced, number)
      return open
    } catch {
      if error.side == .file { state.trust.refusedDigest = manifest.digest.description }
      if error.code == .incompatibleSchema {
        refresh.installer.keep(manifest, keys: keys, at: refresh.time, current: current, &state)
      }
      throw error
    }
  }

  /// Refuses a generation that this program cannot use, before its file is fetched.
  ///
  /// If the file is already in the folder, opening it reports the reason.
  private func checkFit(_ manifest: DatasetManifest, _ state: CacheState) throws {
    guard SystemFile.stamp(of: folder.generation(manifest.generation)) == nil else { return }
    guard manifest.formatVersion <= FormatVersion.current.rawValue else {
      throw DatasetError.newerStore(manifest, place: files.words)
    }
    guard !state.unfitSchemas.isEmpty, let own = content.schemaOfEntities,
      state.unfitSchemas[own] == manifest.schemaFingerprint
    else { return }
    throw DatasetError.unfit(manifest.generation, place: files.words)
  }

  /// The known digest of the file with this number: of the seed, or of a generation that the same
  /// keys signed.
  ///
  /// A mirror must not offer other bytes under this number.
  private func knownDigest(
    of generation: UInt64, _ keys: TrustedKeys, _ state: CacheState
  ) throws -> FileDigest? {
    let known = state.installed.first { $0.generation == generation && $0.keys == keys.description }
    if let digest = known?.digest { return FileDigest(digest) }
    guard let current, current.number == generation, known != nil || current.source == .seed else {
      return nil
    }
    return try digestOfCurrent()
  }

  private func digestOfCurrent() throws -> FileDigest? {
    guard let current else { return nil }
    return try current.digest.flatMap { FileDigest($0) } ?? Self.digest(of: current.path)
  }

  // MARK: The manifest

  /// The verified manifest with its entity tag; `nil` if it has not changed since the last refresh.
  private mutating func manifest(
    _ state: inout CacheState
  ) async throws -> (DatasetManifest, TrustedKeys, tag: String?)? {
    var request = WebFiles.Request(
      PublishedNames.manifest, byteLimit: SignedFile.manifest.byteLimit)
    // The request asks only for a changed manifest if the cache has the generation of the last
    // manifest. Otherwise the answer "unchanged" would hide a missing generation.
    if let current, current.number >= state.trust.highestSeen(from: refresh.keys) {
      request.knownTag = state.tag(of: files.words, by: refresh.keys)
    }
    guard let (bytes, head) = try await small(request) else { return nil }
    onStep(.asked)
    guard let first = bytes.first(where: { ![0x09, 0x0A, 0x0D, 0x20].contains($0) }),
      first == UInt8(ascii: "{")
    else { throw DatasetError.noManifestAnswer(files.words) }
    let known = state.trust.keys(from: refresh.keys)
    let claimed = try DatasetManifest.claimedKeySet(in: bytes)
    var keys = known
    while let path = keys.nextSet(to: claimed, from: known) {
      let next = WebFiles.Request(path, byteLimit: SignedFile.keySet.byteLimit)
      guard let (set, _) = try await small(next) else { break }
      keys = try keys.followed(by: set, dataset: content.name)
    }
    // Each key set was verified with the set before it, so the last one is stored now. If one
    // refresh cannot follow all sets, the next refresh continues from it.
    state.trust.keep(keys, from: refresh.keys)
    let manifest = try DatasetManifest(verifying: bytes, with: keys, name: content.name)
    if keys.number > known.number { onStep(.keysFollowed) }
    return (manifest, keys, head?.entityTag)
  }

  /// The bytes of a small file of the publisher, such as the manifest or a key set; `nil` if it has
  /// not changed.
  private mutating func small(
    _ request: WebFiles.Request
  ) async throws -> (bytes: [UInt8], head: FileHead?)? {
    let bytes = Mutex<[UInt8]>([])
    let pace = Pace(files.words, isSmall: true)
    let answer = try await files.get(request) { piece in
      bytes.withLock { $0.append(contentsOf: piece) }
      try pace.take(piece.count)
    }
    let received = bytes.withLock { $0 }
    result.bytesFetched += received.count
    switch answer {
    case .unchanged: return nil
    case .content(let head): return (received, head)
    }
  }

  // MARK: The file

  /// The path of a file with the signed bytes: an existing, a patched or a fetched file.
  private mutating func file(
    of manifest: DatasetManifest, _ state: inout CacheState
  ) async throws -> String {
    let found = folder.generation(manifest.generation)
    if SystemFile.stamp(of: found) != nil {
      // A file with other bytes under this name is not removed here: the complete signed file
      // replaces it later in one step.
      if try Self.digest(of: found) == manifest.digest { return found }
    }
    let part = folder.part(manifest.generation)
    if triesPatch, let patch = try patch(for: manifest, state, part) {
      do {
        hasTriedPatch = true
        return try await patched(patch, manifest, &state)
      } catch let error as CancellationError {
        throw error
      } catch {
        try Task.checkCancellation()
        let failure = (error as? WebSourceError).map { .network($0) } ?? error as? DatasetError
        guard let failure, failure.code != .diskFull else { throw error }
        result.detours.append(failure.message)
      }
    }
    var download = WholeDownload(
      files: files, manifest: manifest, part: part, resumptions: refresh.options.resumptions,
      onStep: onStep, report: refresh.report)
    defer {
      result.bytesFetched += download.bytesFetched
      result.bytesResumed = max(result.bytesResumed, download.bytesResumed)
    }
    try await download.run(tablePath: "\(folder.incoming)/\(manifest.generation).frames")
    return part
  }

  /// The patch whose download needs fewer bytes than the rest of the whole file; `nil` if no patch
  /// does.
  private func patch(
    for manifest: DatasetManifest, _ state: CacheState, _ part: String
  ) throws -> DatasetManifest.PatchFile? {
    guard let current, manifest.patches.contains(where: { $0.from == current.number }) else {
      return nil
    }
    guard let digest = try digestOfCurrent(),
      let patch = manifest.patch(from: current.number, digest: digest),
      patch.name != state.failedPatch, manifest.length <= DatasetPatch.appliedLimit,
      patch.fromLength <= DatasetPatch.fileLimit
    else { return nil }
    let here = UInt64(max(SystemFile.stamp(of: part)?.length ?? 0, 0))
    let done = Double(min(here, manifest.length)) / Double(max(manifest.length, 1))
    let path = folder.patch(patch.name, of: manifest.generation)
    let left = patch.length - PatchDownload.bytesHere(at: path, of: patch)
    return Double(left) < Double(manifest.whole.length) * (1 - done) ? patch : nil
  }

  /// Fetches and applies a patch, and returns the path of the new file.
  ///
  /// If the download breaks off, its part stays, and the next refresh continues it.
  private mutating func patched(
    _ patch: DatasetManifest.PatchFile, _ manifest: DatasetManifest, _ state: inout CacheState
  ) async throws -> String {
    guard let current else { throw DatasetError.damagedPatch(patch.name, because: "no file") }
    let path = folder.patch(patch.name, of: manifest.generation)
    let output = "\(folder.incoming)/\(manifest.generation).patched"
    try await fetch(patch, to: path)
    onStep(.patchFetched)
    defer { SystemFile.remove(path) }
    // Applying a patch may use so much memory that the process ends, so each patch is tried once.
    // The patch is noted as failed before it is applied: if the process dies or the call fails, it
    // would fail again.
    state.failedPatch = patch.name
    try state.write(folder)
    do throws(DatasetError) {
      let new = try SystemFile.openForWriting(output, isNew: true)
      let onStep = onStep
      try DatasetPatch.apply(
        path, to: current.path, into: new.descriptor, at: output, as: patch, of: manifest
      ) { onStep(.patchPiece) }
      try FileBytes.sync(new.descriptor, path: output)
      state.failedPatch = nil
    } catch {
      SystemFile.remove(output)
      if error.code != .damaged { state.failedPatch = nil }
      throw error
    }
    onStep(.patchApplied)
    result.usedPatch = true
    return output
  }

  private mutating func fetch(_ patch: DatasetManifest.PatchFile, to path: String) async throws {
    var download = PatchDownload(
      files: files, patch: patch, path: path, resumptions: refresh.options.resumptions,
      report: refresh.report)
    defer {
      result.bytesFetched += download.bytesFetched
      result.bytesResumed = max(result.bytesResumed, download.bytesResumed)
    }
    try await download.run()
  }

  /// The fs-verity digest of a file.
  static func digest(of path: String) throws -> FileDigest? {
    guard let file = try SystemFile.openForReading(path) else { return nil }
    var tree = VerityTree()
    try FileBytes.forEachPiece(of: file.descriptor, path: path) { bytes, _ in tree.update(bytes) }
    tree.finish()
    return FileDigest(bytes: tree.digest)
  }
}
