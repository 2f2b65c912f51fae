import LMDB
import LodestoreBytes
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

/// The rules of Format.md: their names where they stand (`§record.checksum`), and the two tables at
/// its end.
enum FormatRules {
  struct Checked: Sendable, CustomTestStringConvertible {
    var rule: String
    /// The name of a fault of the tests, or `(none: …)` with the reason.
    var fault: String

    var testDescription: String { "\(rule): \(fault)" }
  }

  static let text: String = {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return (try? String(contentsOf: root.appendingPathComponent("Format.md"), encoding: .utf8))
      ?? ""
  }()

  /// All names that stand in the text, in its order.
  static let named: [String] = text.matches(of: /§([a-z]+\.[a-z-]+)/).map { String($0.1) }

  /// The cells of the rows of the table whose head begins with `head`.
  private static func rows(_ head: String) -> [[String]] {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .drop { !$0.hasPrefix("| \(head) |") }.dropFirst(2).prefix { $0.hasPrefix("|") }
      .map { row in
        row.dropFirst().dropLast().split(separator: "|").map {
          $0.trimmingPrefix(" ").reversed().drop { $0 == " " }.reversed().map(String.init).joined()
        }
      }
  }

  private static func name(_ cell: String) -> String { cell.filter { $0 != "`" } }

  static let checked: [Checked] = rows("checked rule").map {
    Checked(rule: name($0[0]), fault: $0[1])
  }

  static let duties: [(rule: String, reason: String)] = rows("duty").map { (name($0[0]), $0[1]) }
}

@Suite("The rules of Format.md")
struct FormatRulesTests {
  @Test
  func `each rule has one name, in the text once and in one table`() {
    let tabled = FormatRules.checked.map(\.rule) + FormatRules.duties.map(\.rule)
    #expect(FormatRules.named.count > 100)
    #expect(FormatRules.named.count == Set(FormatRules.named).count)
    #expect(tabled.count == Set(tabled).count)
    #expect(Set(FormatRules.named).symmetricDifference(tabled) == [])
  }

  @Test
  func `the verifier checks exactly the rules that the document assigns to it`() {
    #expect(
      Set(FormatRule.allCases.map(\.rawValue))
        .symmetricDifference(FormatRules.checked.map(\.rule)) == [])
  }

  @Test
  func `a rule that cannot be checked states why`() {
    #expect(FormatRules.duties.allSatisfy { $0.reason.count > 10 })
    let unbroken = FormatRules.checked.filter { $0.fault.hasPrefix("(none") }
    #expect(unbroken.map(\.rule) == ["record.size"])
  }

  @Test(arguments: FormatRules.checked.filter { !$0.fault.hasPrefix("(none") })
  func `a fault that breaks the rule is found by its name`(_ row: FormatRules.Checked) throws {
    let rule = try #require(FormatRule(rawValue: row.rule))
    if let fault = Fault.all.first(where: { $0.name == row.fault }) {
      let findings = try fault.findings()
      #expect(findings.contains { $0.rule == rule }, "\(findings)")
      return
    }
    let planted = try #require(
      VerifierPageTests.plantedFaults.first { $0.testDescription == row.fault },
      "no test has the fault '\(row.fault)'")
    let folder = scratchFolderPath()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var file = try FaultFile.make(at: folder + "/pages.mdb", seed: 5)
    try planted.plant(&file)
    try file.write(to: folder + "/pages.mdb")
    let findings = try PageChecker.check(path: folder + "/pages.mdb").findings
    #expect(findings.contains { $0.rule == rule }, "\(findings)")
  }

  @Test(arguments: Fault.endFaults.indices)
  func `a value just beyond a range breaks its rule`(_ index: Int) throws {
    let (rule, fault) = Fault.endFaults[index]
    let findings = try fault.findings()
    #expect(findings.contains { $0.rule == rule }, "\(fault.name): \(findings)")
  }

  @Test(arguments: Fault.soundImports)
  func `the permitted remains of an import are no finding`(_ kept: Fault) throws {
    #expect(try kept.findings().isEmpty)
  }

  @Test(arguments: Fault.buildingFaults)
  func `an index that is being built is checked as any index`(_ fault: Fault) throws {
    let findings = try fault.findings()
    #expect(findings.map(\.rule) == [.catalogueIndex], "\(findings)")
  }

  @Test(arguments: [0, 1, 1 << 63, .max] as [UInt64])
  func `the number up to which an index is built must be a possible record id`(_ next: UInt64)
    throws
  {
    let store = try VerifiedStore()
    try store.change { try Fault.addBuilding(index: 9, upTo: next, to: $0) }
    let rules = Set(try Verifier.verify(path: store.path).findings.map(\.rule))
    #expect(rules.contains(.counterBuilding) == !(1...1 << 63).contains(next), "\(rules)")
    let other = try VerifiedStore()
    try other.change { try Fault.addBuilding(search: 9, upTo: next, to: $0) }
    let found = Set(try Verifier.verify(path: other.path).findings.map(\.rule))
    #expect(found.contains(.counterBuilding) == !(1...1 << 63).contains(next), "\(found)")
    #expect(found.contains(.searchEntries) == (next > 1), "\(found)")
  }

  @Test
  func `the page of the document equals the page that LMDB writes`() throws {
    let isLater = PageFormat.ofEngine == .lmdb10
    let fence = isLater ? "```example page version 3" : "```example page"
    let block = FormatRules.text.split(separator: "\n", omittingEmptySubsequences: false)
      .drop { $0 != fence }.dropFirst().prefix { $0 != "```" }.joined(separator: " ")
    let right = try #require(block.ranges(of: " = ").last.map { block[$0.upperBound...] })
    let page = try right.split(separator: " then ").flatMap { part -> [UInt8] in
      guard part.contains("×") else { return Self.bytes(part) }
      let words = part.split(separator: " ")
      let count = try #require(words.first.flatMap { Int($0) })
      let byte = try #require(words.last.flatMap { UInt8($0, radix: 16) })
      return Array(repeating: byte, count: count)
    }
    let key = Array("settings".utf8) + [0, 1, 2]
    let store = try VerifiedStore(filledBy: { store in
      try store.put(key, Checksum.sealed(key: key, content: [5, 6, 7]), .buckets)
    })
    let file = Array(try Data(contentsOf: URL(fileURLWithPath: store.path)))
    let pages = stride(from: 0, to: file.count - 4095, by: 4096).map { Array(file[$0..<$0 + 4096]) }
    // The page numbers and commit numbers of the two examples differ, so they are not compared.
    let start = isLater ? 16 : 8
    #expect(page.count == 4096 && pages.contains { $0.dropFirst(start) == page.dropFirst(start) })
  }

  private static let wholeStores: [[VerificationReport.Entity]] = [
    [.init(name: "Pod", recordCount: 2, indexEntryCount: 4)],
    [
      .init(name: "Choir", recordCount: 1, indexEntryCount: 0),
      .init(name: "Person", recordCount: 2, indexEntryCount: 2),
    ],
  ]

  @Test func `every whole store of the document is tested`() {
    #expect(Self.blocks(of: "store").count == Self.wholeStores.count)
  }

  @Test(arguments: wholeStores.indices)
  func `a whole store of the document is sound`(number: Int) throws {
    var pairs: [(tree: String, key: [UInt8], body: [UInt8])] = []
    for line in Self.blocks(of: "store")[number] {
      let sides = line.split(separator: " = ")
      if sides.count == 2 {
        let words = sides[0].split(separator: " ")
        let body = sides[1] == "empty" ? [] : Self.bytes(sides[1])
        pairs.append((String(words[0]), Self.bytes(words.dropFirst().joined()), body))
      } else {
        pairs[pairs.count - 1].body += Self.bytes(line)
      }
    }
    let store = try VerifiedStore(filledBy: { store in
      for pair in pairs {
        let isRecords = pair.tree.hasPrefix("records.")
        let tree = try store.tree(pair.tree, hasIntegerKeys: isRecords)
        if isRecords {
          let id = pair.key._withBytes { $0.uint64(at: 0) }
          try pair.body._withBytes { try store.transaction.put(id, $0, in: tree) }
        } else {
          try store.transaction.put(pair.key, pair.body, in: tree)
        }
      }
      for name in [TreeName.imports, .buckets] { _ = try store.tree(name) }
    })
    let report = try Verifier.verify(path: store.path)
    #expect(report.findings == [])
    #expect(report.entities.sorted { $0.name < $1.name } == Self.wholeStores[number])
    let others = pairs.count { !$0.tree.hasPrefix("records.") && !$0.tree.hasPrefix("index.") }
    #expect(report.trees.map(\.entryCount).reduce(0, +) == others, "\(report.trees)")
  }

  @Test
  func `the pairs of imports of the document are sound`() throws {
    var pairs: [String] = []
    for line in Self.blocks(of: "import-pair").joined() {
      if let equals = line.ranges(of: " = ").last {
        pairs.append(String(line[equals.upperBound...]))
      } else {
        pairs[pairs.count - 1] += line
      }
    }
    #expect(pairs.count > 4)
    let store = try VerifiedStore()
    try store.change { store in
      for pair in pairs {
        let sides = pair.split(separator: ":")
        try store.put(Self.bytes(sides[0]), Self.bytes(sides[1]), .imports)
      }
    }
    #expect(try Verifier.verify(path: store.path).findings == [])
  }

  /// The lines of each example block of a kind.
  static func blocks(of kind: String) -> [[Substring]] {
    var blocks: [[Substring]] = []
    var isInside = false
    for line in FormatRules.text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        isInside = line == "```example \(kind)"
        if isInside { blocks.append([]) }
      } else if isInside {
        blocks[blocks.count - 1].append(line)
      }
    }
    return blocks
  }

  static func bytes(_ hexadecimal: some StringProtocol) -> [UInt8] {
    let digits = hexadecimal.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map {
      UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
  }

  @Test
  func `stores without a fault have no findings`() throws {
    let written = try VerifiedStore()
    #expect(try Verifier.verify(path: written.path).findings == [])
    let kept = try VerifiedStore.kept()
    #expect(try Verifier.verify(path: kept.path).findings == [])
  }

  @Test(arguments: ["(", "[a", "a++", "a)", "*a", "a{3,2}", "\\p{Klingon}", "(?=a)", "\\ud800"])
  func `a pattern that no matcher accepts is a finding`(_ pattern: String) throws {
    let store = try VerifiedStore()
    try store.change {
      try $0.edit(
        CatalogueKey.entity(1), .catalogue, "attributes.1.pattern", to: .string(pattern))
    }
    #expect(
      try Verifier.verify(path: store.path).findings.map(\.rule) == [.constraintPattern])
  }

  @Test
  func `a key of an import without a record is stored with its page and record`() throws {
    func findings(_ key: [String: Document], count: Int = 1) throws -> [FormatRule] {
      let links: Document = .object([
        "added": .integer(0), "removed": .integer(0), "made": .integer(0),
        "unresolved": .integer(Int64(count)),
        "unresolvedKeys": .array(Array(repeating: .object(key), count: count)),
      ])
      let store = try VerifiedStore()
      let report = ImportKey.report(run: 1).bytes(name: "Film")
      try store.change { try $0.edit(report, .imports, "links", to: links) }
      return try Verifier.verify(path: store.path).findings.map(\.rule)
    }
    let key: [String: Document] = [
      "page": .integer(1), "record": .integer(2), "member": .string("band"), "key": .string("7"),
    ]
    #expect(try findings(key, count: 100) == [])
    #expect(try findings(key, count: 101) == [.importReport])
    for (name, value) in key {
      var other = key
      other[name] = nil
      #expect(try findings(other) == [.importReport])
      other[name] = .array([value])
      #expect(try findings(other) == [.importReport])
    }
  }

  @Test
  func `a tree of a later version may have keys of integers`() throws {
    let store = try VerifiedStore()
    try store.change { _ = try $0.tree("later", hasIntegerKeys: true) }
    #expect(try Verifier.verify(path: store.path).findings == [])
  }

  @Test
  func `an LMDB file of another program is no store, whatever flags its trees have`() throws {
    let store = try VerifiedStore()
    let path = store.path + ".other"
    try FaultFile.makeForeign(at: path)
    var file = try FaultFile(path: path)
    let root = Int(file.uint64(file.newestMeta + 128)) * FaultFile.pageSize
    let node = root + file.uint16(root + 16)
    file.put(UInt16(4), node + 8 + file.uint16(node + 6) + 4)
    try file.write(to: path)
    #expect(throws: VerificationError.notAStore("it is an LMDB file without a tree 'lodestore'")) {
      try Verifier.verify(path: path)
    }
  }
}
