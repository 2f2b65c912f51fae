import LMDB
import LodestoreFormat
import Testing

@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Page checker")
final class VerifierPageTests {
  private let folder: String
  private var path: String { folder + "/pages.mdb" }

  init() throws {
    folder = scratchFolderPath()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  @Test(
    arguments: 0..<3 as Range<UInt64>
  )
  func `legal files have no findings, whatever was written to them`(_ salt: UInt64) throws {
    var random = DamageGenerator(salt: 1_000 + salt)
    for round in 0..<8 {
      try FaultFile.commit(to: path) { store in
        try store.scramble(round, &random)
        if round == 5 { try store.transaction.empty(store.tree("index.1.1")) }
      }
      let report = try PageChecker.check(path: path)
      #expect(report.findings == [], "round \(round), LODESTORE_SEED=\(DamageGenerator.runSeed)")
    }
    let report = try PageChecker.check(path: path)
    #expect(report.freePageCount > 0)
    #expect(report.trees.map(\.name) == ["buckets", "index.1.1", "records.1"])
    #expect(report.trees.allSatisfy { (0.001...1).contains($0.fill ?? 0) })
    #expect(report.trees.first?.overflowPages ?? 0 > 10)
  }

  @Test
  func `the counts of the page checker equal those of the engine`() throws {
    _ = try FaultFile.make(at: path, seed: 3)
    let report = try PageChecker.check(path: path)
    try StoreFileAccess.withEnvironment(at: path) { environment in
      let info = try environment.info
      #expect(report.pageCount * report.pageSizeInBytes == info.usedBytes)
      #expect(report.lastTransaction == info.lastTransaction)
      try StoreFileAccess.withTrees(of: environment, limit: 0) { trees, transaction, _ in
        #expect(report.freePageCount == (try transaction.freePageCount()))
        for tree in report.trees {
          let engine = try transaction.statistics(of: required(trees[tree.name]))
          #expect(tree.depth == engine.depth)
          #expect(tree.branchPages == engine.branchPages)
          #expect(tree.leafPages == engine.leafPages)
          #expect(tree.overflowPages == engine.overflowPages)
          #expect(tree.entries == engine.entries)
        }
      }
    }
  }

  @Test
  func `a file whose last pages were freed in the commit that took them is legal`() throws {
    var options = EnvironmentOptions()
    options.access = .readWrite(create: true)
    let environment = try EnvironmentRegistry.open(path, options: options) { _ in }
    for round in 0..<6 {
      try environment.write { transaction in
        let store = RawStore(environment: environment, transaction: transaction)
        let tree = try store.tree("buckets")
        // The first value makes LMDB read its free list. Otherwise LMDB would write the pages that
        // are freed in the same commit, and the file would not end early.
        try transaction.put([1], [UInt8](repeating: 1, count: 9_000 + round), in: tree)
        try transaction.put([2], [UInt8](repeating: 1, count: 900_000), in: tree)
        try transaction.delete([2], in: tree)
      }
    }
    EnvironmentRegistry.close(environment)
    let report = try PageChecker.check(path: path)
    #expect(report.findings == [])
    #expect(report.pageCount * report.pageSizeInBytes > report.fileSizeInBytes)
  }

  @Test
  func `a compacted copy has no findings and no free pages`() throws {
    _ = try FaultFile.make(at: path, seed: 4)
    let copy = folder + "/copy.mdb"
    _ = try StoreFileAccess.withEnvironment(at: path) { try $0.copy(to: copy, compacting: true) }
    let report = try PageChecker.check(path: copy)
    #expect(report.findings == [])
    #expect(report.freePageCount == 0)
  }

  @Test
  func `the page checker refuses files of other programs without a list of findings`() throws {
    for bytes in [[], Array("not a database".utf8), [UInt8](repeating: 0, count: 9_000)] {
      try FaultFile(bytes: bytes).write(to: path)
      #expect(throws: VerificationError.self) { try PageChecker.check(path: path) }
    }
    #expect(throws: VerificationError.system(code: 2)) {
      try PageChecker.check(path: folder + "/missing")
    }
    #expect(throws: VerificationError.notAStore("it is not a regular file")) {
      try PageChecker.check(path: folder)
    }
  }

  /// A fault that the test makes at a known place.
  struct PlantedFault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: Finding.Code
    let plant: @Sendable (inout FaultFile) throws -> Void

    init(
      _ name: String, _ code: Finding.Code,
      _ plant: @escaping @Sendable (inout FaultFile) throws -> Void
    ) {
      testDescription = name
      self.code = code
      self.plant = plant
    }
  }

  static let plantedFaults: [PlantedFault] = [
    PlantedFault("two keys of a page are swapped", .pageOrder) { file in
      let root = Int(file.uint64(file.newestMeta + file.mainRoot)) * FaultFile.pageSize
      let slots = root + file.format.headerSize
      let (one, other) = (file.uint16(slots), file.uint16(slots + 2))
      file.put(UInt16(other), slots)
      file.put(UInt16(one), slots + 2)
    },
    PlantedFault("a run of overflow pages is longer than the file", .overflow) { file in
      for page in file.pages(ofType: 4) {
        file.put(UInt32(1 << 20), page * FaultFile.pageSize + file.format.overflowCount)
      }
    },
    PlantedFault("the file lost its end", .truncated) { $0.bytes.removeLast($0.bytes.count / 2) },
    PlantedFault("the last page is absurd", .truncated) {
      $0.put(UInt64.max, $0.newestMeta + $0.format.meta.lastPage)
    },
    PlantedFault("the transaction is in the wrong meta page", .meta) {
      $0.put(
        $0.uint64($0.newestMeta + $0.format.meta.transaction) + 1,
        $0.newestMeta + $0.format.meta.transaction)
    },
    PlantedFault("the other meta page has no mark", .meta) {
      $0.put(UInt32(1), FaultFile.pageSize - $0.newestMeta + $0.format.meta.magic)
    },
    PlantedFault("the other meta page has another page size", .meta) {
      $0.put(UInt32(8_192), FaultFile.pageSize - $0.newestMeta + $0.format.meta.freeList)
    },
    PlantedFault("the root is beyond the file", .page) {
      $0.put(UInt64(1 << 40), $0.newestMeta + $0.mainRoot)
    },
    PlantedFault("the root is a meta page", .page) {
      $0.put(UInt64(1), $0.newestMeta + $0.mainRoot)
    },
    PlantedFault("the depth is absurd", .treeCount) {
      $0.put(UInt16(900), $0.newestMeta + $0.format.meta.names + TreeRecordLayout.depth)
    },
    PlantedFault("the depth is one too many", .page) {
      $0.put(
        UInt16($0.uint16($0.newestMeta + $0.format.meta.names + TreeRecordLayout.depth) + 1),
        $0.newestMeta + $0.format.meta.names + TreeRecordLayout.depth)
    },
    PlantedFault("a tree has one entry more than it says", .treeCount) {
      $0.put(
        $0.uint64($0.newestMeta + $0.format.meta.names + TreeRecordLayout.entries) - 1,
        $0.newestMeta + $0.format.meta.names + TreeRecordLayout.entries)
    },
    PlantedFault("the tree of names allows duplicates", .meta) {
      $0.put(UInt16(4), $0.newestMeta + $0.format.meta.names + TreeRecordLayout.flags)
    },
    PlantedFault("a tree allows duplicates", .treeFlags) { file in
      let root = Int(file.uint64(file.newestMeta + file.mainRoot)) * FaultFile.pageSize
      file.put(UInt16(4), file.value(of: file.node(0, at: root)) + TreeRecordLayout.flags)
    },
    PlantedFault("a tree shares its root with another", .pageShared) { file in
      let root = Int(file.uint64(file.newestMeta + file.mainRoot)) * FaultFile.pageSize
      let (one, other) = (
        file.value(of: file.node(0, at: root)), file.value(of: file.node(1, at: root))
      )
      file.put(file.uint64(one + TreeRecordLayout.root), other + TreeRecordLayout.root)
    },
    PlantedFault("free pages are forgotten", .pageUnaccounted) { file in
      file.put(UInt64.max, file.newestMeta + file.freeListRoot)
      file.put(UInt16(0), file.newestMeta + file.format.meta.freeList + TreeRecordLayout.depth)
    },
    // The free list keeps its order, so the fault shows only because the page is in use.
    PlantedFault("a page in use is free, in its place of the order", .freeList) { file in
      let root = Int(file.uint64(file.newestMeta + file.freeListRoot)) * FaultFile.pageSize
      let list = file.value(of: file.node(0, at: root))
      var pages = (1...Int(file.uint64(list))).map { file.uint64(list + 8 * $0) }
      pages[0] = file.uint64(file.newestMeta + file.mainRoot)
      for (index, page) in pages.sorted(by: >).enumerated() { file.put(page, list + 8 + 8 * index) }
    },
    PlantedFault("a page in use is free", .freeList) { file in
      let root = Int(file.uint64(file.newestMeta + file.freeListRoot)) * FaultFile.pageSize
      let list = file.value(of: file.node(0, at: root))
      file.put(file.uint64(file.newestMeta + file.mainRoot), list + 8)
    },
    PlantedFault("a list of free pages is longer than its pair", .freeList) { file in
      let root = Int(file.uint64(file.newestMeta + file.freeListRoot)) * FaultFile.pageSize
      file.put(UInt64(1 << 50), file.value(of: file.node(0, at: root)))
    },
  ]

  @Test(arguments: plantedFaults)
  func `a planted fault is found by its code`(_ fault: PlantedFault) throws {
    var file = try FaultFile.make(at: path, seed: 5)
    try fault.plant(&file)
    try file.write(to: path)
    let report = try PageChecker.check(path: path)
    #expect(report.findings.map(\.code).contains(fault.code), "\(report.findings)")
  }

  @Test
  func `damage to any live page's own number, flags or bounds is found`() throws {
    let file = try FaultFile.make(at: path, seed: 6)
    let free = try freePages()
    let scratch = folder + "/scratch.mdb"
    for (page, flag) in [1, 2, 4].flatMap({ flag in
      file.pages(ofType: flag).filter { !free.contains($0) }.prefix(4).map { ($0, flag) }
    }) {
      let format = file.format
      for offset in [0, format.flags] + (flag == 4 ? [] : [format.lower, format.upper]) {
        var damaged = file
        damaged.put(UInt16(0xfffd), page * FaultFile.pageSize + offset)
        try damaged.write(to: scratch)
        #expect(try !PageChecker.check(path: scratch).isSound, "page \(page), byte \(offset)")
      }
    }
  }

  private func freePages() throws -> Set<Int> {
    var result: Set<Int> = []
    let file = try FaultFile(path: path)
    let format = file.format
    let root = Int(file.uint64(file.newestMeta + file.freeListRoot)) * FaultFile.pageSize
    let lower = format.origin + file.uint16(root + format.lower)
    for index in 0..<(lower - format.headerSize) / 2 {
      let data = file.value(of: file.node(index, at: root))
      for item in 0..<Int(file.uint64(data)) {
        result.insert(Int(file.uint64(data + 8 + item * 8)))
      }
    }
    return result
  }

  @Test
  func
    `randomly damaged files never crash the checker, and those it passes never crash the engine`()
    async throws
  {
    let count = DamageGenerator.caseCount(byDefault: 300)
    let seed = DamageGenerator.runSeed
    let directory = folder
    var file = try FaultFile.make(at: path, seed: 7)
    let scratch = folder + "/scratch.mdb"
    var passed: [Int] = []
    for number in 0..<count {
      try file.damaged(number, seed).write(to: scratch)
      if let report = try? PageChecker.check(path: scratch), report.isSound {
        passed.append(number)
      }
    }
    // The checker does not examine free pages and the bytes of values, so it accepts some damaged
    // files.
    #expect(passed.count < count * 8 / 10 || count < 50)
    try Data(file.older).write(to: URL(filePath: folder + "/older.mdb"))
    file.bytes = []
    await #expect(processExitsWith: .success) {
      [cases = passed as [Int], seed = seed as UInt64, directory = directory as String] in
      try DamagedWalk.run(cases: cases, seed: seed, folder: directory)
    }
    let last = (try? String(contentsOfFile: folder + "/last", encoding: .utf8)) ?? "none"
    #expect(last == "done", "died on file \(last), LODESTORE_SEED=\(seed)")
  }
}

extension FaultFile {
  /// The file with the damage of one case, the same in every process.
  func damaged(_ number: Int, _ seed: UInt64) -> FaultFile {
    var random = DamageGenerator(seed: seed &+ UInt64(number) &* 0x2545_f491_4f6c_dd1d)
    var result = self
    result.damage(DamageKind.allCases[number % DamageKind.allCases.count], &random)
    return result
  }
}

/// The work of the child process: it opens, walks and changes files that the checker has accepted.
enum DamagedWalk {
  static func run(cases: [Int], seed: UInt64, folder: String) throws {
    let file = FaultFile(
      bytes: try FaultFile(path: folder + "/pages.mdb").bytes,
      older: try FaultFile(path: folder + "/older.mdb").bytes)
    let scratch = folder + "/child.mdb"
    for number in cases {
      try Data("\(number)".utf8).write(to: URL(filePath: folder + "/last"))
      try file.damaged(number, seed).write(to: scratch)
      // An error is a correct answer, a signal is not.
      _ = try? StoreFileAccess.withEnvironment(at: scratch) { try RawStore.walkAll($0) }
      var random = DamageGenerator(seed: seed)
      try? FaultFile.commit(to: scratch) { try $0.scramble(0, &random, putCount: 60) }
    }
    try Data("done".utf8).write(to: URL(filePath: folder + "/last"))
  }
}
