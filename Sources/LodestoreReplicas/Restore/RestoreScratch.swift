internal import LodestoreDatasets
internal import LodestoreSystem

/// The files of a restore that are not at their path yet, and the lock that tells whether the
/// restore still runs.
///
///     PATH-restoring-NUMBER.sealed    a base that is being downloaded
///     PATH-restoring-NUMBER.copy      the store that is being made, with its lock file
///     PATH-restoring-NUMBER.lock      locked by the process that restores; empty
///
/// The system ends the lock with the process. The next restore to the same path therefore removes
/// the files of a killed one, however old they are.
final class RestoreScratch: Sendable {
  /// The path of the files without their suffixes.
  let stem: String
  private let lock: FileLock

  private static func prefix(_ path: String) -> String { path + "-restoring-" }
  private static let lockSuffix = ".lock"

  init(for path: String) throws {
    stem = Self.prefix(path) + String(UInt64.random(in: .min ... .max), radix: 36)
    let found: FileLock?
    do throws(DatasetError) {
      found = try FileLock.exclusive(making: stem + Self.lockSuffix)
    } catch { throw ReplicaError(error) }
    guard let found else {
      throw ReplicaError(
        .busy, "cannot lock '\(stem + Self.lockSuffix)': another process has the lock; call again")
    }
    lock = found
  }

  // The lock file is removed last, under the lock. Files without it count as those of a killed
  // process.
  deinit { Self.removeFiles(stem) }

  /// Removes the files of restores to a path whose processes have ended.
  ///
  /// On a file system without locks nobody knows which processes run, and all files stay.
  static func removeAbandoned(for path: String) {
    let folder = Folder.path(of: path)
    let start = prefix(path.split(separator: "/").last.map(String.init) ?? path)
    let names = Folder.names(in: folder, beginningWith: start) ?? []
    let stems = Set(names.map { name in start + name.dropFirst(start.count).prefix { $0 != "." } })
    for stem in stems.sorted() {
      let path = "\(folder)/\(stem)"
      let lockPath = path + lockSuffix
      guard let lock = try? FileLock.exclusive(making: lockPath) else { continue }
      defer { withExtendedLifetime(lock) {} }
      // A second lock on the file succeeds where locks have no effect.
      guard let second = try? FileLock.exclusive(making: lockPath) else {
        removeFiles(path)
        continue
      }
      withExtendedLifetime(second) {}
    }
  }

  private static func removeFiles(_ stem: String) {
    for end in [".sealed", ".copy", ".copy-lock", lockSuffix] { unlink(stem + end) }
  }
}
