internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Entries of one index that did not fit in memory, as sorted runs in a scratch file.
///
/// Reading the entries merges the runs.
///
/// A run is a sequence of: u16 size of the key, u64 record id, key. No other process reads the
/// file, so its numbers have the byte order of the machine.
final class SpilledEntries {
  /// The maximum number of bytes of a run that are read at a time.
  private static let largestWindow = 1 << 20
  private static let smallestWindow = 1 << 12
  private static let headSize = 10

  private let file: ScratchFile
  /// The end offset of each run in the file.
  ///
  /// A run begins at the end of the previous one.
  private var ends: [Int] = []
  private let memory: Int

  /// Creates a scratch file in the folder of `path`.
  ///
  /// - Parameter memory: the maximum memory for the merge, in bytes.
  init(beside path: String, memory: Int) throws(LMDBError) {
    file = try ScratchFile(beside: path)
    self.memory = memory
  }

  /// Appends sorted entries as a run.
  func append(_ entries: some SortedEntries) throws {
    let head = MutableByteView.allocate(byteCount: Self.headSize, alignment: 2)
    defer { head.deallocate() }
    try entries.forEach { key, id in
      head.storeBytes(of: UInt16(truncatingIfNeeded: key.count), as: UInt16.self)
      head.storeBytes(of: id, toByteOffset: 2, as: UInt64.self)
      try file.append(ByteView(head))
      try file.append(key)
      return true
    }
    ends.append(file.byteCount)
  }
}

extension SpilledEntries: SortedEntries {
  func firstRepeated() throws -> RepeatedKey? {
    var before: [UInt8] = []
    var idBefore: UInt64 = 0
    var repeated: RepeatedKey?
    try forEach { key, id in
      if before._withBytes({ compareKeys($0, key) }) == 0 {
        repeated = RepeatedKey(key: before, first: idBefore, second: id)
        return false
      }
      before.removeAll(keepingCapacity: true)
      before.append(contentsOf: key)
      idBefore = id
      return true
    }
    return repeated
  }

  /// Merges the runs; entries with equal keys are in the order of their runs.
  func forEach(_ body: (ByteView, UInt64) throws -> Bool) throws {
    let window = max(Self.smallestWindow, min(Self.largestWindow, memory / max(1, ends.count)))
    let runs = UnsafeMutableBufferPointer<Run>.allocate(capacity: ends.count)
    defer { runs.deallocate() }
    for (index, end) in ends.enumerated() {
      let start = index == 0 ? 0 : ends[index - 1]
      runs.initializeElement(
        at: index, to: Run(RunWindow(start..<end, size: window, in: file)))
    }
    defer { runs.deinitialize() }
    // The runs that have entries left, ordered by their next keys.
    var heap = Heap<Int>()
    for index in runs.indices where try runs[index].advance() {
      heap.insert(index) { Self.precedes($0, $1, runs) }
    }
    assert(heap.isOrdered { Self.precedes($0, $1, runs) })
    while let first = heap.first {
      guard try body(runs[first].key, runs[first].recordID) else { return }
      if try runs[first].advance() {
        heap.replaceFirst(with: first) { Self.precedes($0, $1, runs) }
      } else {
        heap.removeFirst { Self.precedes($0, $1, runs) }
      }
    }
  }

  @inline(__always)
  private static func precedes(
    _ a: Int, _ b: Int, _ runs: UnsafeMutableBufferPointer<Run>
  ) -> Bool {
    let order = compareKeys(runs[a].key, runs[b].key)
    return order != 0 ? order < 0 : a < b
  }

  /// A run during the merge, with its next entry.
  private struct Run: ~Copyable {
    private var window: RunWindow
    /// The size of the current entry.
    private var size = 0
    private(set) var key = ByteView()
    private(set) var recordID: UInt64 = 0

    init(_ window: consuming RunWindow) { self.window = window }

    /// Moves to the next entry; returns false if none exists.
    mutating func advance() throws(LMDBError) -> Bool {
      window.pass(size)
      size = 0
      guard try window.has(SpilledEntries.headSize) else { return false }
      let needed = SpilledEntries.headSize + Int(window.unread.loadUnaligned(as: UInt16.self))
      guard try window.has(needed) else { return false }
      size = needed
      let entry = window.unread[..<needed]
      recordID = entry.loadUnaligned(fromByteOffset: 2, as: UInt64.self)
      key = entry[SpilledEntries.headSize...]
      return true
    }
  }
}
