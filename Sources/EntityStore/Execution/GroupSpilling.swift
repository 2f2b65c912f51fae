/// The limit at which groups go to a scratch file, and the runs written so far.
struct GroupSpilling {
  /// The memory that groups may take, in bytes.
  let memory: Int
  private let path: String
  private let functions: [GroupTerm.Function]
  private(set) var runs: GroupRuns?
  /// Whether no file could be created, for example in the folder of a read-only store.
  private var hasNoPlace = false

  /// Creates the state without a file; ``begin()`` creates the file when groups are first written.
  ///
  /// - Parameter path: the path of the store, in whose folder the file is created.
  init(memory: Int, beside path: String, _ functions: [GroupTerm.Function]) {
    (self.memory, self.path, self.functions) = (memory, path, functions)
  }

  @inline(__always)
  func isDue(_ byteCount: Int) -> Bool { byteCount > memory && !hasNoPlace }

  /// Returns the runs to write to, or `nil` if no file can be created and the groups must stay in
  /// memory.
  mutating func begin() throws -> GroupRuns? {
    if runs == nil { runs = try GroupRuns(beside: path, functions) }
    hasNoPlace = runs == nil
    return runs
  }
}
