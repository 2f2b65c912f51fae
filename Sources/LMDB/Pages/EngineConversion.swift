import CLMDB
import LodestoreBytes
import LodestoreSystem

/// Converts a file of the other LMDB to this engine's format, with the same trees and pairs.
///
/// The new file is written in the same directory under a temporary name, compared with the old one
/// pair by pair, and renamed in one step. The old file is first given another name and stays. If
/// the process is killed at any point, one of the two files is at the path.
package struct EngineConversion {
  /// The result of a conversion.
  package struct Outcome: Sendable {
    /// The format of the old file.
    package var from: PageFormat
    /// The new path of the old file.
    package var oldPath: String
    package var treeCount = 0
    package var pairCount = 0
  }

  let path: String
  /// Receives the number of pairs copied or compared, and the total.
  ///
  /// If it returns false, the conversion ends.
  let step: (_ done: Int, _ total: Int) -> Bool
  /// The maximum total size of keys and values in one write, in bytes.
  private static let writeSize = 32 << 20

  private let source: PageFile
  private let commit: PageSnapshot
  private let trees: [(name: String, tree: PageTree)]
  private let total: Int

  /// - Parameter step: Receives the number of pairs done. Each pair is copied and later compared.
  /// - Throws: ``LMDBError`` if the file is not an LMDB file, is damaged, or cannot be read.
  package init(
    of path: String, step: @escaping (_ done: Int, _ total: Int) -> Bool = { _, _ in true }
  ) throws(LMDBError) {
    self.path = path
    self.step = step
    do {
      source = try PageFile(path: path)
      commit = try PageSnapshot(newestOf: PageMap(source))
      var trees: [(name: String, tree: PageTree)] = []
      try commit.forEachTree { (name, tree) throws(PageError) in trees.append((name, tree)) }
      self.trees = trees
    } catch {
      throw Self.failure(error, path)
    }
    total = 2 * trees.reduce(0) { $0 + Int(clamping: $1.tree.record.entries) }
  }

  /// Whether the file has a tree of this name.
  package func hasTree(_ name: String) -> Bool { trees.contains { $0.name == name } }

  package var format: PageFormat { commit.format }

  /// The new path of the old file: the path followed by the name of its engine.
  package var oldPath: String { path + (format == .lmdb09 ? ".lmdb-0.9" : ".lmdb-1.0") }

  private static func failure(_ error: any Error, _ path: String) -> LMDBError {
    switch error {
    case let error as LMDBError: error
    case let error as PageError: LMDBError(error, operation: "convert", path: path)
    case let error as VerificationError: LMDBError(error, operation: "convert", path: path)
    default: LMDBError(.damaged("\(error)"), operation: "convert", path: path)
    }
  }

  /// Converts the file to be opened for writing if the options ask for it.
  static func run(
    _ path: String, _ format: PageFormat, _ options: EnvironmentOptions,
    _ onCheck: (Int, Int) -> Bool
  ) throws(LMDBError) {
    do {
      try withoutActuallyEscaping(onCheck) { onCheck in
        let conversion = try EngineConversion(of: path, step: onCheck)
        guard let tree = options.convertsFilesWithTree, conversion.hasTree(tree) else {
          throw LMDBError(.otherEngine(format), operation: "open", path: path)
        }
        if options.trust == .verifyFirst {
          try options.checkPages?(conversion.source.descriptor, path, onCheck)
        }
        _ = try conversion.run()
      }
    } catch {
      throw failure(error, path)
    }
  }

  // MARK: Steps of the conversion

  /// Converts the file.
  ///
  /// - Parameter check: Receives the path of the new file before it is renamed. If it throws, the
  ///   old file stays unchanged.
  /// - Throws: ``LMDBError`` if another process has the file open, if the old file's new name is
  ///   taken, or if the disk is full. Rethrows errors of `check`.
  package func run(check: (_ path: String) throws -> Void = { _ in }) throws -> Outcome {
    guard format != .ofEngine else {
      throw failure(.unsuitablePath("a file of \(format.engine) already"))
    }
    let lock = try UnusedLockFile(ofStore: path, operation: "convert")
    guard let status = stat(of: source.descriptor) else { throw failure(code: errno) }
    try checkOldPath(status)
    let temporary = try TemporaryFile(for: path, mode: UInt32(status.st_mode & 0o777))
    // The umask may have removed permissions, and files created by root belong to root.
    fchmod(temporary.descriptor, status.st_mode & 0o777)
    _ = fchown(temporary.descriptor, status.st_uid, status.st_gid)
    var outcome = Outcome(from: format, oldPath: oldPath)
    do {
      outcome.treeCount = trees.count
      outcome.pairCount = try copy(into: temporary)
      try compare(with: temporary.path)
      try check(temporary.path)
      try swap(temporary, status)
    } catch {
      throw error is PageError || error is VerificationError ? Self.failure(error, path) : error
    }
    // The new file gets its own lock file, because the engine refuses a lock file of the other
    // LMDB.
    lock.remove()
    return outcome
  }

  private func failure(_ kind: LMDBError.Kind) -> LMDBError {
    LMDBError(kind, operation: "convert", path: path)
  }

  private func failure(code: Int32) -> LMDBError {
    LMDBError(code: code, operation: "convert", path: path)
  }

  /// Throws if the old file's second name is taken.
  ///
  /// A conversion that was killed may have left the old file under both names.
  private func checkOldPath(_ status: stat) throws(LMDBError) {
    guard let other = StoreFile.identity(at: oldPath) else {
      guard errno == ENOENT else { throw failure(code: errno) }
      return
    }
    if other == StoreFile.Identity(status) { return }
    throw LMDBError(
      .unsuitablePath("there already, and the old file is to have that name; move it away"),
      operation: "convert '\(path)' beside", path: oldPath)
  }

  /// Copies all pairs and returns their number.
  private func copy(into temporary: TemporaryFile) throws -> Int {
    var options = EnvironmentOptions()
    options.mapSizeInBytes = max(options.mapSizeInBytes, 2 * commit.map.byteCount)
    // One sync at the end is enough, because the file has no name until then.
    options.durability = .mayLoseLastCommit
    options.isNamed = false
    let environment = try Environment.open(
      temporary.path, options, nil, nil, flags: UInt32(MDB_NOLOCK))
    defer { environment.shutDown() }
    var done = 0
    for (name, tree) in trees {
      guard tree.record.flags & ~TreeRecordLayout.integerKeys == 0 else {
        throw failure(.damaged("its tree '\(name)' is of a kind that no store has"))
      }
      var place: [UInt8]?
      repeat {
        place = try copyPart(of: tree, name, from: place, into: environment, &done)
      } while place != nil
    }
    let code = EngineDifferences.code(mdb_env_sync(environment.handle, 1))
    guard code == 0 else { throw environment.ioFailure(code, operation: "convert") }
    return done
  }

  /// Copies pairs from the key `place` in one write and returns the key of the next pair.
  private func copyPart(
    of tree: PageTree, _ name: String, from place: [UInt8]?, into environment: Environment,
    _ done: inout Int
  ) throws -> [UInt8]? {
    let isInteger = tree.record.flags & TreeRecordLayout.integerKeys != 0
    let (next, count) = try environment.write { transaction -> ([UInt8]?, Int) in
      guard
        let target = try environment.tree(
          name, isCreated: true, hasIntegerKeys: isInteger, in: transaction)
      else { throw failure(code: MDB_BAD_DBI) }
      let source = tree.cursor()
      let output = try WritingCursor(target, in: transaction)
      var pair =
        try place.map { place in
          try place._withBytes { (key) throws(PageError) in try source.seek(atOrAfter: key) }
        } ?? source.first()
      var (size, count) = (0, 0)
      while let found = pair {
        if size >= Self.writeSize { return (Array(found.key), count) }
        guard try output.append(found.key, found.value) else {
          throw failure(.damaged("the keys of its tree '\(name)' are not in order"))
        }
        size += found.key.count + found.value.count
        count += 1
        pair = try source.next()
      }
      return (nil, count)
    }
    done += count
    try tell(done)
    return next
  }

  private func tell(_ done: Int) throws(LMDBError) {
    guard step(min(done, total), total) else { throw failure(.cancelled) }
  }

  /// Throws unless the file at `copy`, read without LMDB, has the same trees and pairs.
  private func compare(with copy: String) throws {
    let made = try PageSnapshot(newestOf: PageMap(PageFile(path: copy)))
    var remaining = trees[...]
    var done = total / 2
    try made.forEachTree { name, tree in
      guard let (wantedName, wanted) = remaining.popFirst(), wantedName == name,
        wanted.record.entries == tree.record.entries, wanted.record.flags == tree.record.flags
      else { throw difference(in: name) }
      let (old, new) = (wanted.cursor(), tree.cursor())
      var isSame = true
      while isSame {
        let (first, second) = (try old.next(), try new.next())
        guard let first, let second else {
          isSame = first == nil && second == nil
          break
        }
        isSame =
          first.key.elementsEqual(second.key)
          && first.value.count == second.value.count
          && memcmp(first.valueStart, second.valueStart, first.value.count) == 0
        done += 1
        if done % 100_000 == 0 { try tell(done) }
      }
      if !isSame { throw difference(in: name) }
    }
    if let missing = remaining.first { throw difference(in: missing.name) }
  }

  private func difference(in tree: String) -> LMDBError {
    failure(.damaged("its tree '\(tree)' and the copy differ, and the file stays as it is"))
  }

  /// Gives the old file its second name, and the new file the path.
  private func swap(_ temporary: TemporaryFile, _ status: stat) throws(LMDBError) {
    try keepCommitNumber(of: temporary.path)
    guard StoreFile.identity(at: path) == StoreFile.Identity(status),
      commit.map.newestTransaction == commit.transaction
    else { throw failure(.unsuitablePath("being written or replaced right now")) }
    if link(path, oldPath) != 0 {
      guard errno == EEXIST else { throw failure(code: errno) }
      // Another file that appeared there meanwhile is not the old one.
      try checkOldPath(status)
    }
    guard rename(temporary.path, path) == 0 else { throw failure(code: errno) }
    try StoreFile.syncDirectory(of: path)
  }

  /// Gives the newest commit of the new file the old one's number, because commit numbers must
  /// never decrease.
  private func keepCommitNumber(of copy: String) throws(LMDBError) {
    let file = open(copy, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { throw failure(code: errno) }
    defer { close(file) }
    do {
      let map = try PageMap(PageFile(descriptor: file))
      let newest = try PageSnapshot(newestOf: map).transaction
      guard newest < commit.transaction else { return }
      let layout = map.format.meta
      let page = ByteView(start: map.base + (Int(newest & 1) * map.pageSize), count: layout.size)
      var bytes = Array(page)
      for number in [commit.transaction - 1, commit.transaction] {
        let place = Int(number & 1)
        bytes._withMutableBytes {
          $0.storeBytes(of: UInt64(place), toByteOffset: PageLayout.number, as: UInt64.self)
          $0.storeBytes(of: number, toByteOffset: layout.transaction, as: UInt64.self)
        }
        guard pwrite(file, bytes, bytes.count, off_t(place * map.pageSize)) == bytes.count else {
          throw StoreFile.failedWrite(errno, to: file, operation: "convert", path: path)
        }
      }
    } catch {
      throw Self.failure(error, path)
    }
    guard fsync(file) == 0 else { throw failure(code: errno) }
  }
}
