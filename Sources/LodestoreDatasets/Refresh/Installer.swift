internal import EntityStore
internal import Foundation

/// Makes a complete file a generation of a folder.
///
/// Requires the refresh lock.
struct Installer: Sendable {
  let content: CacheContent
  let onStep: @Sendable (RefreshStep) -> Void

  /// Names a file, opens it as a reader would, which checks its pages, and records it as current in
  /// `state`.
  ///
  /// The swap happens when the caller writes `state`. A file that this program's entities do not
  /// fit stays in the folder, so that a later version of the program need not fetch it again.
  ///
  /// - Parameters:
  ///   - file: A file in the folder `incoming`, synced to the disk.
  ///   - generation: The number that its seal must state.
  ///   - keys: The keys that signed it; `nil` for a file without a signature.
  /// - Returns: The open generation, so that this process need not check its pages again.
  /// - Throws: ``DatasetError`` with the code `incompatibleSchema`, `unusableStore`, `notSealed` or
  ///   `mixedGenerations`.
  func install(
    _ file: String, as generation: UInt64, source: DatasetGeneration.Source, digest: String?,
    keys: String?, at time: Date, _ state: inout CacheState
  ) throws(DatasetError) -> OpenGeneration {
    let target = content.folder.generation(generation)
    if file != target { try SystemFile.move(file, to: target) }
    onStep(.moved)
    do throws(DatasetError) {
      let open = try OpenGeneration.open(
        target, dataset: content.name, generation: generation, source: source,
        entities: content.entities, options: content.storeOptions)
      guard var open else { throw .missingGeneration(target) }
      onStep(.checked)
      open.digest = digest
      state.install(
        CacheState.Installed(
          open.seal, source: source, installedAt: time, digest: digest, keys: keys))
      note(keys, generation, &state)
      return open
    } catch {
      // The refused file is removed only if its bytes are at fault and the state does not name it.
      if error.side == .file, !state.installed.contains(where: { $0.generation == generation }) {
        SystemFile.remove(target)
      }
      throw error
    }
  }

  /// Records a verified file that this program's entities do not fit.
  ///
  /// A later version of the program can use it, and this one need not fetch another file of that
  /// schema.
  ///
  /// - Parameter current: The generation that this program continues to use.
  func keep(
    _ manifest: DatasetManifest, keys: TrustedKeys, at time: Date, current: OpenGeneration?,
    _ state: inout CacheState
  ) {
    let seal = try? Seal(ofFileAt: content.folder.generation(manifest.generation))
    state.install(
      CacheState.Installed(
        generation: manifest.generation, source: .refresh, dataAsOf: manifest.dataAsOf,
        builtAt: manifest.builtAt, installedAt: time, digest: manifest.digest.description,
        schema: seal?.schemaFingerprint ?? manifest.schemaFingerprint, keys: keys.description),
      keeping: current?.number)
    note(keys.description, manifest.generation, &state)
    // If the manifest names another schema than the seal of the file, nothing is recorded about
    // either schema.
    guard let seal, seal.schemaFingerprint == manifest.schemaFingerprint,
      let own = content.schemaOfEntities
    else { return }
    state.refuse(schema: seal.schemaFingerprint, for: own)
  }

  /// Records `generation` as verified with the key set that this program trusts, if `keys` is that
  /// set.
  private func note(_ keys: String?, _ generation: UInt64, _ state: inout CacheState) {
    let trusted = content.carried.map { state.trust.keys(from: $0) }
    if keys == trusted?.description ?? "" {
      state.trust.keep(trusted, from: content.carried, generation: generation)
    }
  }
}
