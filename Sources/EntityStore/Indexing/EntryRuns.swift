internal import LMDB
internal import LodestoreFormat

/// Index entries in sorted runs in a scratch file, and the merge of them.
///
/// A run is a sequence of: u16 size of the key, u64 record id, key. It is never read by another
/// process, so its numbers are as the machine has them.
final class EntryRuns {
  /// What is read of a run at a time.
  private static let largestWindow = 1 << 20
  private static let smallestWindow = 1 << 12
  private static let headSize = 10

  private let file: ScratchFile
  /// Where each run ends in the file; it begins where the one before it ends.
  private var ends: [Int] = []
  private let memory: Int

  /// Makes a scratch file beside `path`; the merge takes at most `memory` bytes.
  init(beside path: String, memory: Int) throws(LMDBError) {
    file = try ScratchFile(beside: path)
    self.memory = memory
  }

  /// Adds sorted entries as a run.
  func append(_ entries: some SortedEntries) throws {
    let head = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.headSize, alignment: 2)
    defer { head.deallocate() }
    try entries.forEach { key, id in
      head.storeBytes(of: UInt16(truncatingIfNeeded: key.count), as: UInt16.self)
      head.storeBytes(of: id, toByteOffset: 2, as: UInt64.self)
      try file.append(UnsafeRawBufferPointer(head))
      try file.append(key)
      return true
    }
    ends.append(file.byteCount)
  }
}

extension EntryRuns: SortedEntries {
  func firstRepeated() throws -> RepeatedKey? {
    var before: [UInt8] = []
    var idBefore: UInt64 = 0
    var repeated: RepeatedKey?
    try forEach { key, id in
      if before.withUnsafeBytes({ compareKeys($0, key) }) == 0 {
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

  /// Equal keys come in the order of their runs.
  func forEach(_ body: (UnsafeRawBufferPointer, UInt64) throws -> Bool) throws {
    let window = max(Self.smallestWindow, min(Self.largestWindow, memory / max(1, ends.count)))
    let runs = UnsafeMutableBufferPointer<Run>.allocate(capacity: ends.count)
    defer { runs.deallocate() }
    for (place, end) in ends.enumerated() {
      let start = place == 0 ? 0 : ends[place - 1]
      runs.initializeElement(at: place, to: Run(start..<end, window))
    }
    defer { for run in runs { run.bytes.deallocate() } }
    var heap: [Int] = []
    for place in runs.indices where try runs[place].advance(in: file) { heap.append(place) }
    for place in heap.indices.reversed() { Self.settle(&heap, from: place, runs) }
    while let first = heap.first {
      guard try body(runs[first].key, runs[first].recordID) else { return }
      if try !runs[first].advance(in: file) {
        let last = heap.removeLast()
        if heap.isEmpty { return }
        heap[0] = last
      }
      Self.settle(&heap, from: 0, runs)
    }
  }

  private static func settle(
    _ heap: inout [Int], from place: Int, _ runs: UnsafeMutableBufferPointer<Run>
  ) {
    let moved = heap[place]
    var parent = place
    while parent * 2 + 1 < heap.count {
      var child = parent * 2 + 1
      if child + 1 < heap.count, comesFirst(heap[child + 1], heap[child], runs) { child += 1 }
      if !comesFirst(heap[child], moved, runs) { break }
      heap[parent] = heap[child]
      parent = child
    }
    heap[parent] = moved
  }

  @inline(__always)
  private static func comesFirst(
    _ a: Int, _ b: Int, _ runs: UnsafeMutableBufferPointer<Run>
  ) -> Bool {
    let order = compareKeys(runs[a].key, runs[b].key)
    return order != 0 ? order < 0 : a < b
  }

  /// A run while it is merged: the part of it that was read last, and the entry that is next.
  private struct Run {
    let bytes: UnsafeMutableRawBufferPointer
    /// What is in the file still.
    private var left: Range<Int>
    /// What was read and not visited.
    private var unread = 0..<0
    private(set) var key = UnsafeRawBufferPointer(start: nil, count: 0)
    private(set) var recordID: UInt64 = 0

    init(_ range: Range<Int>, _ window: Int) {
      left = range
      bytes = .allocate(byteCount: window, alignment: 16)
    }

    /// Moves to the next entry; false when there is none.
    mutating func advance(in file: ScratchFile) throws(LMDBError) -> Bool {
      if unread.count < EntryRuns.headSize, try !fill(EntryRuns.headSize, from: file) {
        return false
      }
      let count = Int(
        bytes.loadUnaligned(fromByteOffset: unread.lowerBound, as: UInt16.self))
      let size = EntryRuns.headSize + count
      if unread.count < size, try !fill(size, from: file) { return false }
      let start = unread.lowerBound
      recordID = bytes.loadUnaligned(fromByteOffset: start + 2, as: UInt64.self)
      key = UnsafeRawBufferPointer(
        rebasing: bytes[start + EntryRuns.headSize..<start + size])
      unread = start + size..<unread.upperBound
      return true
    }

    /// Reads on, so that there are `count` bytes at least; false when the run has no more.
    private mutating func fill(_ count: Int, from file: ScratchFile) throws(LMDBError) -> Bool {
      guard unread.count + left.count >= count else { return false }
      let kept = unread.count
      if let start = bytes.baseAddress {
        start.copyMemory(from: start + unread.lowerBound, byteCount: kept)
      }
      let added = min(left.count, bytes.count - kept)
      try file.read(
        at: left.lowerBound,
        into: UnsafeMutableRawBufferPointer(rebasing: bytes[kept..<kept + added]))
      left = left.lowerBound + added..<left.upperBound
      unread = 0..<kept + added
      return true
    }
  }
}
