import EntityStore
import Synchronization

/// The events of an import so far.
///
/// The reading and the writing task report them. A lock guards them.
final class ImportWatch: Sendable {
  private struct State {
    var progress = ImportProgress()
    var rejects: [ImportReport.Reject] = []
    var rejected = 0
  }

  private let state = Mutex(State())
  private let rejectFile: RejectFile?

  init(_ rejectFile: RejectFile?) { self.rejectFile = rejectFile }

  /// The progress at the page read last.
  ///
  /// The number of rejects also includes the rejects of pages that were written since.
  var progress: ImportProgress {
    state.withLock { state in
      var progress = state.progress
      progress.rejected = max(progress.rejected, state.rejected)
      return progress
    }
  }

  /// The first rejects of this run.
  var rejects: [ImportReport.Reject] { state.withLock { $0.rejects } }

  /// The number of records that this run has rejected in finished pages.
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
