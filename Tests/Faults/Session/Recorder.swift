/// Runs a session while the shim records it.
struct Recorder {
  let folder: String
  let log: String
  let shim: Shim

  /// - Parameter fault: a sync that fails, counted from where the last program has opened the store.
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
    if mayFail { session.settle() }
    var isDone = false
    if case .done = outcome { isDone = true }
    guard isDone || mayFail, session.problems.isEmpty else {
      Main.stop("\(step) failed: \(session.problems) \(session.errorCodes)")
    }
    guard isDone, let commit = session.commit, let contents = session.contents.only else { return }
    let digest = contents.digest
    var bytes = (0..<8).map { UInt8(truncatingIfNeeded: digest >> (8 * $0)) }
    if case .copy(let name) = step { bytes += Array(name.utf8) }
    shim.mark(commit, bytes)
  }
}
