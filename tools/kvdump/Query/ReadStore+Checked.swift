import EntityStore

extension ReadStore {
  /// Like `read`, for commands that let the query engine read records: it checks every record
  /// against its checksum before it believes what is in it.
  static func readChecked<R>(
    _ path: String, on console: Console, _ body: (TransactionCore) throws -> R
  ) throws -> R {
    var options = options
    options.verifiesChecksums = true
    let core = try StoreCore(path: path, options: options)
    defer { core.close() }
    if !core.environment.hasLockFile {
      console.note(
        "\(path): no lock file can be made there; "
          + "read without one, which is safe while nobody writes")
    }
    return try core.read(body)
  }
}
