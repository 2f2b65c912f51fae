import EntityStore
import LMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A copy of a store that is there as a whole or not at all: it has another name beside its own until
/// ``commit()``; without that it goes away with the object.
final class StoreCopy {
  /// The name that it has until then.
  let path: String
  private let target: String

  init(for target: String) throws {
    self.target = target
    let folder = target.lastIndex(of: "/").map { String(target[...$0]) } ?? ""
    path = folder + ".kvdump." + String(UInt64.random(in: 0 ... .max), radix: 36)
  }

  /// Copies the newest commit, without free pages.
  func take(_ store: DynamicStore) throws {
    do {
      try store.copy(to: path, compacting: true) { PendingFile.set($0) }
    } catch {
      guard let cause = error.cause as? LMDBError, cause.kind == .engine, cause.code > 0 else {
        throw error
      }
      throw CommandFailure.system(cause.code, thing: target, creating: true)
    }
    PendingFile.set(path)
  }

  /// Gives the copy its name; a file that is there meanwhile stays.
  func commit() throws {
    if link(path, target) != 0 {
      let code = errno
      if code == EEXIST || FileFacts.exists(target) { throw CommandFailure.outputExists(target) }
      // A file system without links.
      guard rename(path, target) == 0 else {
        throw CommandFailure.system(errno, thing: target, creating: true)
      }
    }
    do {
      try FileFacts.syncFolder(of: target)
    } catch {
      // A power cut could take it away after it was said to be there.
      FileFacts.remove(target)
      throw error
    }
  }

  deinit {
    FileFacts.remove(path)
    PendingFile.set(nil)
  }
}
