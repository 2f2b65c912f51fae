internal import EntityStore
internal import LMDB
internal import LodestoreFormat
internal import LodestorePages
import LodestoreSystem
internal import LodestoreVerifier

/// Saves the content of damaged stores.
public enum StoreRepair {
  /// Creates a new store from everything that can be read in a damaged one.
  ///
  ///     let report = try StoreRepair.salvage(from: "damaged.lodestore", to: "saved.lodestore")
  ///     print(report)   // nothing was lost
  ///
  /// Every page of the damaged file is read once and classified by its content, so records are
  /// found even if no tree refers to them. Records, links, orders, buckets, imports and the history
  /// are taken from the newest page that has them. Indexes and derived attributes are rebuilt from
  /// the records. The store's digests and counts show whether everything was found. The damaged
  /// file is not changed. The new store is verified before it gets its name.
  ///
  /// - Parameters:
  ///   - path: The damaged file, of either version of LMDB. No process may have it open.
  ///   - target: The path of the new store. No file may exist there.
  /// - Returns: The numbers of saved and of lost records, links and other content.
  /// - Throws: `StoreError`: `StoreError.Code.busy` if a process has the store open,
  ///   `StoreError.Code.notAStore` if no part of a store is found, and errors of reading and
  ///   writing. No file is left at `target` then.
  /// - Complexity: Two readings of the file, and one more of the records for each unique key that
  ///   two records share. Memory holds some bits for each page, the ids of records as ranges, links
  ///   and orders, and hashes of the index entries of damaged entities.
  public static func salvage(from path: String, to target: String) throws -> RepairReport {
    do {
      let temporary = try TemporaryFile(for: target, mode: 0o600)
      let report = try salvage(path, into: temporary.storePath)
      let code = TemporaryFile.move(temporary.storePath, toNew: target)
      guard code == 0 else {
        throw LMDBError(code: code, operation: "name the saved store", path: target)
      }
      return report
    } catch let error as VerificationError {
      switch error {
      case .system(let code):
        throw StoreError(ofEngine: LMDBError(code: code, operation: "salvage", path: path))
      case .newerFormat: throw StoreError(.newerFormat, message: error.description)
      default: throw StoreError(.notAStore, message: error.description)
      }
    } catch let error as LMDBError {
      throw StoreError(ofEngine: error)
    }
  }

  /// Creates the new store at `out`, where nothing may exist.
  package static func salvage(_ path: String, into out: String) throws -> RepairReport {
    try checkUse(of: path)
    let before = try DamagedFile(path: path).metas
    let report = try Salvage(path).run(into: out) { out in
      for suffix in ["", "-lock"] { unlink(out + suffix) }
    } isSound: {
      try Verifier.verify(path: $0).isSound
    }
    try checkUse(of: path)
    guard try DamagedFile(path: path).metas == before else { throw inUse(path) }
    return report
  }

  private static func checkUse(of path: String) throws {
    if isStoreInUse(path) { throw inUse(path) }
  }

  private static func inUse(_ path: String) -> StoreError {
    StoreError(
      .busy,
      message:
        "cannot salvage '\(path)': a process has the store open; end it, or salvage a copy of the file"
    )
  }
}
