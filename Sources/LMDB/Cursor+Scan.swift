import CLMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension Cursor {
  /// Visits the records from where the cursor is to the end, until `body` returns false.
  ///
  /// In a read, a leaf page at a time: its records are taken from the page itself, and the next ones
  /// are fetched into the cache meanwhile, which halves the time of a scan against asking LMDB for
  /// each. Where a page is not as expected, and in a write, LMDB is asked.
  package func forEachRecord<E: Error>(
    _ body: (UInt64, UnsafeRawBufferPointer) throws(E) -> Bool
  ) throws {
    guard tree.hasIntegerKeys else { return }
    try checkAlive()
    defer {
      currentKey = MDB_val()
      currentValue = MDB_val()
    }
    var key = currentKey
    var value = currentValue
    let environment = transaction.environment
    let pages = environment.isActiveWrite(transaction.handle) ? nil : RecordPages(environment)
    var highest: UInt64?
    while let keyBytes = key.mv_data, key.mv_size == 8 {
      let id = keyBytes.loadUnaligned(as: UInt64.self)
      // Keys that do not ascend would lead LMDB back, and round and round.
      if let highest, id <= highest {
        throw LMDBError(code: MDB_CORRUPTED, operation: "walk \(tree.name)")
      }
      highest = id
      var isVisited = false
      if let pages, let page = pages.page(of: UnsafeRawPointer(keyBytes)),
        let place = page.place(of: id)
      {
        let (goesOn, last) = try page.forEach(from: place, body)
        guard goesOn else { return }
        isVisited = last != nil
        highest = last ?? id
        // LMDB looks at the ends of the page that it is in first.
        var lastID = last ?? id
        let code = withUnsafeMutableBytes(of: &lastID) { bytes in
          var lastKey = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
          return mdb_cursor_get(handle, &lastKey, &value, MDB_SET)
        }
        guard code == 0 else { throw transaction.failure(code, "walk \(tree.name)") }
      }
      if !isVisited {
        guard try body(id, UnsafeRawBufferPointer(value)) else { return }
      }
      let code = mdb_cursor_get(handle, &key, &value, MDB_NEXT)
      if code == MDB_NOTFOUND { return }
      guard code == 0 else { throw transaction.failure(code, "walk \(tree.name)") }
    }
  }
}

/// The leaf pages of a tree of records in the map, read as LMDB lays them out.
///
/// Every offset is checked, so that what a damaged page says cannot lead out of it.
private struct RecordPages {
  private let pageSize: Int

  /// Nil where pages are not aligned to their size, as in a file from a machine with larger ones.
  init?(_ environment: Environment) {
    let info = environment.rawInfo
    guard info.pageSize == Int(sysconf(Int32(_SC_PAGESIZE))) else { return nil }
    pageSize = info.pageSize
  }

  /// The leaf page in which `key` lies.
  @inline(__always)
  func page(of key: UnsafeRawPointer) -> Page? {
    let base = key - Int(bitPattern: key) % pageSize
    return Page(base, size: pageSize)
  }

  struct Page {
    /// A node's value is on pages of its own (LMDB: F_BIGDATA).
    private static let isLarge: UInt16 = 1
    private static let headerSize = 16

    private let base: UnsafeRawPointer
    private let size: Int
    private let count: Int

    @inline(__always)
    init?(_ base: UnsafeRawPointer, size: Int) {
      let flags = base.load(fromByteOffset: 10, as: UInt16.self)
      let lower = Int(base.load(fromByteOffset: 12, as: UInt16.self))
      // A leaf, and nothing besides but perhaps dirty.
      guard flags & ~0x10 == 2, lower > Self.headerSize, lower <= size else {
        return nil
      }
      self.base = base
      self.size = size
      count = (lower - Self.headerSize) / 2
    }

    @inline(__always)
    private func node(_ place: Int) -> Int {
      Int(base.load(fromByteOffset: Self.headerSize &+ place &* 2, as: UInt16.self))
    }

    /// The id at `place`; `nil` when there is none that lies in the page.
    @inline(__always)
    private func id(_ node: Int) -> UInt64? {
      guard node >= Self.headerSize, node &+ 16 <= size,
        base.loadUnaligned(fromByteOffset: node &+ 6, as: UInt16.self) == 8
      else { return nil }
      return base.loadUnaligned(fromByteOffset: node &+ 8, as: UInt64.self)
    }

    /// Where `id` is.
    func place(of id: UInt64) -> Int? {
      var low = 0
      var high = count
      while low < high {
        let middle = (low + high) / 2
        guard let found = self.id(node(middle)) else { return nil }
        if found == id { return middle }
        if found < id { low = middle + 1 } else { high = middle }
      }
      return nil
    }

    /// The bytes of the record at `node`; `nil` when they are not in the page.
    @inline(__always)
    private func record(_ node: Int) -> UnsafeRawBufferPointer? {
      let low = base.loadUnaligned(fromByteOffset: node, as: UInt16.self)
      let high = base.loadUnaligned(fromByteOffset: node &+ 2, as: UInt16.self)
      let length = Int(low) | Int(high) << 16
      let flags = base.loadUnaligned(fromByteOffset: node &+ 4, as: UInt16.self)
      guard flags & Self.isLarge == 0, node &+ 16 &+ length <= size else { return nil }
      return UnsafeRawBufferPointer(start: base + (node &+ 16), count: length)
    }

    /// Visits the records from `place` on: whether `body` wants more, and the last that it has seen.
    ///
    /// Ends in front of a node that is not as expected, or whose record has pages of its own.
    @inline(__always)
    func forEach<E: Error>(
      from place: Int, _ body: (UInt64, UnsafeRawBufferPointer) throws(E) -> Bool
    ) throws(E) -> (goesOn: Bool, last: UInt64?) {
      var last: UInt64?
      for place in place..<count {
        let node = node(place)
        // A few ahead, the beginning of a record: its fixed-width attributes.
        if place &+ 6 < count { lodestore_prefetch(base + self.node(place &+ 6)) }
        guard let id = id(node), last.map({ id > $0 }) ?? true, let bytes = record(node) else {
          break
        }
        guard try body(id, bytes) else { return (false, last) }
        last = id
      }
      return (true, last)
    }
  }
}
