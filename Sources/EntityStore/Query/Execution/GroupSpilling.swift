/// When groups go to a scratch file, and those that have gone there.
struct GroupSpilling {
  /// How much groups may take, in bytes.
  let memory: Int
  private let path: String
  private let functions: [GroupTerm.Function]
  private(set) var runs: GroupRuns?
  /// Beside a store that may only be read there may be no place for a file.
  private var hasNoPlace = false

  /// - Parameter path: that of the store, beside which the file is made.
  init(memory: Int, beside path: String, _ functions: [GroupTerm.Function]) {
    (self.memory, self.path, self.functions) = (memory, path, functions)
  }

  @inline(__always)
  func isDue(_ byteCount: Int) -> Bool { byteCount > memory && !hasNoPlace }

  /// Where a run is written; `nil` where there is no place for the file, and the groups have to stay
  /// in memory.
  mutating func begin() throws -> GroupRuns? {
    if runs == nil { runs = try GroupRuns(beside: path, functions) }
    hasNoPlace = runs == nil
    return runs
  }
}
