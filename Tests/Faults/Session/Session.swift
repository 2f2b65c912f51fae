import EntityStore
import Foundation

/// Runs the steps of a script on the store of a folder, whatever fails, and records the possible
/// contents.
final class Session {
  static let storeName = "store.lodestore"

  /// The outcome of a step.
  enum Outcome {
    case done
    case failed(any Error)
    /// The step needs an open store, and the store could not be opened.
    case skipped
  }

  let folder: String
  var path: String { "\(folder)/\(Self.storeName)" }
  private var options = StoreOptions()
  private var store: Store?
  private var isNewer = false
  private var isPoisoned = false
  /// Whether an error of the disk comes from a sync, after which the store must be opened again.
  var failsInSync = false
  private var mustBePoisoned = false
  private(set) var contents = PossibleContents()
  /// The possible contents of the copies, by name, and whether the copy was acknowledged.
  private(set) var copies: [String: (contents: [Contents], isDone: Bool)] = [:]
  /// Descriptions of wrong results.
  private(set) var problems: [String] = []
  private(set) var errorCodes: [String: Int] = [:]

  init(_ folder: String, durability: StoreOptions.Durability = .full) {
    self.folder = folder
    options.history = .images
    options.durability = durability
    options.author = "session"
  }

  /// The number of the newest commit.
  var commit: UInt64? {
    guard let store, let commit = try? store.read({ $0.commitNumber }) else { return nil }
    return UInt64(commit.description)
  }

  func run(_ step: Step) async -> Outcome {
    let start = ContinuousClock.now
    defer {
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      if seconds > 10 { problems.append("\(step) took \(Int(seconds)) seconds") }
    }
    do {
      if step.needsStore { try reopenIfNeeded() }
    } catch {
      note(error, step)
      return .skipped
    }
    do {
      try await perform(step)
      if step.writes, mustBePoisoned { problems.append("\(step) is done after a failed sync") }
      contents.add(step)
      if case .copy(let name) = step { copies[name] = (contents.all, true) }
    } catch {
      contents.addPossibly(step)
      if case .copy(let name) = step { copies[name] = (contents.all, false) }
      note(error, step)
      return .failed(error)
    }
    return .done
  }

  /// After a failed write, reads the store to determine whether the write was made.
  func settle() {
    guard contents.only == nil, isNewer, let store, let found = try? Contents(store) else { return }
    if !contents.narrow(to: found) { problems.append("has other records than were written") }
  }

  func close() {
    store?.close()
    store = nil
    mustBePoisoned = false
  }

  private func reopenIfNeeded() throws {
    if isPoisoned { close() }
    guard store == nil else { return }
    try open(isNewer: isNewer)
  }

  private func note(_ error: any Error, _ step: Step) {
    guard let error = error as? StoreError else {
      problems.append("\(step) threw \(error), which is no StoreError")
      return
    }
    errorCodes["\(error.code)", default: 0] += 1
    if step.writes, failsInSync, error.code == .inputOutput { mustBePoisoned = true }
    if error.code == .poisoned { isPoisoned = true }
    if [.damaged, .notAStore, .brokenTransaction, .nestedWrite, .undecodableValue].contains(
      error.code)
    {
      problems.append("\(step) threw \(error.code): \(error)")
    }
  }

  // MARK: Steps

  private func open(isNewer: Bool) throws {
    self.isNewer = isNewer
    let types: [any Entity.Type] = isNewer ? [ItemV2.self] : [ItemV1.self]
    let opened = try Store(at: path, entities: types, options: options)
    store = opened
    isPoisoned = false
    // The older program does not see all attributes, so only the newer one can compare.
    guard isNewer, let found = try? Contents(opened) else { return }
    if !contents.narrow(to: found) {
      problems.append("opened with other records than were written")
    }
  }

  private func perform(_ step: Step) async throws {
    switch step {
    case .open(let isNewer): try open(isNewer: isNewer)
    case .close: close()
    case .copy(let name):
      let source = try DynamicStore(path: path, options: .readOnly)
      defer { source.close() }
      try source.copy(to: "\(folder)/\(name)", compacting: true)
    default:
      guard let store else { return }
      if isNewer {
        try await write(step, as: ItemV2.self, store)
      } else {
        try await write(step, as: ItemV1.self, store)
      }
    }
  }

  private func write<Item: StoredItem & Sendable>(
    _ step: Step, as _: Item.Type, _ store: Store
  ) async throws {
    switch step {
    case .put(let rows, isAsynchronous: true):
      try await store.write { tx in for row in rows { _ = try tx.upsert(Item(row)) } }
    case .take(let rows):
      let page = try JSONEncoder().encode(rows)
      let pages = AsyncStream { continuation in
        continuation.yield(page)
        continuation.finish()
      }
      _ = try await Item.importer(into: store).run(pages, as: Row.self) { Item($0) }
    default: try writeHere(step, as: Item.self, store)
    }
  }

  /// Writes the step on the calling thread.
  private func writeHere<Item: StoredItem>(_ step: Step, as _: Item.Type, _ store: Store) throws {
    try store.write { tx in
      switch step {
      case .insert(let rows): try tx.insert(rows.map(Item.init))
      case .put(let rows, _): for row in rows { _ = try tx.upsert(Item(row)) }
      case .update(let group, let note): try Item.setNote(note, group: group, in: &tx)
      case .delete(let keys): try tx.delete(Item.with(keys: keys))
      case .purge: _ = try tx.purgeHistory(before: .distantFuture)
      case .open, .close, .copy, .take: break
      }
    }
  }
}
