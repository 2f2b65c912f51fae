internal import EntityStore
internal import Foundation

/// Refreshes a dataset from a web service: imports into a store of its own, and seals a copy of it.
struct ServiceImport: Sendable {
  let installer: Installer
  let fetch: @Sendable (ServiceRefresh) async throws -> Void
  let time: Date
  let report: @Sendable (RefreshProgress) -> Void

  private var folder: DatasetFolder { installer.content.folder }
  private var storePath: String { "\(folder.service)/\(installer.content.name).lodestore" }

  func run(
    _ state: inout CacheState, _ choice: CacheContent.Choice
  ) async throws -> Refreshed {
    try SystemFile.makeFolder(folder.service)
    report(RefreshProgress(step: .importing, completed: 0, total: nil))
    let store = try openStore()
    defer { store.close() }
    let date = DataDate(time)
    try await fetch(ServiceRefresh(store: store, startedAt: time, date: date, report: report))
    try Task.checkCancellation()
    installer.onStep(.imported)
    let highest = installer.content.highest(state, choice)
    var result = RefreshReport(outcome: .current, generation: choice.open?.number ?? 0)
    report(RefreshProgress(step: .installing, completed: 0, total: 1))
    let generation = Self.number(at: time, after: highest)
    folder.removeIncoming()
    let file = folder.part(generation)
    let seal = try seal(store, to: file, generation, date.value)
    installer.onStep(.sealed)
    if let open = choice.open, open.seal.contentDigest == seal.contentDigest,
      open.seal.schemaFingerprint == seal.schemaFingerprint
    {
      SystemFile.remove(file)
      return Refreshed(report: result)
    }
    let open = try installer.install(
      file, as: generation, source: .refresh, digest: nil, keys: "", at: time, &state)
    report(RefreshProgress(step: .installing, completed: 1, total: 1))
    (result.outcome, result.generation) = (.replaced, generation)
    return Refreshed(report: result, open: open)
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

  /// The number of a generation: the seconds since 1970, or one more than the highest.
  static func number(at time: Date, after highest: UInt64) -> UInt64 {
    let seconds = time.timeIntervalSince1970
    let number = seconds > 1 && seconds < 1e12 ? UInt64(seconds) : 1
    return max(number, highest == .max ? highest : highest + 1)
  }

  /// Opens the store of the importer, and replaces a damaged one: all that it has comes from the service.
  private func openStore() throws -> Store {
    do throws(StoreError) {
      return try Store(at: storePath, entities: installer.content.entities)
    } catch
      where error.code == .damaged || error.code == .notAStore
      || error.code == .incompatibleSchema
    {
      for name in [storePath, storePath + "-lock"] { SystemFile.remove(name) }
      do throws(StoreError) {
        return try Store(at: storePath, entities: installer.content.entities)
      } catch {
        throw DatasetError.unusable(storePath, error)
      }
    } catch {
      throw DatasetError.unusable(storePath, error)
    }
  }
}
