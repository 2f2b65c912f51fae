import EntityStore

/// Opens stores for the commands that change records.
enum WriteStore {
  /// Opens the store at `path`, which must be there, runs `body` as the one writer, commits and
  /// closes it; what `body` throws leaves the store as it was.
  ///
  /// Waits for other writers. Every record that is read is checked against its checksum: a change
  /// would give a damaged one a new checksum, and the damage could no longer be found. `body` may
  /// run more than once.
  static func write<R>(_ path: String, _ body: (DynamicTransaction) throws -> R) throws -> R {
    var options = StoreOptions()
    options.access = .existing
    options.verifiesChecksums = true
    let store = try DynamicStore(path: path, options: options)
    defer { store.close() }
    return try store.write(body)
  }
}
