/// Runs a session while the shim records it.
struct Recorder {
  let folder: String
  let log: String
  let shim: Shim

  /// - Parameter fault: The call that fails, counted from the last opening of the store.
  func run(_ script: Script, isLazy: Bool, _ fault: Fault?) async {
    shim.record(folder, to: log)
    let session = Session(folder, durability: isLazy ? .mayLoseLastCommit : .full)
    for (number, step) in script.steps.enumerated() {
      if number == script.lastPart, let fault { shim.arm(fault, in: folder) }
      await take(step, session, mayFail: fault != nil && number >= script.lastPart)
    }
    session.close()
    shim.stop()
    print("ok \(shim.count) \(shim.hits) recorded")
  }

  private func take(_ step: Step, _ session: Session, mayFail: Bool) async {
    let outcome = await session.run(step)
    if case .failed = outcome, mayFail {
      // The contents of the failed step may be on the disk too.
      for contents in session.contents.all { mark(contents, 0, WriteLog.failedName) }
    }
    if mayFail { session.settle() }
    var isDone = false
    if case .done = outcome { isDone = true }
    guard isDone || mayFail, session.problems.isEmpty else {
      Main.stop("\(step) failed: \(session.problems) \(session.errorCodes)")
    }
    guard isDone, let commit = session.commit, let contents = session.contents.only else { return }
    if case .copy(let name) = step {
      mark(contents, commit, name)
    } else {
      mark(contents, commit, "")
    }
  }

  private func mark(_ contents: Contents, _ commit: UInt64, _ name: String) {
    let digest = contents.digest
    shim.mark(
      commit, (0..<8).map { UInt8(truncatingIfNeeded: digest >> (8 * $0)) } + Array(name.utf8))
  }
}
