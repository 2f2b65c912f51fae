import LodestoreBytes
import LodestoreSystem
import Testing

@testable import LMDB

#if os(Linux)
  /// Which pages of a file that is not in memory are read.
  @Suite(.readsPages) struct ReadAheadTests {
    private static let recordCount: UInt64 = 20_000

    /// Runs `body` with a file of 20 MB and its trees.
    ///
    /// The file is reopened with none of its pages in memory. One tree has records. In the other
    /// tree, the order of the entries differs from the order of their pages.
    private func withColdFile(
      _ body: (Environment, ColdFile, _ records: Tree, _ entries: Tree) throws -> Void
    ) throws {
      let directory = try TemporaryDirectory()
      let path = directory.file("store")
      let made = try openEnvironment(path)
      try made.write { (transaction) throws in
        let records = try #require(
          try made.tree("r", isCreated: true, hasIntegerKeys: true, in: transaction))
        let entries = try #require(
          try made.tree("e", isCreated: true, hasIntegerKeys: false, in: transaction))
        let bytes = [UInt8](repeating: 7, count: 400)
        for id in 1...Self.recordCount {
          let key = id &* 0x9e37_79b9_7f4a_7c15
          try bytes._withBytes { (bytes) throws(LMDBError) in
            try transaction.put(id, bytes, in: records)
            try withUnsafeBytes(of: key.bigEndian) { (key) throws(LMDBError) in
              try transaction.put(ByteView(key), bytes, in: entries)
            }
          }
        }
      }
      EnvironmentRegistry.close(made)
      let file = try ColdFile(path)
      let environment = try openEnvironment(path)
      defer { EnvironmentRegistry.close(environment) }
      #expect(environment.readsAheadItself)
      let records = try environment.openExistingTree("r", hasIntegerKeys: true)
      let entries = try environment.openExistingTree("e", hasIntegerKeys: false)
      // A system that keeps all of the file in memory has nothing to read ahead.
      guard file.drop() < 100 else { return }
      try body(environment, file, #require(records), #require(entries))
    }

    @Test func `scattered look-ups read a few pages each`() throws {
      try withColdFile { environment, file, records, _ in
        try environment.read { (transaction) throws in
          for id in stride(from: 100, to: Self.recordCount, by: 1_000) {
            #expect(try transaction.get(id, in: records)?.count == 400)
          }
        }
        // The reads need one leaf page for each record, and the branch pages.
        #expect(file.residentCount < 100, "\(file.residentCount) of \(file.pageCount) pages")
      }
    }

    @Test func `a look-up of many records reads their pages and few others`() throws {
      try withColdFile { environment, file, records, _ in
        let ids = (0..<200).map { UInt64($0 * 100 + 1) }
        try environment.read { (transaction) throws in
          var finder = try #require(try RecordFinder(records, in: transaction))
          let none = ByteView()
          var found = Array(repeating: none, count: ids.count)
          finder.find(ids, &found)
          #expect(found.allSatisfy { $0.count == 400 })
        }
        #expect((200..<500).contains(file.residentCount), "\(file.residentCount) pages")
      }
    }

    @Test(arguments: [false, true])
    func `a walk sees all pairs, and its beginning reads only the pages that it needs`(
      backwards: Bool
    ) throws {
      try withColdFile { environment, file, _, entries in
        try environment.read { (transaction) throws in
          let cursor = try Cursor(entries, in: transaction)
          var count = 0
          try cursor.walk(KeyRange(), backwards: backwards) { _, _ in
            count += 1
            return count < 50
          }
          #expect(file.residentCount < 100, "\(file.residentCount) of \(file.pageCount) pages")
          count = 0
          try cursor.forEachEntry(in: KeyRange(), backwards: backwards) { (_, _) throws in
            count += 1
            return true
          }
          #expect(count == Int(Self.recordCount))
        }
        #expect(file.residentCount > file.pageCount / 4)
      }
    }

    @Test func `a scan of records requests pages in advance, and sees all records`() throws {
      try withColdFile { environment, file, records, _ in
        try environment.read { (transaction) throws in
          let cursor = try Cursor(records, in: transaction)
          #expect(try cursor.first())
          var count = 0
          var residentCount = 0
          try cursor.forEachRecord { (_, _) throws in
            count += 1
            if count == 1_000 { residentCount = file.residentCount }
            return true
          }
          #expect(count == Int(Self.recordCount))
          // A page has nine records, so the scan needs at least 130 pages.
          #expect((130..<600).contains(residentCount), "\(residentCount) pages")
        }
      }
    }

    @Test func `a write that reads much has the system read in advance until its end`() throws {
      try withColdFile { environment, file, records, _ in
        try environment.write { (transaction) throws in
          environment.beginBulkWrite()
          environment.beginBulkWrite()
          #expect(environment.writeSide.isBulkWrite)
          _ = try transaction.get(Self.recordCount / 2, in: records)
        }
        #expect(!environment.writeSide.isBulkWrite)
        #expect(environment.bulkReadingCount.withLock { $0 } == 0)
        file.drop()
        try environment.read { (transaction) throws in
          _ = try transaction.get(Self.recordCount / 2, in: records)
        }
        #expect(file.residentCount < 100, "\(file.residentCount) of \(file.pageCount) pages")
      }
    }
  }

  /// A file whose pages in memory are counted.
  private final class ColdFile {
    let pageCount: Int
    private let descriptor: Int32
    private let map: UnsafeMutableRawPointer
    private let byteCount: Int

    init(_ path: String) throws {
      descriptor = open(path, O_RDONLY)
      byteCount = Int(lseek(descriptor, 0, SEEK_END))
      pageCount = byteCount / PageLayout.systemPageSize
      let mapped = mmap(nil, byteCount, PROT_READ, MAP_SHARED, descriptor, 0)
      map = try #require(mapped)
    }

    deinit {
      munmap(map, byteCount)
      close(descriptor)
    }

    /// Removes the file's pages from memory, and returns the number of the remaining ones.
    ///
    /// Pages that the system is still reading ahead stay, so it tries for a tenth of a second.
    @discardableResult
    func drop() -> Int {
      fsync(descriptor)
      for _ in 0..<50 {
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        if residentCount == 0 { break }
        usleep(2_000)
      }
      return residentCount
    }

    var residentCount: Int {
      var states = [UInt8](repeating: 0, count: pageCount)
      mincore(map, pageCount * PageLayout.systemPageSize, &states)
      return states.count { $0 & 1 != 0 }
    }
  }
#endif
