internal import EntityStore
internal import Foundation

/// Refreshes a dataset from a web service: imports into a separate store, and seals a copy of it.
///
/// The store begins as a copy of the current generation, at first of the seed. Records therefore
/// keep their ids, and the importer brings only changes.
struct ServiceImport: Sendable {
  let installer: Installer
  let fetch: @Sendable (ServiceRefresh) async throws -> Void
  let time: Date
  let report: @Sendable (RefreshProgress) -> Void

  private var folder: DatasetFolder { installer.content.folder }
  private var storePath: String { "\(folder.service)/\(installer.content.name).lodestore" }

  func run(_ state: inout CacheState, _ choice: CacheContent.Choice) async throws -> Refreshed {
    do {
      return try await runOnce(&state, choice)
    } catch {
      // The damaged store of the importer can be removed: its records are in the current
      // generation, or will be imported again.
      guard let damage = Self.damage(error) else { throw error }
      removeStore()
      var refreshed = try await runOnce(&state, choice)
      refreshed.report.detours.append(Self.beganAgain(damage))
      return refreshed
    }
  }

  private static func beganAgain(_ reason: String) -> String {
    "the importer began again without its store: \(reason)"
  }

  /// The message of an error that shows damage of the importer's store; `nil` for other errors.
  private static func damage(_ error: any Error) -> String? {
    let error = (error as? DatasetError)?.cause ?? error
    guard let error = error as? StoreError, error.code == .damaged else { return nil }
    return error.message
  }

  private func runOnce(
    _ state: inout CacheState, _ choice: CacheContent.Choice
  ) async throws -> Refreshed {
    try SystemFile.makeFolder(folder.service)
    report(RefreshProgress(step: .importing, completed: 0, total: nil))
    var result = RefreshReport(outcome: .current, generation: choice.open?.number ?? 0)
    let store = try openStore(choice.open, &state, &result.detours)
    defer { store.close() }
    let date = DataDate(time)
    try await fetch(ServiceRefresh(store: store, startedAt: time, date: date, report: report))
    try Task.checkCancellation()
    installer.onStep(.imported)
    let highest = highest(state, choice)
    report(RefreshProgress(step: .installing, completed: 0, total: 1))
    let generation = Self.number(at: time, after: highest)
    folder.removeIncoming()
    let file = folder.part(generation)
    let seal = try seal(store, to: file, generation, date.value)
    installer.onStep(.sealed)
    if let open = choice.open, open.seal.contentDigest == seal.contentDigest,
      open.seal.schemaFingerprint == seal.schemaFingerprint, !installer.content.isAhead(open.number)
    {
      SystemFile.remove(file)
      (state.confirmedContent, state.importedContent) = (seal.contentDigest, seal.contentDigest)
      state.confirmedAsOf = date.value
      return Refreshed(report: result)
    }
    let open = try installer.install(
      file, as: generation, source: .refresh, digest: nil, keys: "", at: time, &state)
    (state.numberBefore, state.importedContent) = (highest, seal.contentDigest)
    report(RefreshProgress(step: .installing, completed: 1, total: 1))
    (result.outcome, result.generation) = (.replaced, generation)
    return Refreshed(report: result, open: open)
  }

  /// The highest known generation number, which the number of the next generation must exceed.
  ///
  /// A number from a clock that was ahead is ignored, so that it does not hide later seeds.
  private func highest(_ state: CacheState, _ choice: CacheContent.Choice) -> UInt64 {
    let content = installer.content
    let highest = content.highest(state, choice)
    guard content.isAhead(highest, at: time) else { return highest }
    let known = [state.numberBefore, choice.seed?.number ?? 0, choice.open?.number ?? 0]
    return known.filter { !content.isAhead($0, at: time) }.max() ?? 0
  }

  private func seal(
    _ store: Store, to file: String, _ generation: UInt64, _ date: Date
  ) throws -> Seal {
    do {
      return try store.seal(
        to: file, name: installer.content.name, generation: generation, dataAsOf: date)
    } catch {
      throw (error as? StoreError).map { DatasetError.unsealable($0) } ?? error
    }
  }

  /// The number of a generation: the seconds since 1970, or one more than the highest number.
  static func number(at time: Date, after highest: UInt64) -> UInt64 {
    let seconds = time.timeIntervalSince1970
    let number = seconds > 1 && seconds < 1e12 ? UInt64(seconds) : 1
    return max(number, highest == .max ? highest : highest + 1)
  }

  /// Opens the importer's store.
  ///
  /// A store that cannot be used, or lacks records of the current generation, is replaced by a copy
  /// of that generation. Records are missing if a newer seed or an installed file has become
  /// current since the last import.
  private func openStore(
    _ open: OpenGeneration?, _ state: inout CacheState, _ detours: inout [String]
  ) throws -> Store {
    func opened() throws(StoreError) -> Store {
      // A sealed file always has the format of LMDB 0.9, and so has the store, which is a copy of
      // one. With LMDB 1.0 the store must be converted.
      var options = StoreOptions()
      options.convertsOtherEngine = true
      let store = try Store(at: storePath, entities: installer.content.entities, options: options)
      for name in Self.convertedNames { SystemFile.remove(storePath + name) }
      return store
    }
    let content = open?.seal.contentDigest
    if content == nil || content == state.importedContent, SystemFile.stamp(of: storePath) != nil {
      do throws(StoreError) {
        return try opened()
      } catch let error where Self.isUseless(error) {
        detours.append(Self.beganAgain(error.message))
      } catch {
        throw DatasetError.unusable(storePath, error)
      }
    }
    removeStore()
    state.importedContent = content
    // If the process is killed after this write, the next import continues with the store.
    if content != nil { try state.write(folder) }
    do {
      try open?.store.copyUnsealed(to: storePath)
      return try opened()
    } catch let error as StoreError {
      guard open != nil, error.code != .diskFull else {
        throw DatasetError.unusable(storePath, error)
      }
      detours.append("the importer began with an empty store: \(error.message)")
    }
    removeStore()
    do throws(StoreError) { return try opened() } catch {
      throw DatasetError.unusable(storePath, error)
    }
  }

  /// Whether the importer's store must be replaced by a new copy after this error.
  private static func isUseless(_ error: StoreError) -> Bool {
    [.damaged, .notAStore, .incompatibleSchema].contains(error.code)
  }

  private func removeStore() {
    for name in ["", "-lock"] + Self.convertedNames { SystemFile.remove(storePath + name) }
  }

  /// The suffixes that a conversion between LMDB versions appends to the name of the earlier file,
  /// which it keeps.
  private static let convertedNames = [".lmdb-0.9", ".lmdb-1.0"]
}
