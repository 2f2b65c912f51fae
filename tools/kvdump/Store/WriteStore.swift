import EntityStore
import LodestoreFormat
import LodestoreSystem

/// Opens stores for the commands that change records.
enum WriteStore {
  /// Opens the existing store at `path`, runs `body` as the only writer, commits and closes the
  /// store.
  ///
  /// If `body` throws, the store stays unchanged.
  ///
  /// The call waits for other writers. Every record that is read is checked against its checksum.
  /// Without this check a change would give a damaged record a new checksum and so hide the damage.
  /// `body` may run more than once.
  static func write<R>(_ path: String, _ body: (DynamicTransaction) throws -> R) throws -> R {
    try withStore(path) { try $0.write(body) }
  }

  /// Removes the records of the store at `path` that have expired or exceed a limit.
  ///
  /// If the eviction fails, some of the records may already be removed.
  static func evict(_ path: String) throws -> EvictionReport {
    try withStore(path) { try $0.evict() }
  }

  private static func withStore<R>(_ path: String, _ body: (DynamicStore) throws -> R) throws -> R {
    var options = StoreOptions()
    options.access = .existing
    options.verifiesChecksums = true
    options.reportLongWaits()
    let store = try DynamicStore(path: path, options: options)
    defer { store.close() }
    return try body(store)
  }
}

extension StoreOptions {
  /// Prints a line on standard error when a write waits for another process.
  ///
  /// A note would appear only at the end.
  mutating func reportLongWaits() {
    writeWaitWarningAge = .seconds(2)
    onWriteWaitWarning = { warning in
      let seconds = Int(warning.waited / .seconds(1))
      let since = warning.since.map {
        " since " + KeyText.text(of: .date($0.timeIntervalSinceReferenceDate.rounded(.down)))
      }
      var text =
        "kvdump: waited \(seconds) s for \(warning.holder), which has the store's turn to write"
        + "\(since ?? ""); control-C ends the wait\n"
      text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
  }
}
