internal import LodestorePages
import LodestoreSystem

/// Reading a file without LMDB.
extension Environment {
  /// The name of the LMDB that made the file, if it differs from this process's LMDB.
  package var otherEngine: String? { format == .ofEngine ? nil : format.engine }

  /// Whether a file may be read without its lock file, if that can be neither opened nor created.
  ///
  /// A process that may not write the file cannot prevent other processes from writing it during a
  /// read. ``Transaction/whole(_:)`` reports such a write. A process that may write the file must
  /// request such a read by ``EnvironmentOptions/allowsUnlockedReading``.
  static func mayReadUnlocked(_ path: String, _ options: EnvironmentOptions) -> Bool {
    guard options.access == .readOnly else { return false }
    // The effective user opens files, while access(2) checks the real user.
    return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0
      || (options.allowsUnlockedReading && access(path + "-lock", F_OK) != 0)
  }

  /// Opens a file for reading its pages without LMDB and without its lock file.
  static func openInPages(
    _ path: String, _ options: EnvironmentOptions, _ identity: StoreFile.Identity,
    _ onCheck: (Int, Int) -> Bool
  ) throws(LMDBError) -> Environment {
    try checkMachine(path)
    _ = try checkPages(path, options, isAsLeft: false, nil, onCheck)
    let engine = try PageEngine(pageFile(path), path: path)
    guard StoreFile.identity(of: engine.file.descriptor) == identity else {
      throw LMDBError(.unsuitablePath("being replaced right now"), operation: "open", path: path)
    }
    return Environment(engine, identity, options)
  }

  /// Throws on a machine whose memory layout differs from the format's.
  static func checkMachine(_ path: String) throws(LMDBError) {
    guard MemoryLayout<Int>.size == 8, UInt16(1).littleEndian == 1 else {
      throw LMDBError(
        .notAnEnvironment(
          "this machine, which is no 64-bit little-endian one, reads no such pages"),
        operation: "open", path: path)
    }
  }

  static func pageFile(_ path: String) throws(LMDBError) -> PageFile {
    do throws(VerificationError) {
      return try PageFile(path: path)
    } catch {
      throw LMDBError(error, operation: "open", path: path)
    }
  }

  /// Opens a file without a name, which nobody else has open.
  ///
  /// The caller owns the descriptor.
  static func openInPages(
    _ file: Int32, as path: String, options: EnvironmentOptions
  ) throws(LMDBError) -> Environment {
    guard let own = PageFile(duplicateOf: file), let identity = StoreFile.identity(of: file) else {
      throw LMDBError(code: errno, operation: "open", path: path)
    }
    return Environment(try PageEngine(own, path: path), identity, options)
  }

  convenience init(
    _ engine: PageEngine, _ identity: StoreFile.Identity, _ options: EnvironmentOptions
  ) {
    self.init(
      handle: OpaquePointer(Unmanaged.passUnretained(engine).toOpaque()), engine, path: engine.path,
      options: options, identity: identity, lockIdentity: nil, files: nil,
      isWithoutReadAhead: false)
  }

  func begin(_ engine: PageEngine, _ ended: PinnedRead?) throws(LMDBError) -> PinnedRead {
    do throws(LMDBError) {
      return PinnedRead(handle: try engine.begin(ended?.handle))
    } catch {
      leaveReaders(nil)
      throw error
    }
  }
}
