internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The numbers of words of the records of one search index, during a write.
struct RecordLengths: ~Copyable {
  private let tree: PostingTree
  private let name: String
  /// Copies of the chunks that were read, as they are stored.
  private var chunks: [UInt64: [UInt8]] = [:]
  private var lastNumber = UInt64.max
  private var last: [UInt8] = []

  init(_ tree: PostingTree, name: String) {
    self.tree = tree
    self.name = name
  }

  /// The number of words of a record; 0 if it has none.
  @inline(__always)
  mutating func length(of id: UInt64) throws(StoreError) -> UInt16 {
    let chunk = id / SearchKey.chunkSize
    if chunk != lastNumber { try load(chunk) }
    return Self.length(at: Int(id % SearchKey.chunkSize), in: last)
  }

  @inline(__always)
  private static func length(at index: Int, in chunk: [UInt8]) -> UInt16 {
    2 * index < chunk.count ? chunk._withBytes { $0.uint16(at: 2 * index) } : 0
  }

  @inline(never)
  private mutating func load(_ chunk: UInt64) throws(StoreError) {
    if let known = chunks[chunk] {
      last = known
    } else {
      last = try read(chunk)
      chunks[chunk] = last
    }
    lastNumber = chunk
  }

  private func read(_ chunk: UInt64) throws(StoreError) -> [UInt8] {
    do throws(LMDBError) {
      let isFound = try SearchKey.lengths(chunk: chunk)._withBytes { (key) throws(LMDBError) in
        try tree.seek(key)
      }
      guard isFound else { return [] }
    } catch {
      throw StoreError(error)
    }
    let value = tree.value
    guard value.count % 2 == 0, value.count > 0,
      value.count <= Int(SearchKey.chunkSize) * 2
    else { throw .damagedIndex(name, "lengths of \(value.count) bytes") }
    return Array(value)
  }

  /// Stores the lengths of changed records, and returns the changes of the number of records and
  /// of the number of their words.
  mutating func write(
    _ records: [PostingBatch.Record]
  ) throws(StoreError) -> (records: Int64, words: Int64) {
    // The last change of a record is the one that counts.
    let sorted = records.enumerated().sorted {
      ($0.element.id, $0.offset) < ($1.element.id, $1.offset)
    }.map(\.element)
    var change = (records: Int64(0), words: Int64(0))
    var index = 0
    while index < sorted.count {
      let chunk = sorted[index].id / SearchKey.chunkSize
      var lengths = try read(chunk)
      while index < sorted.count, sorted[index].id / SearchKey.chunkSize == chunk {
        let place = Int(sorted[index].id % SearchKey.chunkSize)
        while lengths.count < 2 * place + 2 { lengths.append(0) }
        let old = Self.length(at: place, in: lengths)
        let new = sorted[index].length
        lengths[2 * place] = UInt8(truncatingIfNeeded: new)
        lengths[2 * place + 1] = UInt8(truncatingIfNeeded: new &>> 8)
        change.records += (new > 0 ? 1 : 0) - (old > 0 ? 1 : 0)
        change.words += Int64(new) - Int64(old)
        index += 1
      }
      while lengths.last == 0, lengths[lengths.count - 2] == 0 { lengths.removeLast(2) }
      try store(lengths, chunk)
      chunks[chunk] = lengths
    }
    lastNumber = .max
    return change
  }

  private func store(_ lengths: [UInt8], _ chunk: UInt64) throws(StoreError) {
    let key = SearchKey.lengths(chunk: chunk)
    do throws(LMDBError) {
      try key._withBytes { (key) throws(LMDBError) in
        if lengths.isEmpty {
          if try tree.seek(key) { try tree.delete() }
          return
        }
        try lengths._withBytes { (bytes) throws(LMDBError) in try tree.put(key, bytes) }
      }
    } catch {
      throw StoreError(error)
    }
  }
}
