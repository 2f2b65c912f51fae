internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Groups that did not fit in memory, as sorted runs in a scratch file.
///
/// Reading the groups merges the runs.
///
/// A run is a sequence of: u32 size of the key, u32 size of the part, key, part. No other process
/// reads the file, so its numbers have the byte order of the machine.
final class GroupRuns {
  /// The number of bytes that groups may take in memory before they are written to the file.
  ///
  /// A query may set another limit. Together with the memory for sorting and growing, this stays
  /// under 64 MB.
  static let memoryLimit = 20 << 20

  private static let headSize = 8

  private let file: ScratchFile
  private let functions: [GroupTerm.Function]
  /// The end offset of each run in the file.
  ///
  /// A run begins at the end of the previous one.
  private var ends: [Int] = []
  private var writer = DocumentWriter()

  /// Creates a scratch file in the folder of `path`; `nil` if none can be created there.
  init?(beside path: String, _ functions: [GroupTerm.Function]) throws(LMDBError) {
    guard let file = try ScratchFile.ifAllowed(beside: path) else { return nil }
    self.file = file
    self.functions = functions
  }

  /// Appends a group to the current run, in ascending order of the keys.
  func append(
    _ key: ByteView, count: Int, _ totals: some Collection<GroupTotal>,
    _ values: some Collection<Value>
  ) throws {
    writer.truncate(to: 0)
    GroupPart.write(count: count, totals, values, to: &writer)
    var head = (UInt32(truncatingIfNeeded: key.count), UInt32(truncatingIfNeeded: writer.count))
    try withUnsafeBytes(of: &head) { try file.append(ByteView($0)) }
    try file.append(key)
    try writer.withBytes { (bytes) throws(LMDBError) in try file.append(bytes) }
  }

  func endRun() { ends.append(file.byteCount) }

  /// Merges the runs, and visits each group once, ascending by key.
  ///
  /// - Parameter memory: the memory for the merge in bytes. With very many runs, more is used.
  func forEach(memory: Int, _ body: (ByteView, GroupPart) throws -> Void) throws {
    var runs: [Run] = []
    for (index, end) in ends.enumerated() {
      let start = index == 0 ? 0 : ends[index - 1]
      runs.append(
        Run(RunWindow(start..<end, size: max(4_096, min(1 << 20, memory / ends.count)), in: file)))
    }
    // The runs that have groups left, ordered by their next keys.
    var heap = Heap<Int>()
    for (index, run) in runs.enumerated() where try run.advance() {
      heap.insert(index) { precedes($0, $1, runs) }
    }
    var key: [UInt8] = []
    var group: GroupPart?
    while let first = heap.first {
      let run = runs[first]
      let part = try run.part(termCount: functions.count)
      if var merged = group, key._withBytes({ compareKeys($0, run.key) == 0 }) {
        // The variable is set to `nil`, so that the totals have one owner and are not copied when
        // they change.
        group = nil
        try merged.merge(part, functions)
        group = merged
      } else {
        if let group { try key._withBytes { try body($0, group) } }
        key.removeAll(keepingCapacity: true)
        key.append(contentsOf: run.key)
        group = part
      }
      if try run.advance() {
        heap.replaceFirst(with: first) { precedes($0, $1, runs) }
      } else {
        heap.removeFirst { precedes($0, $1, runs) }
      }
    }
    if let group { try key._withBytes { try body($0, group) } }
  }

  /// Orders runs by key.
  ///
  /// For equal keys the earlier run comes first, since its values were found first.
  @inline(__always)
  private func precedes(_ a: Int, _ b: Int, _ runs: [Run]) -> Bool {
    let order = compareKeys(runs[a].key, runs[b].key)
    return order != 0 ? order < 0 : a < b
  }

  /// A run during the merge, and its next group.
  private final class Run {
    private var window: RunWindow
    private var keySize = 0
    private var partSize = 0
    /// The size of the current group, which is skipped before the next one is read.
    private var size = 0

    init(_ window: consuming RunWindow) { self.window = window }

    /// Moves to the next group; returns false if none exists.
    func advance() throws(LMDBError) -> Bool {
      window.pass(size)
      size = 0
      guard try window.has(GroupRuns.headSize) else { return false }
      keySize = Int(window.unread.loadUnaligned(as: UInt32.self))
      partSize = Int(window.unread.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
      let needed = GroupRuns.headSize + keySize + partSize
      guard try window.has(needed) else { return false }
      size = needed
      return true
    }

    var key: ByteView { bytes(GroupRuns.headSize, keySize) }

    func part(termCount: Int) throws -> GroupPart {
      var reader = DocumentReader(bytes(GroupRuns.headSize + keySize, partSize))
      return try GroupPart(reading: &reader, termCount: termCount)
    }

    private func bytes(_ start: Int, _ count: Int) -> ByteView {
      window.unread[start..<start + count]
    }
  }
}
