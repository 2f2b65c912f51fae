internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The lengths of records during a read.
final class LengthTable {
  private let cursor: Cursor
  private var chunks = ChunkTable<ByteView>()
  private var lastNumber = UInt64.max
  private var last = ByteView()

  init(_ tree: Tree, in transaction: Transaction) throws(LMDBError) {
    cursor = try Cursor(tree, in: transaction)
  }

  /// The number of words of the record `id`; 0 if it has none.
  @inline(__always)
  func length(of id: UInt64) throws(LMDBError) -> UInt16 {
    let chunk = id / SearchKey.chunkSize
    if chunk != lastNumber { try load(chunk) }
    return Self.length(of: id, in: last)
  }

  /// The number of words of the record `id`, whose chunk is given.
  @inline(__always)
  static func length(of id: UInt64, in chunk: ByteView) -> UInt16 {
    let offset = Int(id % SearchKey.chunkSize) &* 2
    return offset &+ 2 <= chunk.count ? chunk.uint16(at: offset) : 0
  }

  /// The stored lengths of the records of a chunk.
  func chunk(_ number: UInt64) throws(LMDBError) -> ByteView {
    if number != lastNumber { try load(number) }
    return last
  }

  @inline(never)
  private func load(_ chunk: UInt64) throws(LMDBError) {
    lastNumber = chunk
    if let known = chunks[chunk] {
      last = known
      return
    }
    let isFound = try SearchKey.lengths(chunk: chunk)._withBytes { (key) throws(LMDBError) in
      try cursor.seek(key)
    }
    last = isFound ? cursor.value : ByteView()
    chunks[chunk] = last
  }
}
