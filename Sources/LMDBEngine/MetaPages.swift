#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What the first pages of a file say, read before LMDB maps it.
///
/// LMDB believes its meta pages: a file that ends before a page in use is a bus error at the first
/// look at that page, so lengths are compared first. A file may well be shorter than its last page
/// number says: pages that a transaction took and gave back before it committed are numbered,
/// listed as free, and never written. A file is whole when every page missing at its end is on the
/// free list, which is what is counted here.
struct MetaPages {
  private static let magic: UInt32 = 0xBEEF_C0DE
  private static let noPage = UInt64.max

  /// One meta page: page header 16, magic 4, version 4, address 8, map size 8, then two tree
  /// records of 48 (the first, of the free list, begins with the page size), last page 8,
  /// transaction 8.
  private struct Meta {
    var pageSize: Int
    var freeDepth: Int
    var freeRoot: UInt64
    var lastPage: UInt64
    var transaction: UInt64
  }

  private let file: Int32
  private let path: String

  /// Throws unless the file is LMDB's, for this kind of machine, and whole.
  ///
  /// Only while this process does not have the file open: closing any descriptor of it would be
  /// against LMDB's rules.
  static func check(_ path: String) throws(LMDBError) {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { throw LMDBError(code: errno, operation: "open", path: path) }
    defer { close(file) }
    try MetaPages(file: file, path: path).check()
  }

  private func check() throws(LMDBError) {
    let first = try meta(at: 0)
    guard first.pageSize.nonzeroBitCount == 1, (512...65_536).contains(first.pageSize) else {
      throw refuse("its first page says a page size of \(first.pageSize)")
    }
    let second = try meta(at: UInt64(first.pageSize))
    guard second.pageSize == first.pageSize else {
      throw refuse("its meta pages disagree about the page size")
    }
    let newest = first.transaction >= second.transaction ? first : second
    guard newest.lastPage >= 1, newest.lastPage < 1 << 48 else {
      throw refuse("its header says that page \(newest.lastPage) is the last")
    }
    // Asked after the meta pages were read: another process may be adding to the file.
    let size = try fileSize()
    let pageSize = UInt64(newest.pageSize)
    let needed = (newest.lastPage + 1) * pageSize
    guard size < needed else { return }
    let firstMissing = size / pageSize
    guard freePages(from: firstMissing, newest) == newest.lastPage + 1 - firstMissing else {
      throw LMDBError(.truncated(size: size, needed: needed), operation: "open", path: path)
    }
  }

  private func refuse(_ what: String) -> LMDBError {
    LMDBError(.notAnEnvironment(what), operation: "open", path: path)
  }

  private func fileSize() throws(LMDBError) -> UInt64 {
    var status = stat()
    guard fstat(file, &status) == 0 else {
      throw LMDBError(code: errno, operation: "open", path: path)
    }
    return UInt64(status.st_size)
  }

  private func meta(at offset: UInt64) throws(LMDBError) -> Meta {
    guard let page = bytes(at: offset, count: 152) else {
      throw refuse("it is too short to be an LMDB file")
    }
    let word = { (place: Int) in page.load(place, as: UInt32.self) }
    guard word(16) == Self.magic else {
      if word(12) == Self.magic { throw refuse("it is an LMDB file of a 32-bit machine") }
      if word(24) == Self.magic { throw refuse("it is an LMDB file of the 1.0 format") }
      if word(16) == Self.magic.byteSwapped {
        throw refuse("it is an LMDB file of a machine with the other byte order")
      }
      throw refuse("it is not an LMDB file")
    }
    guard word(20) == 1 else { throw refuse("its LMDB data version is \(word(20)), must be 1") }
    return Meta(
      pageSize: Int(word(40)), freeDepth: Int(page.load(46, as: UInt16.self)),
      freeRoot: page.load(80, as: UInt64.self), lastPage: page.load(136, as: UInt64.self),
      transaction: page.load(144, as: UInt64.self))
  }

  /// How many pages from `first` on are on the free list. A list that cannot be read counts
  /// nothing: its own pages are then among the missing.
  private func freePages(from first: UInt64, _ meta: Meta) -> UInt64 {
    guard meta.freeRoot != Self.noPage else { return 0 }
    var count: UInt64 = 0
    var pending = [(page: meta.freeRoot, depth: 1)]
    // A damaged list may lead in circles; a whole one has fewer pages than the file.
    var budget = meta.lastPage + 1
    while let (number, depth) = pending.popLast() {
      guard budget > 0, depth <= meta.freeDepth, number < first,
        let page = bytes(at: number * UInt64(meta.pageSize), count: meta.pageSize)
      else { return 0 }
      budget -= 1
      let flags = page.load(10, as: UInt16.self)
      let isBranch = flags & 1 != 0
      let pointersEnd = Int(page.load(12, as: UInt16.self))
      guard isBranch != (flags & 2 != 0), (16...page.count).contains(pointersEnd) else { return 0 }
      for slot in stride(from: 16, to: pointersEnd - 1, by: 2) {
        let node = Int(page.load(slot, as: UInt16.self))
        guard node + 8 <= page.count else { return 0 }
        if isBranch {
          let low = UInt64(page.load(node, as: UInt32.self))
          pending.append((low | UInt64(page.load(node + 4, as: UInt16.self)) << 32, depth + 1))
        } else {
          guard let listed = freePages(in: node, of: page, from: first, meta) else { return 0 }
          count += listed
        }
      }
    }
    return count
  }

  /// How many pages from `first` on one entry of the free list names; `nil` when it is damaged.
  private func freePages(
    in node: Int, of page: [UInt8], from first: UInt64, _ meta: Meta
  ) -> UInt64? {
    let size = Int(page.load(node, as: UInt32.self))
    let start = node + 8 + Int(page.load(node + 6, as: UInt16.self))
    let value: [UInt8]
    if page.load(node + 4, as: UInt16.self) & 1 != 0 {
      guard start + 8 <= page.count else { return nil }
      let overflow = page.load(start, as: UInt64.self)
      guard overflow < first, UInt64(size) <= first * UInt64(meta.pageSize),
        let read = bytes(at: overflow * UInt64(meta.pageSize) + 16, count: size)
      else { return nil }
      value = read
    } else {
      guard start + size <= page.count else { return nil }
      value = Array(page[start..<start + size])
    }
    guard value.count >= 8 else { return nil }
    let listed = min(value.load(0, as: UInt64.self), UInt64(value.count / 8 - 1))
    var count: UInt64 = 0
    for place in 0..<Int(listed) {
      let number = value.load(8 + place * 8, as: UInt64.self)
      if number >= first, number <= meta.lastPage { count += 1 }
    }
    return count
  }

  private func bytes(at offset: UInt64, count: Int) -> [UInt8]? {
    guard offset <= UInt64(Int64.max), count > 0 else { return nil }
    var buffer = [UInt8](repeating: 0, count: count)
    let read = buffer.withUnsafeMutableBytes {
      pread(file, $0.baseAddress, $0.count, off_t(offset))
    }
    return read == count ? buffer : nil
  }
}

extension [UInt8] {
  /// An integer in the machine's byte order, which is that of the file.
  fileprivate func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as: T.Type) -> T {
    withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: T.self) }
  }
}
