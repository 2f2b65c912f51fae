import LMDB
import LodestoreBytes
import LodestoreFormat
internal import LodestorePages

/// The rules of Format.md, "Sealed files", except those about pages.
extension Verifier {
  /// Checks the seal of a sealed file against the content read before.
  ///
  /// In a file without a seal, checks that the header does not require the writer of a sealed file.
  func verifySeal() throws {
    let isForNobody = try headerField(.format)?._withBytes { bytes in
      try FormatRequirement(bytes: bytes).lowestWriter == SealDescription.lowestWriter
    }
    guard trees[TreeName.seal.text] != nil else {
      guard isForNobody == true else { return }
      addSeal(.sealWriter, "the header asks for a writer that no version is, and there is no seal")
      return
    }
    try section(.seal) {
      if isForNobody == false {
        addSeal(
          .sealWriter, "the header does not ask for the writer \(SealDescription.lowestWriter)")
      }
      guard let seal = try readSeal() else { return }
      report.seal = seal
      try verifySealedTrees()
      try verifySealedSchema(seal)
      try verifyCounts(seal)
      verifySealedDigest(seal)
      for name in [TreeName.digests, .catalogueCopy] where trees[name.text] == nil {
        addSeal(.sealTrees, "there is no tree '\(name.text)'")
      }
    }
  }

  private func addSeal(_ rule: FormatRule, _ detail: String) {
    add(.seal, rule, tree: TreeName.seal.text, detail)
  }

  private func headerField(_ field: HeaderField) throws -> [UInt8]? {
    guard let tree = trees[TreeName.header.text] else { return nil }
    guard let body = try transaction.get(field.key, in: tree), body.count == 8 else { return nil }
    return Array(body)
  }

  /// The seal; `nil` after adding a finding if there is none.
  private func readSeal() throws -> SealDescription? {
    guard let tree = trees[TreeName.seal.text] else { return nil }
    var seal: SealDescription?
    try walk(tree) { key, body in
      guard key.elementsEqual(SealDescription.key) else {
        return add(.seal, .sealPair, tree: tree.name, key: key, "the key is not that of the seal")
      }
      do {
        seal = try SealDescription(body: body)
      } catch let error as FormatError {
        add(.seal, error.rule ?? .sealMembers, tree: tree.name, key: key, error.description)
      }
    }
    if seal == nil, try transaction.count(of: tree) == 0 {
      addSeal(.sealPair, "the seal is missing")
    }
    return seal
  }

  /// Checks that a sealed file has neither a history nor content of imports.
  private func verifySealedTrees() throws {
    if trees[TreeName.history.text] != nil { addSeal(.sealTrees, "there is a history") }
    if let imports = trees[TreeName.imports.text], try transaction.count(of: imports) > 0 {
      addSeal(.sealTrees, "there are pairs of imports")
    }
    guard let header = trees[TreeName.header.text] else { return }
    var hasMark = false
    try walk(header) { key, _ in
      if HeaderField.changedEntity(key) != nil { hasMark = true }
    }
    if hasMark { addSeal(.sealTrees, "the header has the mark of an import") }
  }

  private func verifySealedSchema(_ seal: SealDescription) throws {
    if try fingerprint(of: [.catalogue]) != seal.schema {
      addSeal(.sealSchema, "the fingerprint of the schema is not that of the catalogue")
    }
    if try fingerprint(of: [.header, .counters]) != seal.header {
      addSeal(.sealHeader, "the fingerprint of the header is not that of header and counters")
    }
  }

  private func fingerprint(of names: [TreeName]) throws -> [UInt8] {
    var fingerprint = SchemaFingerprint()
    for name in names {
      guard let tree = trees[name.text] else { continue }
      try walk(tree) { key, body in fingerprint.add(key: key, body: body) }
    }
    return fingerprint.value
  }

  private func verifyCounts(_ seal: SealDescription) throws {
    var counts: [String: UInt64] = [:]
    for entity in entities {
      guard let tree = trees[TreeName.records(entity: entity.number).text] else { continue }
      counts[entity.name] = UInt64(try transaction.count(of: tree))
    }
    for name in Set(counts.keys).union(seal.counts.keys).sorted()
    where counts[name] != seal.counts[name] {
      let (declared, found) = (seal.counts[name], counts[name])
      addSeal(
        .sealCounts,
        "says \(declared.map { "\($0)" } ?? "nothing") of \(name), which has "
          + "\(found.map { "\($0) records" } ?? "no place in the catalogue")")
    }
  }

  /// Checks the digest only if all content was read without a finding.
  ///
  /// A wrong digest would otherwise report the same fault again.
  private func verifySealedDigest(_ seal: SealDescription) {
    guard findings.count == 0 else { return }
    let sum = digests.values.reduce(into: ContentDigest()) { $0 += $1 }
    guard sum != seal.digest else { return }
    addSeal(.sealDigest, "the digest is \(seal.digest), that of the content is \(sum)")
  }

  /// Checks that the meta pages have the mark of a sealed file if and only if the file has a seal.
  static func checkMark(_ pages: PageReport, in report: inout VerificationReport) {
    let hasSeal = pages.trees.contains { $0.name == TreeName.seal.text }
    guard hasSeal != pages.isSealed else { return }
    report.findingCount += 1
    report.findings.append(
      Finding(
        .seal, .sealPages,
        hasSeal
          ? "a meta page lacks the mark of a sealed file"
          : "the meta pages have the mark of a sealed file, and there is no seal"))
  }
}
