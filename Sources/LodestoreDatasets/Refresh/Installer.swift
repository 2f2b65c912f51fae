internal import EntityStore
internal import Foundation

/// Makes a complete file a generation of a folder; under the lock of the refresh.
struct Installer: Sendable {
  let content: CacheContent
  let onStep: @Sendable (RefreshStep) -> Void

  /// Gives a file its name, opens it as a reader will, which checks its pages, and notes it as current in `state`.
  ///
  /// The swap is the writing of `state`, which is the caller's. A file that this program's entities do not fit stays in
  /// the folder all the same: a later version of the program takes it without fetching it again.
  ///
  /// - Parameters:
  ///   - file: a file in the folder `incoming`, synced to the disk.
  ///   - generation: the number that its seal has to say.
  /// - Returns: the open generation, so that this process need not check its pages again.
  /// - Throws: ``DatasetError`` with the code `incompatibleSchema`, `unusableStore`, `notSealed` or `mixedGenerations`.
  func install(
    _ file: String, as generation: UInt64, source: DatasetGeneration.Source, digest: String?,
    at time: Date, _ state: inout CacheState
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
      state.current = CacheState.Installed(
        open.seal, source: source, installedAt: time, digest: digest)
      state.highestSeen = max(state.highestSeen, generation)
      return open
    } catch {
      // Nobody reads the file: the state has never named it.
      if error.code != .incompatibleSchema { SystemFile.remove(target) }
      throw error
    }
  }
}
