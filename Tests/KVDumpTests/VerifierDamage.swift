import LMDB
import LodestoreBytes
import LodestoreFormat

@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Random numbers that a seed repeats (SplitMix64); `LODESTORE_SEED` replays a run.
struct DamageGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  init(salt: UInt64) { state = Self.runSeed &+ salt &* 0x9e37_79b9_7f4a_7c15 }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }

  static let runSeed: UInt64 = number("LODESTORE_SEED") ?? .random(in: 0...UInt64.max)

  /// The number of damaged files: few by default, more if the variable `LODESTORE_CASES` is set.
  static func caseCount(byDefault count: Int) -> Int {
    number("LODESTORE_CASES").map { Int(clamping: $0) } ?? count
  }

  /// The text to add to the message of a failure.
  static var replay: String { "LODESTORE_SEED=\(runSeed)" }

  /// A number that the environment sets, for longer runs.
  static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }
}

/// A name for a new folder, in memory if the system has such a place.
///
/// Hundreds of synced commits would otherwise take most of the time of these tests.
func scratchFolderPath() -> String {
  let memory = "/dev/shm"
  let parent =
    FileManager.default.isWritableFile(atPath: memory)
    ? memory : FileManager.default.temporaryDirectory.path
  return parent + "/kvdump-tests-\(UInt64.random(in: 0 ... .max))"
}

/// The ways in which disks, memory and programs damage files.
enum DamageKind: Int, CaseIterable, Sendable {
  case bit, byte, metaField, metaBits, branchHeader, branchBody, leafHeader, leafNode, leafBody
  case overflowHeader, freeList, wipedPage, swappedPages, stalePages, tornSector, truncation
  // These kinds damage references from a page to other pages; see
  // ``FaultFile/damageStructure(_:_:)``.
  case nodeFlags, treeRecord, otherRoot, cycle, sharedChild, keyOrder, sharedRun, usedPageInFreeList
  case transaction, lastPage, insertedBytes, repeatedBlock, randomPage, textMode, zeroTail
}

/// The bytes of an LMDB file, and an older state of the same file.
struct FaultFile {
  /// The system's, but none above LMDB's limit.
  static let pageSize = min(PageLayout.systemPageSize, PageFormat.ofEngine.largestPage)
  /// The layout that the engine of these tests gives files.
  let format = PageFormat.ofEngine
  var bytes: [UInt8]
  let older: [UInt8]

  var pageCount: Int { bytes.count / Self.pageSize }

  init(bytes: [UInt8], older: [UInt8] = []) {
    self.bytes = bytes
    self.older = older
  }

  init(path: String) throws { self.init(bytes: Array(try Data(contentsOf: URL(filePath: path)))) }

  func write(to path: String) throws { try Data(bytes).write(to: URL(filePath: path)) }

  func uint16(_ offset: Int) -> Int { Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 }

  func uint64(_ offset: Int) -> UInt64 { bytes._withBytes { $0.uint64(at: offset) } }

  mutating func put(_ value: some FixedWidthInteger, _ offset: Int) {
    for (index, byte) in littleEndianBytes(value).enumerated() where offset + index < bytes.count {
      bytes[offset + index] = byte
    }
  }

  /// The offset of the newer meta page.
  var newestMeta: Int {
    let number = format.meta.transaction
    return uint64(number) >= uint64(Self.pageSize + number) ? 0 : Self.pageSize
  }

  /// The offset of the root of the free list in a meta page.
  var freeListRoot: Int { format.meta.freeList + TreeRecordLayout.root }
  /// The offset of the root of the tree of names in a meta page.
  var mainRoot: Int { format.meta.names + TreeRecordLayout.root }

  /// Pages that look like pages of a type: 1 branch, 2 leaf, 4 overflow.
  func pages(ofType flag: Int) -> [Int] {
    (2..<max(2, pageCount)).filter {
      uint64($0 * Self.pageSize) == UInt64($0) && uint16($0 * Self.pageSize + format.flags) == flag
    }
  }

  // MARK: Damage

  mutating func damage(_ kind: DamageKind, _ random: inout DamageGenerator) {
    let size = Self.pageSize
    func below(_ bound: Int) -> Int { Int.random(in: 0..<max(1, bound), using: &random) }
    func page(_ flag: Int) -> Int {
      (pages(ofType: flag).randomElement(using: &random) ?? 2) * size
    }
    switch kind {
    case .bit: bytes[below(bytes.count)] ^= 1 << UInt8(below(8))
    case .byte: bytes[below(bytes.count)] = UInt8(below(256))
    case .metaField:
      let offset = below(160)
      poke(below(2) * size + offset, &random)
    case .metaBits:
      for _ in 0...below(3) { bytes[below(2) * size + below(160)] ^= 1 << UInt8(below(8)) }
    case .branchHeader: poke(page(1) + below(format.headerSize), &random)
    case .branchBody: poke(page(1) + format.headerSize + below(size - 32), &random)
    case .leafHeader: poke(page(2) + below(format.headerSize), &random)
    case .leafBody: poke(page(2) + format.headerSize + below(size - 32), &random)
    case .leafNode:
      let start = page(2)
      let lower = format.origin + uint16(start + format.lower)
      let pointer = start + format.slot(below((lower - format.headerSize) / 2))
      let node = start + (format.origin + uint16(pointer)) % size
      poke(below(4) == 0 ? pointer : node + below(8), &random)
    case .overflowHeader: poke(page(4) + below(format.headerSize), &random)
    case .freeList:
      let page = Int(clamping: uint64(newestMeta + freeListRoot)) % pageCount
      poke(page * size + format.headerSize + below(size - 32), &random)
    case .wipedPage:
      let start = (2 + below(pageCount - 2)) * size
      let filler: UInt8 = below(2) == 0 ? 0 : 0xff
      bytes.replaceSubrange(start..<(start + size), with: repeatElement(filler, count: size))
    case .swappedPages:
      let (one, other) = ((2 + below(pageCount - 2)) * size, (2 + below(pageCount - 2)) * size)
      let held = Array(bytes[one..<(one + size)])
      bytes.replaceSubrange(one..<(one + size), with: Array(bytes[other..<(other + size)]))
      bytes.replaceSubrange(other..<(other + size), with: held)
    case .stalePages:
      for _ in 0..<4 {
        let start = (2 + below(min(older.count, bytes.count) / size - 2)) * size
        guard start + size <= older.count else { continue }
        bytes.replaceSubrange(start..<(start + size), with: older[start..<(start + size)])
      }
    case .tornSector:
      let start = (16 + below(bytes.count / 512 - 16)) * 512
      bytes.replaceSubrange(start..<(start + 512), with: repeatElement(0, count: 512))
    case .truncation:
      bytes.removeLast(bytes.count - (below(2) == 0 ? below(bytes.count) : below(pageCount) * size))
    default: damageStructure(kind, &random)
    }
  }

  /// Overwrites 1 to 8 bytes with a random number or with a number at a limit.
  mutating func poke(_ offset: Int, _ random: inout DamageGenerator) {
    let limits: [UInt64] = [
      0, 1, 0xff, 0x7fff, 0xffff, 0x1000, 0x1_0000, 0x7fff_ffff, 0xffff_ffff, .max,
    ]
    let value =
      Bool.random(using: &random) ? random.next() : limits.randomElement(using: &random) ?? 0
    switch Int.random(in: 0..<4, using: &random) {
    case 0: put(UInt8(truncatingIfNeeded: value), offset)
    case 1: put(UInt16(truncatingIfNeeded: value), offset)
    case 2: put(UInt32(truncatingIfNeeded: value), offset)
    default: put(value, offset)
    }
  }

  // MARK: Making files

  /// Makes an LMDB file that is not a store.
  static func makeForeign(at path: String) throws {
    try commit(to: path) { try $0.transaction.put([1], [2], in: $0.tree("other")) }
  }

  static func commit(to path: String, _ body: (RawStore) throws -> Void) throws {
    var options = EnvironmentOptions()
    options.access = .readWrite(create: true)
    options.mapSizeInBytes = 1 << 28
    let environment = try EnvironmentRegistry.open(path, options: options) { _ in }
    defer { EnvironmentRegistry.close(environment) }
    try environment.write { try body(RawStore(environment: environment, transaction: $0)) }
  }

  /// A file of some 300 pages with all kinds of pages and a free list in use.
  static func make(at path: String, seed: UInt64) throws -> FaultFile {
    var older: [UInt8] = []
    var random = DamageGenerator(salt: seed)
    for round in 0..<6 {
      try commit(to: path) { try $0.scramble(round, &random) }
      if round == 3 { older = try FaultFile(path: path).bytes }
    }
    return FaultFile(bytes: try FaultFile(path: path).bytes, older: older)
  }
}

extension RawStore {
  /// Makes a commit of random changes, including values that become shorter within the commit.
  func scramble(
    _ round: Int, _ random: inout DamageGenerator, putCount: Int = 250
  ) throws {
    func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }
    let records = try tree("records.1", hasIntegerKeys: true)
    let index = try tree("index.1.1")
    let buckets = try tree("buckets")
    for _ in 0..<putCount {
      let id = UInt64.random(in: 1...900, using: &random)
      let body = bytes(.random(in: 60...600, using: &random))
      try body._withBytes { try transaction.put(id, $0, in: records) }
      let key = Array("user-\(UInt32.random(in: 0...99_999, using: &random))-\(id)".utf8)
      try transaction.put(key, bytes(20), in: index)
    }
    for _ in 0..<(putCount / 4) {
      try transaction.delete(UInt64.random(in: 1...900, using: &random), in: records)
    }
    for index in 0..<6 {
      let key = Array("blob\((round * 4 + index) % 10)".utf8)
      try transaction.put(key, bytes(.random(in: 20_000...40_000, using: &random)), in: buckets)
      if index % 2 == 0 {
        try transaction.put(key, bytes(.random(in: 5_000...12_000, using: &random)), in: buckets)
      }
    }
  }

  /// Reads every pair of every tree.
  ///
  /// The returned sum prevents the compiler from removing the reads.
  static func walkAll(_ environment: Environment) throws -> UInt64 {
    try StoreFileAccess.withTrees(of: environment, limit: 0) { trees, transaction, _ in
      var sum: UInt64 = 0
      for tree in trees.values {
        let cursor = try Cursor(tree, in: transaction)
        var found = try cursor.first()
        while found {
          for byte in cursor.key { sum &+= UInt64(byte) }
          for byte in cursor.value { sum = sum &* 31 &+ UInt64(byte) }
          found = try cursor.next()
        }
      }
      return sum
    }
  }
}
