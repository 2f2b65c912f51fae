internal import Dispatch
internal import LMDB
internal import LodestoreSystem

/// A storage in a local or mounted folder, one file for each object.
///
/// A file gets its name when it is complete and on the disk. ``PutCondition/absent`` is one step of
/// the file system: a rename that replaces nothing, or `link(2)`. The condition therefore also
/// holds between machines that mount the folder.
///
/// Writes with ``PutCondition/matches(_:)`` hold the lock of a file, so that condition needs a
/// mount whose locks reach all machines. All other calls need no lock. A process that the system
/// stops may hold the lock for long, so after ``lockLimit`` such a write is refused as
/// ``StorageError/Kind/unsupported``.
///
/// Calls block a thread of a queue and no task, because a mount may stop answering.
package struct FolderStorage: ObjectStorage {
  /// The beginning of the names of files that are no objects.
  static let ownPrefix = ".lodestore-"
  private static let lockName = "\(ownPrefix)lock"
  private static let queue = DispatchQueue(
    label: "lodestore.folder-storage", qos: .utility, attributes: .concurrent)

  /// The path of the folder, without a slash at its end.
  let root: String
  /// The longest time to wait for the lock.
  var lockLimit = Duration.seconds(5)

  package var place: String { root }

  /// - Parameter path: A folder that exists. A missing one is never created, because the mount may
  ///   be missing.
  /// - Throws: ``StorageError/Kind/noBucket``.
  package init(path: String) throws(StorageError) {
    var root = path
    while root.count > 1, root.hasSuffix("/") { root.removeLast() }
    self.root = root
    try checkRoot(.open, "")
  }

  // MARK: Calls

  package func get(
    _ key: ObjectKey, range: Range<UInt64>?, byteLimit: Int
  ) async throws(StorageError) -> StoredObject {
    try await blocking(.get, key.text) { () throws(StorageError) in
      try checkUsable(key, .get)
      let file = try FolderFile.open(path(key), self, .get, key.text)
      let part = try file.part(range)
      guard part.upperBound - part.lowerBound <= UInt64(max(byteLimit, 0)) else {
        throw failure(
          .tooLarge, .get, key.text,
          "found \(part.upperBound - part.lowerBound) bytes, expected at most \(byteLimit)")
      }
      let bytes = try file.bytes(part)
      return StoredObject(head: try file.head(), bytes: bytes)
    }
  }

  package func download(
    _ key: ObjectKey, range: Range<UInt64>?, byteLimit: UInt64,
    take: @escaping @Sendable ([UInt8]) throws(StorageError) -> Void
  ) async throws(StorageError) -> ObjectHead {
    try await blocking(.get, key.text) { () throws(StorageError) in
      try checkUsable(key, .get)
      let file = try FolderFile.open(path(key), self, .get, key.text)
      let part = try file.part(range)
      guard part.upperBound - part.lowerBound <= byteLimit else {
        throw failure(
          .tooLarge, .get, key.text,
          "found \(part.upperBound - part.lowerBound) bytes, expected at most \(byteLimit)")
      }
      var start = part.lowerBound
      while start < part.upperBound {
        let end = min(start + UInt64(FolderFile.pieceSize), part.upperBound)
        try take(try file.bytes(start..<end))
        start = end
      }
      return try file.head()
    }
  }

  package func head(_ key: ObjectKey) async throws(StorageError) -> ObjectHead {
    try await blocking(.head, key.text) { () throws(StorageError) in
      try checkUsable(key, .head)
      return try FolderFile.open(path(key), self, .head, key.text).head()
    }
  }

  package func put(
    _ content: ObjectContent, at key: ObjectKey, if condition: PutCondition
  ) async throws(StorageError) -> ObjectTag {
    try await blocking(.put, key.text) { () throws(StorageError) in
      try checkUsable(key, .put)
      return try write(content, at: key, if: condition)
    }
  }

  package func list(
    prefix: String, after: String?, limit: Int
  ) async throws(StorageError) -> ObjectPage {
    try await blocking(.list, prefix) { () throws(StorageError) in
      try checkRoot(.list, prefix)
      return try FolderList(storage: self, prefix: prefix, after: after).page(
        limit: min(max(limit, 1), 1000))
    }
  }

  package func delete(_ key: ObjectKey) async throws(StorageError) {
    try await blocking(.delete, key.text) { () throws(StorageError) in
      try checkUsable(key, .delete)
      guard unlink(path(key)) == 0 else {
        guard [ENOENT, ENOTDIR].contains(errno) else { throw system(errno, .delete, key.text) }
        return
      }
      try sync(folder: Folder.path(of: path(key)), .delete, key.text)
    }
  }

  // MARK: Writing

  private func write(
    _ content: ObjectContent, at key: ObjectKey, if condition: PutCondition
  ) throws(StorageError) -> ObjectTag {
    let target = path(key)
    try makeFolders(of: key)
    let name = String(UInt64.random(in: .min ... .max), radix: 36)
    let temporary = "\(Folder.path(of: target))/\(Self.ownPrefix)\(name)"
    let tag = try FolderFile.write(content, to: temporary, self, key.text)
    defer { unlink(temporary) }
    switch condition {
    case .absent:
      let code = TemporaryFile.move(temporary, toNew: target)
      guard code != EEXIST else {
        throw failure(.conditionFailed, .put, key.text, "there is an object already")
      }
      guard code == 0 else { throw system(code, .put, key.text) }
    case .none:
      guard rename(temporary, target) == 0 else { throw system(errno, .put, key.text) }
    case .matches(let expected):
      let lock = try lockedFile(for: key)
      defer { close(lock) }
      try checkTag(expected, of: key)
      guard rename(temporary, target) == 0 else { throw system(errno, .put, key.text) }
    }
    do {
      try sync(folder: Folder.path(of: target), .put, key.text)
    } catch {
      // The object has its name, and may lose the name in a failure of power.
      var error = error
      error.mayHaveHappened = true
      throw error
    }
    return tag
  }

  /// Checks that the object in place has a tag.
  private func checkTag(_ expected: ObjectTag, of key: ObjectKey) throws(StorageError) {
    let found: ObjectTag
    do throws(StorageError) {
      found = try FolderFile.open(path(key), self, .put, key.text).head().tag
    } catch {
      guard error.kind == .notFound else { throw error }
      throw failure(.conditionFailed, .put, key.text, "there is no object")
    }
    guard found == expected else {
      throw failure(
        .conditionFailed, .put, key.text, "found the tag \(found.text), expected \(expected.text)")
    }
  }

  /// Opens the file of the lock and locks it, until the file is closed.
  private func lockedFile(for key: ObjectKey) throws(StorageError) -> Int32 {
    let file = open("\(root)/\(Self.lockName)", O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw system(errno, .put, key.text) }
    let deadline = ContinuousClock.now + lockLimit
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code == EWOULDBLOCK, ContinuousClock.now < deadline {
        usleep(2_000)
        continue
      }
      if code == EINTR { continue }
      close(file)
      guard code == EWOULDBLOCK else { throw system(code, .put, key.text) }
      throw failure(
        .unsupported, .put, key.text,
        "another process has held the lock of the folder for \(lockLimit)")
    }
    return file
  }

  /// Makes the folders of a key, and makes their names durable.
  private func makeFolders(of key: ObjectKey) throws(StorageError) {
    var folder = root
    for part in key.text.split(separator: "/").dropLast() {
      let parent = folder
      folder += "/\(part)"
      if mkdir(folder, 0o777) == 0 {
        try sync(folder: parent, .put, key.text)
      } else if errno != EEXIST {
        throw system(errno, .put, key.text)
      }
    }
  }

  /// Makes the names in a folder durable.
  private func sync(
    folder: String, _ operation: StorageError.Operation, _ key: String
  ) throws(StorageError) {
    let file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard file >= 0 else { throw system(errno, operation, key) }
    defer { close(file) }
    while fsync(file) != 0 {
      // Some file systems cannot sync folders.
      if errno == EINVAL { return }
      guard errno == EINTR else { throw system(errno, operation, key) }
    }
  }

  // MARK: Checks

  private func path(_ key: ObjectKey) -> String { "\(root)/\(key.text)" }

  private func checkRoot(
    _ operation: StorageError.Operation, _ key: String
  ) throws(StorageError) {
    guard let status = stat(at: root), status.st_mode & S_IFMT == S_IFDIR else {
      throw failure(.noBucket, operation, key, "there is no such folder")
    }
  }

  private func checkUsable(
    _ key: ObjectKey, _ operation: StorageError.Operation
  ) throws(StorageError) {
    try checkRoot(operation, key.text)
    let isOwn = key.text.split(separator: "/").contains { $0.hasPrefix(Self.ownPrefix) }
    guard !isOwn else {
      throw failure(
        .badRequest, operation, key.text, "names that begin with '\(Self.ownPrefix)' are reserved")
    }
  }

  func failure(
    _ kind: StorageError.Kind, _ operation: StorageError.Operation, _ key: String, _ reason: String
  ) -> StorageError {
    StorageError(kind, operation, key: key, place: root, reason: reason)
  }

  func system(
    _ code: Int32, _ operation: StorageError.Operation, _ key: String
  ) -> StorageError {
    let kind: StorageError.Kind =
      switch code {
      case ENOENT, ENOTDIR: .notFound
      case EACCES, EPERM, EROFS: .denied
      case EIO, ESTALE, ETIMEDOUT, EBUSY: .unavailable
      default: .system(code: code)
      }
    return failure(kind, operation, key, String(cString: strerror(code)))
  }

  // MARK: Threads

  /// Runs a body on the queue, unless the task is cancelled.
  private func blocking<R: Sendable>(
    _ operation: StorageError.Operation, _ key: String,
    _ body: @escaping @Sendable () throws(StorageError) -> R
  ) async throws(StorageError) -> R {
    guard !Task.isCancelled else {
      throw failure(.cancelled, operation, key, "the task was cancelled")
    }
    let result: Result<R, StorageError> = await withCheckedContinuation { continuation in
      Self.queue.async {
        do throws(StorageError) {
          continuation.resume(returning: .success(try body()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return try result.get()
  }
}
