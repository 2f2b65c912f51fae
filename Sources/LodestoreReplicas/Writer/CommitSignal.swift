internal import EntityStore
internal import LMDB

/// Calls a closure after each commit of a store by this process, and another one when the file may
/// have changed.
///
/// The closures are called on threads of the writer and of the system, and must return at once.
final class CommitSignal: Sendable {
  private let store: DynamicStore
  private let end: @Sendable () -> Void

  init(
    _ store: Store, watchesFile: Bool, onCommit: @escaping @Sendable () -> Void,
    onChange: @escaping @Sendable () -> Void
  ) throws {
    let dynamic = DynamicStore(store)
    self.store = dynamic
    end = try dynamic.withEnvironment { environment -> @Sendable () -> Void in
      let listener = environment.addCommitListener { _ in onCommit() }
      // Commits of other processes are seen in the file. The file also reports the commits of this
      // process, which the watch would otherwise slow down.
      let watch =
        watchesFile ? FileWatch(environment, restMilliseconds: 20, onChange) : nil
      _ = watch?.start()
      return {
        watch?.stop()
        environment.removeCommitListener(listener)
      }
    }
  }

  deinit { end() }
}
