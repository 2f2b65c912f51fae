internal import LodestorePages

extension EnvironmentOptions {
  /// Makes ``PageChecker`` check the pages of files that are not known to be good.
  package mutating func checkPages(when trust: Trust) {
    self.trust = trust
    checkPages = { file, path, step throws(LMDBError) in try Self.check(file, path, step) }
  }

  /// Throws if LMDB could not work with the pages of an open file.
  ///
  /// If another process writes faster than the pages can be checked, their state stays unknown. The
  /// file counts as good, because that process can use it.
  private static func check(
    _ file: Int32, _ path: String, _ step: (_ done: Int, _ total: Int) -> Bool
  ) throws(LMDBError) {
    let report: PageReport
    do {
      report = try PageChecker.check(PageFile(descriptor: file), limit: 1, step: step)
    } catch {
      throw LMDBError(error, operation: "open", path: path)
    }
    guard let first = report.findings.first else { return }
    let count = report.findingCount == 1 ? "a fault" : "\(report.findingCount) faults"
    throw LMDBError(.damaged("its pages have \(count): \(first)"), operation: "open", path: path)
  }
}
