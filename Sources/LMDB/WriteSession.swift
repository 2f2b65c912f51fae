/// What one run of a write keeps beside the engine's transaction.
///
/// Shared by the write, its reading side and its cursors. Not `Sendable`: like the engine's
/// transaction it belongs to the thread that began it.
final class WriteSession {
  /// The first failure inside the engine. It leaves the transaction unfit to be committed even
  /// when the body caught it.
  private(set) var firstError: LMDBError?
  /// Set before the engine frees the transaction together with its cursors.
  var isFinished = false
  /// Handles opened in this transaction. They are void if it does not commit.
  var openedTrees: [String: Tree] = [:]

  func note(_ error: LMDBError) {
    if firstError == nil { firstError = error }
  }
}
