/// What the first pages of a data file say, read before the engine maps the file.
///
/// The engine believes its meta pages: a file that ends before a page in use kills the process at
/// the first look at that page. So the size is compared first.
///
/// A file may well be shorter than its last page number says: pages that a transaction took and
/// gave back before it committed are numbered, listed as free, and never written. A file is whole
/// if every page missing at its end is on the free list, which is what is counted here.
struct FileInspection {
  private static let magic: UInt32 = 0xBEEF_C0DE
  private static let pageHeaderSize = 16

  private let descriptor: Int32
  private let path: String

  /// Throws unless the file is one of LMDB 0.9 for this machine, and whole.
  static func check(_ descriptor: Int32, path: String) throws(LMDBError) {
    try FileInspection(descriptor: descriptor, path: path).check()
  }

  /// The fields of a meta page that are needed here; offsets count from the page's beginning.
  private struct Meta {
    let pageSize: Int
    let freeDepth: Int
    let freeRoot: UInt64
    let lastPage: UInt64
    let transactionID: UInt64

    init?(_ page: [UInt8]) {
      guard page.count >= 152, page.integer(at: 16, as: UInt32.self) == FileInspection.magic
      else { return nil }
      pageSize = Int(page.integer(at: 40, as: UInt32.self))
      freeDepth = Int(page.integer(at: 46, as: UInt16.self))
      freeRoot = page.integer(at: 80, as: UInt64.self)
      lastPage = page.integer(at: 136, as: UInt64.self)
      transactionID = page.integer(at: 144, as: UInt64.self)
      guard pageSize.nonzeroBitCount == 1, (512...65_536).contains(pageSize),
        lastPage >= 1, lastPage < 1 << 48
      else { return nil }
    }
  }

  private func check() throws(LMDBError) {
    let first = try bytes(at: 0, count: 152)
    try checkFormat(first)
    guard let firstMeta = Meta(first),
      let secondMeta = Meta(try bytes(at: UInt64(firstMeta.pageSize), count: 152)),
      secondMeta.pageSize == firstMeta.pageSize
    else {
      let size = try fileSize()
      // Both meta pages are written before a new file gets its name.
      let least = Meta(first).map { Int64($0.pageSize) * 2 } ?? 1_024
      if size < least {
        throw failure(.truncatedFile(sizeInBytes: size, expectedSizeInBytes: least))
      }
      throw failure(.notALMDBFile(.lmdbDamagedMeta))
    }
    let meta = secondMeta.transactionID > firstMeta.transactionID ? secondMeta : firstMeta
    // Asked after the meta pages were read: another process may be adding to the file.
    let size = try fileSize()
    let expected = Int64(meta.lastPage + 1) * Int64(meta.pageSize)
    guard size < expected else { return }
    let firstMissing = UInt64(size / Int64(meta.pageSize))
    let missingCount = meta.lastPage + 1 - firstMissing
    guard try freePageCount(from: firstMissing, in: meta) == missingCount else {
      throw failure(.truncatedFile(sizeInBytes: size, expectedSizeInBytes: expected))
    }
  }

  private func checkFormat(_ start: [UInt8]) throws(LMDBError) {
    func mark(at offset: Int) -> UInt32? {
      start.count >= offset + 4 ? start.integer(at: offset, as: UInt32.self) : nil
    }
    if start.isEmpty { throw failure(.notALMDBFile(.empty)) }
    if mark(at: 16) == Self.magic {
      guard let version = mark(at: 20), version != 1 else { return }
      throw failure(.notALMDBFile(.lmdbVersion(version)))
    }
    let format: LMDBError.SniffedFormat =
      if mark(at: 12) == Self.magic {
        .lmdb32Bit
      } else if mark(at: 24) == Self.magic {
        .lmdb1
      } else if mark(at: 16) == Self.magic.byteSwapped {
        .lmdbOppositeByteOrder
      } else {
        .otherBytes
      }
    throw failure(.notALMDBFile(format))
  }

  /// How many pages from `first` on are on the free list.
  ///
  /// A list that cannot be read counts nothing: its pages are then among those that are missing.
  private func freePageCount(from first: UInt64, in meta: Meta) throws(LMDBError) -> UInt64 {
    let noPage = UInt64.max
    guard meta.freeRoot != noPage else { return 0 }
    var count: UInt64 = 0
    var pending = [(page: meta.freeRoot, depth: 1)]
    // A damaged list may lead in circles; a whole one has fewer pages than the file.
    var budget = meta.lastPage + 1
    while let (pageNumber, depth) = pending.popLast() {
      guard budget > 0, depth <= meta.freeDepth, pageNumber < first else { return 0 }
      budget -= 1
      let page = try bytes(at: pageNumber * UInt64(meta.pageSize), count: meta.pageSize)
      guard page.count == meta.pageSize else { return 0 }
      let flags = page.integer(at: 10, as: UInt16.self)
      let (isBranch, isLeaf) = (flags & 1 != 0, flags & 2 != 0)
      guard isBranch != isLeaf else { return 0 }
      let pointersEnd = Int(page.integer(at: 12, as: UInt16.self))
      guard pointersEnd >= Self.pageHeaderSize, pointersEnd <= page.count else { return 0 }
      for slot in stride(from: Self.pageHeaderSize, to: pointersEnd, by: 2) {
        guard slot + 2 <= page.count else { return 0 }
        let node = Int(page.integer(at: slot, as: UInt16.self))
        guard node + 8 <= page.count else { return 0 }
        let low = UInt64(page.integer(at: node, as: UInt16.self))
        let high = UInt64(page.integer(at: node + 2, as: UInt16.self))
        let nodeFlags = page.integer(at: node + 4, as: UInt16.self)
        if isBranch {
          pending.append((low | high << 16 | UInt64(nodeFlags) << 32, depth + 1))
          continue
        }
        let keySize = Int(page.integer(at: node + 6, as: UInt16.self))
        let valueSize = Int(low | high << 16)
        let value: [UInt8]
        let start = node + 8 + keySize
        if nodeFlags & 1 != 0 {
          guard start + 8 <= page.count else { return 0 }
          let overflow = page.integer(at: start, as: UInt64.self)
          guard overflow < first, Int64(valueSize) <= Int64(first) * Int64(meta.pageSize)
          else { return 0 }
          let place = overflow * UInt64(meta.pageSize) + UInt64(Self.pageHeaderSize)
          value = try bytes(at: place, count: valueSize)
        } else {
          guard start + valueSize <= page.count else { return 0 }
          value = Array(page[start..<start + valueSize])
        }
        guard value.count == valueSize, valueSize >= 8 else { return 0 }
        let listed = min(value.integer(at: 0, as: UInt64.self), UInt64(valueSize / 8 - 1))
        for index in 0..<Int(listed) {
          let free = value.integer(at: 8 + index * 8, as: UInt64.self)
          if free >= first && free <= meta.lastPage { count += 1 }
        }
      }
    }
    return count
  }

  private func bytes(at offset: UInt64, count: Int) throws(LMDBError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let result = Result { () throws(SystemCalls.Failure) in
      try buffer.withUnsafeMutableBytesTyped { (bytes) throws(SystemCalls.Failure) in
        try SystemCalls.read(descriptor, into: bytes, at: Int64(clamping: offset))
      }
    }
    switch result {
    case .success(let filled):
      buffer.removeLast(count - filled)
      return buffer
    case .failure(let error):
      throw LMDBError(engine: error.code, operation: "read", path: path)
    }
  }

  private func fileSize() throws(LMDBError) -> Int64 {
    do {
      return try SystemCalls.status(of: descriptor).sizeInBytes
    } catch {
      throw LMDBError(engine: error.code, operation: "open", path: path)
    }
  }

  private func failure(_ reason: LMDBError.Reason) -> LMDBError {
    LMDBError(reason, operation: "open", path: path)
  }
}

extension [UInt8] {
  /// An integer in the machine's byte order, which is the order of the file.
  fileprivate func integer<Value: FixedWidthInteger & BitwiseCopyable>(
    at offset: Int, as type: Value.Type
  ) -> Value {
    withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
  }

  fileprivate mutating func withUnsafeMutableBytesTyped<Result, Failure: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafeMutableBufferPointer { (buffer) throws(Failure) in
      try body(UnsafeMutableRawBufferPointer(buffer))
    }
  }
}
