import Foundation

/// Runs a session for each input line, "KIND NUMBER ERRNO GOOD SEED LENGTH".
///
/// The answer is a line: "ok" or "bad", the number of calls of the kind, the number of failures,
/// and further text.
///
/// One process runs many sessions, so that a session which leaves a file open is found. Each
/// session takes only some milliseconds.
struct FaultServer {
  let folder: String
  let shim: Shim

  func serve() async {
    while let line = readLine() {
      let words = line.split(separator: " ")
      guard words.count == 6, let fault = Fault(Array(words[..<4])), let seed = UInt64(words[4]),
        let length = Int(words[5])
      else {
        print("bad 0 0 not understood: \(line)")
        continue
      }
      print(await answer(fault, Script(seed: seed, length: length)))
      fflush(nil)
    }
  }

  private func answer(_ fault: Fault, _ script: Script) async -> String {
    try? FileManager.default.removeItem(atPath: folder)
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    shim.arm(fault, in: folder)
    let session = await run(script, fault)
    let (count, hits) = (shim.count, shim.hits)
    shim.disarm()
    var problems = session.problems + leftovers(session, fault)
    if let problem = audit(session) { problems.append(problem) }
    problems += Audit(folder: folder).openFiles.map { "stays open: \($0)" }
    let codes = session.errorCodes.sorted { $0.key < $1.key }.map { "\($0.key)*\($0.value)" }
    let told = problems.isEmpty ? codes : problems
    return "\(problems.isEmpty ? "ok" : "bad") \(count) \(hits) "
      + told.joined(separator: "; ").replacing("\n", with: " ")
  }

  /// Continues after failures, which may not affect later steps, but stops soon if every step
  /// fails.
  private func run(_ script: Script, _ fault: Fault) async -> Session {
    let session = Session(folder)
    session.failsInSync = fault.kind == "sync" && fault.error == EIO
    var failureCount = 0
    for step in script.steps where failureCount < (fault.isForGood ? 4 : 64) {
      switch await session.run(step) {
      case .done: break
      case .failed, .skipped: failureCount += 1
      }
    }
    session.close()
    return session
  }

  /// The files that a session left; a file that cannot be removed may stay.
  private func leftovers(_ session: Session, _ fault: Fault) -> [String] {
    guard fault.kind != "unlink" else { return [] }
    let name = Session.storeName
    let expected = Set([name, name + "-lock"]).union(session.copies.keys)
    return Audit(folder: folder).names.subtracting(expected).sorted().map { "left behind: \($0)" }
  }

  private func audit(_ session: Session) -> String? {
    let audit = Audit(folder: folder)
    let names = audit.names
    for (name, copy) in session.copies.sorted(by: { $0.key < $1.key }) {
      guard names.contains(name) else {
        if copy.isDone { return "\(name) was made and is not there" }
        continue
      }
      if let problem = audit.problem(name, possible: copy.contents) { return problem }
    }
    // If the session could not create the store, the audit creates it now.
    return audit.problem(Session.storeName, possible: session.contents.all)
  }
}
