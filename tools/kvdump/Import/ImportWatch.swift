import EntityStore
import Synchronization

/// What has been told of an import so far.
///
/// Told by the task that reads and the one that writes, under a lock.
final class ImportWatch: Sendable {
  private let state = Mutex<(progress: ImportProgress, rejects: [ImportReport.Reject])>(
    (ImportProgress(), []))

  var progress: ImportProgress { state.withLock { $0.progress } }

  var rejects: [ImportReport.Reject] { state.withLock { $0.rejects } }

  func take(_ event: ImportEvent) {
    state.withLock { state in
      switch event {
      case .read(let progress): state.progress = progress
      case .rejected(let reject):
        if state.rejects.count < ImportReport.longestRejectList { state.rejects.append(reject) }
      case .committed, .finished: break
      }
    }
  }
}
