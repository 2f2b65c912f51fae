import BenchmarkFigures
import Foundation
import Lodestore

/// A new store with the records of the numbers below ``count``; its file is removed after the
/// measurements.
struct ScaleStore<Record: ScaleRecord> {
  /// The number of reads in a pass.
  private static var readCount: Int { 200_000 }
  private static var passCount: Int { 3 }
  private static var pageCount: Int { 100 }

  let count: Int
  private let store: Store

  /// Fills a store, reads from it and removes it.
  ///
  /// - Parameter generator: The time of generating one record, which is subtracted from the insert.
  static func measure(
    _ count: Int, generator: (wall: Double, processor: Double), in directory: String
  ) throws -> ScaleCurve.Point {
    let path = "\(directory)/scale.lodestore"
    defer { StoreFile.remove(path) }
    let measured = Self(
      count: count, store: try Store(at: path, entities: [Record.self]))
    defer { measured.store.close() }
    let name = "\(count.grouped) \(Record.plural)"
    Progress.show("\(name): insert")
    let insert = try measured.insert()
    let perRecord = 1e9 / Double(count)
    var figures: [ScaleFigure: Double] = [
      .insertWall: insert.sample.wallTime * perRecord - generator.wall,
      .insertProcessor: insert.sample.processorTime * perRecord - generator.processor,
      .fileSize: Double(try StoreFile.size(path)) / Double(count),
    ]
    // Not every system reports the memory.
    if AnonymousMemory.current > 0 { figures[.memory] = insert.memory }
    Progress.show("\(name): check")
    try measured.check(sum: insert.sum)
    Progress.show("\(name): reads")
    figures[.getID] = try measured.nanosecondsPerRead {
      RecordID<Record>(rawValue: UInt64($0) + 1)
    } read: { snapshot, id in
      try snapshot.fetch(id)
    }
    figures.merge(try Record.ownReads(in: measured)) { $1 }
    Progress.clear()
    return ScaleCurve.Point(records: count, figures: figures)
  }

  // MARK: Insert

  /// Inserts all records in one batch of one write, and sums their contributions to a checksum.
  private func insert() throws -> (sample: Sample, memory: Double, sum: UInt64) {
    var sample = Sample()
    var sum: UInt64 = 0
    let memory = try AnonymousMemory.growth(lookingEvery: 10_000) {
      sample = try Sample.measure {
        try store.write { tx in
          let records = NumberedRecords<Record>(count: count)
          let result = try tx.insert(records, returning: .counts)
          guard result.insertedCount == count, records.tally.count == count else {
            throw wrong("\(result.insertedCount) inserted, \(records.tally.count) generated")
          }
          sum = records.tally.sum
        }
      }
    }
    return (sample, memory, sum)
  }

  /// Reads every record, one at a time, and compares their checksum with `sum`.
  private func check(sum: UInt64) throws {
    try store.read { snapshot in
      let counted = try snapshot.count(Record.all)
      var seen = 0
      var seenSum: UInt64 = 0
      try snapshot.forEachView(Record.all) { view in
        seen &+= 1
        seenSum &+= Record.checkNumber(of: view)
      }
      guard counted == count, seen == count else {
        throw wrong("the store counts \(counted) records and shows \(seen)")
      }
      guard seenSum == sum else {
        throw wrong("the checksum is \(hex(seenSum)), that of the generator \(hex(sum))")
      }
    }
  }

  // MARK: Reads

  /// Measures the read of one record: the median of several passes.
  ///
  /// Each pass is one transaction and reads other records. A first pass, which is not measured,
  /// brings the pages into memory.
  ///
  /// - Parameter key: Returns the key of the record with a number; called before the pass is
  ///   measured.
  func nanosecondsPerRead<Key>(
    key: (Int) -> Key, read: (borrowing Snapshot, Key) throws -> Record?
  ) throws -> Double {
    var generator = Generator(seed: 42)
    var times: [Double] = []
    for pass in 0...Self.passCount {
      let numbers = (0..<Self.readCount).map { _ in
        Int(generator.next(below: UInt64(count)))
      }
      let keys = numbers.map(key)
      var sum: UInt64 = 0
      let time = try Sample.wallSeconds {
        try store.read { snapshot in
          for key in keys {
            guard let record = try read(snapshot, key) else {
              throw wrong("no record is found by \(key)")
            }
            sum &+= record.checkNumber
          }
        }
      }
      guard sum == numbers.reduce(0, { $0 &+ Record.numbered($1).checkNumber }) else {
        throw wrong("other records were read than those that were wanted")
      }
      if pass > 0 { times.append(time / Double(Self.readCount) * 1e9) }
    }
    return times.median
  }

  private func wrong(_ what: String) -> BenchmarkError {
    BenchmarkError("store of \(count.grouped) \(Record.plural): \(what)")
  }
}

extension ScaleStore<ToDo> {
  /// Measures a page of 50 records that begins at a date: the median for several dates.
  ///
  /// Reads of other dates, which are not measured, come first to warm the cache.
  func nanosecondsPerPage() throws -> Double {
    var generator = Generator(seed: 43)
    let starts = (0..<2 * Self.pageCount).map { _ in
      ToDo.numbered(Int(generator.next(below: UInt64(count)))).createdAt
    }
    var times: [Double] = []
    try store.read { snapshot in
      for start in starts {
        let clock = ContinuousClock.now
        let page = try snapshot.fetch(
          ToDo.where { $0.createdAt >= start }.sorted(by: \.createdAt.ascending).limit(50))
        times.append(Sample.seconds(since: clock) * 1e9)
        guard page.first?.createdAt == start else {
          throw wrong("the page from \(start) on begins at another date")
        }
      }
    }
    return Array(times.suffix(Self.pageCount)).median
  }
}
