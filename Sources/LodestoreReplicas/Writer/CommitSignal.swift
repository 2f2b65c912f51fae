internal import EntityStore
internal import LMDB

/// Calls a closure after each commit of a store, by this or another process.
///
/// The closure is called on a thread of the writer or of the system, and must return at once.
final class CommitSignal: Sendable {
  private let store: DynamicStore
  private let end: @Sendable () -> Void

  init(_ store: Store, _ body: @escaping @Sendable () -> Void) throws {
    let dynamic = DynamicStore(store)
    self.store = dynamic
    end = try dynamic.withEnvironment { environment -> @Sendable () -> Void in
      let listener = environment.addCommitListener { _ in body() }
      // Commits of other processes are seen in the file.
      let watch = FileWatch(environment, body)
      _ = watch?.start()
      return {
        watch?.stop()
        environment.removeCommitListener(listener)
      }
    }
  }

  deinit { end() }
}
