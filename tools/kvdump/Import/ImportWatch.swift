import EntityStore
import Synchronization

/// What has been told of an import so far.
///
/// Told by the task that reads and the one that writes, under a lock.
final class ImportWatch: Sendable {
  private struct State {
    var progress = ImportProgress()
    var rejects: [ImportReport.Reject] = []
    var rejected = 0
  }

  private let state = Mutex(State())
  private let rejectFile: RejectFile?

  init(_ rejectFile: RejectFile?) { self.rejectFile = rejectFile }

  /// As of the page that was read last; rejects are also those of the pages written.
  var progress: ImportProgress {
    state.withLock { state in
      var progress = state.progress
      progress.rejected = max(progress.rejected, state.rejected)
      return progress
    }
  }

  /// The first rejects of this run.
  var rejects: [ImportReport.Reject] { state.withLock { $0.rejects } }

  /// How many records this run has rejected, in pages that were dealt with.
  var rejected: Int { state.withLock { $0.rejected } }

  func take(_ event: ImportEvent) {
    switch event {
    case .read(let progress): state.withLock { $0.progress = progress }
    case .rejected(let reject):
      state.withLock { state in
        state.rejected += 1
        if state.rejects.count < ImportReport.longestRejectList { state.rejects.append(reject) }
      }
      rejectFile?.add(reject)
    case .committed, .finished: rejectFile?.flush()
    }
  }
}
