import LMDB
import LodestoreFormat
import Testing

@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

@Suite("Verifier")
struct VerifierTests {
  @Test
  func `a sound store has no findings and every pair is counted`() throws {
    let store = try VerifiedStore()
    let report = try Verifier.verify(path: store.path)
    #expect(report.findings == [])
    #expect(report.notices == [])
    #expect(
      report.entities == [
        .init(name: "Film", recordCount: 6, indexEntryCount: 24),
        .init(name: "Pod", recordCount: 4, indexEntryCount: 4),
      ])
    #expect(
      report.trees.map(\.name) == ["lodestore", "catalogue", "counters", "buckets", "imports"])
    #expect(report.trees.map(\.entryCount) == [4, 2, 2, 1, 1])
    #expect(report.pages?.isSound == true)
  }

  @Test(arguments: Fault.indexFaults + Fault.recordFaults + Fault.otherFaults)
  func `the verifier finds each fault, and reports nothing else`(_ fault: Fault) throws {
    let store = try VerifiedStore()
    try store.change { try fault.plant($0) }
    let report = try Verifier.verify(path: store.path)
    #expect(Set(report.findings.map(\.code)) == fault.codes, "\(report.findings)")
    #expect(report.findingCount == report.findings.count)
  }

  @Test
  func `a finding names its tree, index, record and key`() throws {
    let store = try VerifiedStore()
    let tree = TreeName.index(entity: 1, index: 1)
    var key: [UInt8] = []
    try store.change {
      key = try required($0.pairs(tree).first).key
      try $0.remove(key, tree)
    }
    let finding = try #require(try Verifier.verify(path: store.path).findings.first)
    #expect(finding.tree == "index.1.1")
    #expect(finding.subject == "Film.episodeId")
    #expect(finding.record == 1)
    #expect(finding.key == key)
    #expect(
      finding.description
        == "entry-missing: Film.episodeId (index.1.1), record 1, key 13"
        + "37: the record has no entry [index.entry-there]")
    #expect(finding.rule == .indexEntryThere)
  }

  @Test
  func `findings beyond the limit are counted and not listed`() throws {
    let store = try VerifiedStore()
    try store.change { try $0.transaction.empty($0.tree(.index(entity: 1, index: 2))) }
    let report = try Verifier.verify(path: store.path, limit: 2)
    #expect(report.findings.count == 2)
    #expect(report.findingCount == 6)
    #expect(report.entities.first?.findingCount == 6)
    #expect(try Verifier.verify(path: store.path, limit: 0).findings.count == 6)
  }

  @Test
  func `an unreadable entity does not hide the faults of the others`() throws {
    let store = try VerifiedStore()
    try store.change {
      try $0.put(CatalogueKey.entity(1), [1, 2, 3, 4, 5], .catalogue)
      try $0.transaction.empty($0.tree(.index(entity: 2, index: 1)))
    }
    let report = try Verifier.verify(path: store.path)
    #expect(report.count(of: .catalogue) == 1)
    #expect(report.count(of: .entryMissing) == 4)
    #expect(report.count(of: .treeForeign) == 0)
    #expect(report.notices.count == 5)
  }

  @Test
  func `trees, header fields and catalogue members of later versions are no faults`() throws {
    let store = try VerifiedStore()
    try store.change {
      try $0.put(Array("colour".utf8), [1], .header)
      try $0.put([3, 0, 0, 0, 1], [1], .catalogue)
      try $0.transaction.put([1], [2], in: $0.tree("later"))
      var pod = VerifiedStore.pod
      pod.unknownMembers[.entity] = ["later": .integer(1)]
      try $0.putCatalogue(2, pod.document)
    }
    let report = try Verifier.verify(path: store.path)
    #expect(report.findings == [])
    #expect(report.notices.count == 1)
  }

  @Test(arguments: [(1, false), (2, true)])
  func `links and orders count as trees of the catalogue`(_ orders: Int, _ isBeyond: Bool) throws {
    let store = try VerifiedStore()
    try store.change { store in
      // The store also has 2 entities with 5 indexes.
      for number in UInt32(1)...1_996 {
        var relationship = RelationshipDescription(
          number: number, from: .init(entity: 1), to: .init(entity: 2))
        if number == 1 {
          relationship.from.isOrdered = true
          relationship.to.isOrdered = orders > 1
        }
        let key = CatalogueKey.relationship(number)
        try store.put(
          key, Checksum.sealed(key: key, content: relationship.document.encoded()), .catalogue)
      }
    }
    let findings = try Verifier.verify(path: store.path, limit: 0).findings
      .filter { $0.rule == .catalogueLimits }
    #expect(findings.count == (isBeyond ? 1 : 0))
    let detail = "4001 trees of entities, indexes, links and orders, at most 4,000"
    #expect(findings.allSatisfy { $0.detail.hasPrefix(detail) }, "\(findings)")
  }

  @Test
  func `the empty tree of a dropped index may remain`() throws {
    let store = try VerifiedStore()
    try store.change { _ = try $0.tree(.index(entity: 1, index: 9)) }
    #expect(try Verifier.verify(path: store.path).isSound)
  }

  @Test
  func `an LMDB file without a header is not a store`() throws {
    let store = try VerifiedStore()
    try FaultFile.makeForeign(at: store.path + ".other")
    #expect(throws: VerificationError.notAStore("it is an LMDB file without a tree 'lodestore'")) {
      try Verifier.verify(path: store.path + ".other")
    }
  }

  @Test
  func `a store that needs a newer reader is refused by its version`() throws {
    let store = try VerifiedStore()
    let later = FormatVersion.current.rawValue + 1
    try store.change {
      let requirement = FormatRequirement(lowestReader: later, lowestWriter: later)
      try $0.put(HeaderField.format.key, requirement.bytes, .header)
    }
    #expect(throws: VerificationError.newerFormat(lowestReader: later)) {
      try Verifier.verify(path: store.path)
    }
  }

  @Test
  func `an open environment is verified as of its last commit`() throws {
    let store = try VerifiedStore()
    var options = EnvironmentOptions()
    options.access = .readWrite(create: false)
    let environment = try EnvironmentRegistry.open(store.path, options: options) { _ in }
    defer { EnvironmentRegistry.close(environment) }
    #expect(try Verifier.verify(environment: environment).isSound)
    try environment.write {
      let raw = RawStore(environment: environment, transaction: $0)
      try raw.remove(raw.pairs(.index(entity: 2, index: 1))[0].key, .index(entity: 2, index: 1))
    }
    #expect(try Verifier.verify(environment: environment).count(of: .entryMissing) == 1)
  }

  @Test
  func `random bytes in records, entries and catalogue never trap the verifier`() throws {
    var random = DamageGenerator(salt: 1)
    for _ in 0..<60 {
      let store = try VerifiedStore()
      try store.change { raw in
        let names: [TreeName] = [
          .header, .catalogue, .counters, .buckets, .imports, .records(entity: 1),
          .records(entity: 2),
          .index(entity: 1, index: 1), .index(entity: 1, index: 2), .index(entity: 2, index: 1),
        ]
        for _ in 0..<4 {
          let name = try required(names.randomElement(using: &random))
          guard
            case (let key, var body)? = try raw.pairs(name)
              .randomElement(using: &random)
          else { continue }
          switch Int.random(in: 0..<4, using: &random) {
          case 0: body = Array(body.prefix(Int.random(in: 0...body.count, using: &random)))
          case 1: body += (0..<9).map { _ in UInt8.random(in: 0...255, using: &random) }
          default:
            if let offset = body.indices.randomElement(using: &random) {
              body[offset] = .random(in: 0...255, using: &random)
            }
          }
          try raw.put(key, body, name)
          if case .index = name { try raw.put(key.dropLast(3) + [3], body, name) }
        }
      }
      // A changed format version is refused; everything else gives a report.
      do {
        _ = try Verifier.verify(path: store.path)
      } catch VerificationError.newerFormat {}
    }
  }
}
