import EntityStore
import LMDB
import LodestoreSystem

/// A copy of a store that appears completely or not at all.
///
/// The copy has a temporary name until ``commit()``; without a commit it is removed with the
/// object.
final class StoreCopy {
  private let target: String
  private let temporary: TemporaryFile

  /// The temporary path.
  var path: String { temporary.storePath }

  init(for target: String) throws {
    guard !FileFacts.exists(target) else { throw CommandFailure.outputExists(target) }
    self.target = target
    do {
      try EnvironmentRegistry.checkName(of: target)
    } catch {
      throw CommandFailure.badArgument(
        target, reason: "is too long a name for a store, whose lock file has one of 5 bytes more",
        nextStep: "take a shorter one")
    }
    temporary = try TemporaryFile.beside(target, mode: 0o600, thing: target)
  }

  /// Copies the newest commit without free pages.
  func take(_ store: DynamicStore) throws {
    do {
      try store.copy(to: path, compacting: true)
    } catch {
      guard let code = error.systemCode else { throw error }
      throw CommandFailure.system(code, thing: target, creating: true)
    }
  }

  /// Names the copy.
  ///
  /// A file that appeared meanwhile is kept.
  func commit() throws {
    try FileFacts.move(path, toNew: target, existing: .outputExists(target))
  }
}
