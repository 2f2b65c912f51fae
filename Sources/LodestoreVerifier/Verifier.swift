import LMDB
import LodestoreBytes
import LodestoreFormat
package import LodestorePages

/// Checks a store against every rule of Format.md that can be checked on a file.
///
/// The verifier reads through LMDB and the format's code, and shares nothing with the entity layer
/// that wrote the store. The check continues after a finding.
///
/// Memory use does not grow with the number of records. The index entries of each record are
/// computed and compared with the entries of the index. Without findings, each entry belongs to
/// exactly one record.
package final class Verifier {
  let transaction: Transaction
  /// The trees that could be opened, by name.
  let trees: [String: Tree]
  var findings: FindingList
  var report = VerificationReport()
  var entities: [EntityDescription] = []
  /// The entities by number, including entities beyond the maximum number of trees, which are not
  /// checked.
  var describedEntities: [EntityNumber: EntityDescription] = [:]
  var relationships: [RelationshipDescription] = []
  /// The digests of the content read, for trees without findings.
  var digests: [DigestedContent: ContentDigest] = [:]
  /// Entities of the catalogue that could not be read.
  var unreadableEntities: Set<EntityNumber> = []
  /// Called before each entity, relationship and tree, and every thousand pairs.
  let isCancelled: () -> Bool
  /// The number of pairs read, which determines when to call ``isCancelled``.
  private var visitCount = 0

  /// Checks the pages of the file and, if they are sound, opens the file and checks its content.
  ///
  /// Do not use it for a store that this process has open; see
  /// ``verify(environment:limit:isCancelled:)``. Other processes may have the store open and write
  /// to it.
  ///
  /// - Parameters:
  ///   - commit: The commit to check. For the commit before the newest, a copy of the file is read.
  ///   - limit: The maximum number of stored findings; 0 stores all. All findings are counted.
  /// - Throws: ``VerificationError`` if the file is not a store or cannot be read, `LMDBError` if
  ///   it cannot be opened.
  package static func verify(
    path: String, commit: PageChecker.Commit = .newest, limit: Int = 1_000
  ) throws -> VerificationReport {
    let pages = try PageChecker.check(path: path, commit: commit, limit: limit, checksSeal: true)
    guard pages.isSound else {
      if pages.isForeignFile { throw VerificationError.notAStore(Self.noHeader) }
      return damagedPages(pages)
    }
    var report = try StoreFileAccess.withEnvironment(at: path, commit: commit) { environment in
      try verify(environment: environment, limit: limit)
    }
    note(pages, in: &report)
    return report
  }

  /// Checks the content of the newest commit of an open environment, but not the file's pages.
  ///
  /// Call it on any thread that is not in a transaction of the environment. The check holds one
  /// read transaction until it ends.
  ///
  /// - Parameter isCancelled: Called every thousand pairs. If it returns true, the check ends with
  ///   ``VerificationError/cancelled``.
  package static func verify(
    environment: Environment, limit: Int = 1_000, isCancelled: () -> Bool = { false }
  ) throws -> VerificationReport {
    try StoreFileAccess.withTrees(of: environment, limit: limit) { trees, transaction, findings in
      guard trees[TreeName.header.text] != nil else { throw VerificationError.notAStore(noHeader) }
      return try withoutActuallyEscaping(isCancelled) { isCancelled in
        try Verifier(
          transaction: transaction, trees: trees, findings: findings, isCancelled: isCancelled
        ).run()
      }
    }
  }

  /// Checks the pages of an open environment and, if they are sound, the content of its newest
  /// commit.
  ///
  /// Call it on any thread that is not in a transaction of the environment. Other threads and
  /// processes may write.
  ///
  /// - Parameters:
  ///   - step: Receives the number of checked pages and the number of all pages. If it returns
  ///     false, the check ends.
  ///   - isCancelled: Called every thousand pairs. If it returns true, the check ends with
  ///     ``VerificationError/cancelled``.
  package static func verify(
    pagesAndContentOf environment: Environment, limit: Int = 1_000,
    step: (_ done: Int, _ total: Int) -> Bool, isCancelled: () -> Bool
  ) throws -> VerificationReport {
    let pages = try PageChecker.check(
      PageFile(descriptor: environment.dataDescriptor), limit: limit, checksSeal: true, step: step)
    guard step(pages.pageCount, pages.pageCount) else { throw VerificationError.cancelled }
    guard pages.isSound else { return damagedPages(pages) }
    var report = try verify(environment: environment, limit: limit, isCancelled: isCancelled)
    note(pages, in: &report)
    return report
  }

  /// The report of a file with damaged pages, whose records are not read.
  private static func damagedPages(_ pages: PageReport) -> VerificationReport {
    var report = VerificationReport()
    report.findings = pages.findings
    report.findingCount = pages.findingCount
    report.notices = ["the pages are damaged: the records in them were not looked at"]
    if pages.isGivenUp {
      report.notices.append("the pages have too many faults: some pages were not looked at")
    }
    report.pages = pages
    return report
  }

  private static func note(_ pages: PageReport, in report: inout VerificationReport) {
    checkMark(pages, in: &report)
    if pages.isOvertaken {
      report.notices.append("another process writes too fast: the pages were not checked")
    } else {
      report.pages = pages
    }
  }

  private static let noHeader = "it is an LMDB file without a tree 'lodestore'"

  private init(
    transaction: Transaction, trees: [String: Tree], findings: FindingList,
    isCancelled: @escaping () -> Bool
  ) {
    self.transaction = transaction
    self.trees = trees
    self.findings = findings
    self.isCancelled = isCancelled
  }

  private func run() throws -> VerificationReport {
    try section(.header, verifyHeader)
    try section(.catalogue, verifyCatalogue)
    try guarding(TreeName.header.text, verifyRequirement)
    try section(.counters, verifyCounters)
    for entity in entities.sorted(by: { $0.number < $1.number }) { try verifyEntity(entity) }
    for relationship in relationships {
      try guarding("relationship \(relationship.number)") { try verifyRelationship(relationship) }
    }
    for entity in entities {
      try guarding(TreeName.records(entity: entity.number).text) {
        try verifyDerived(of: entity)
        try verifyKeyedIndexes(of: entity)
        try verifySearches(of: entity)
        try verifyVectors(of: entity)
      }
    }
    try verifyForeignTrees()
    try section(.buckets, verifyBuckets)
    try section(.imports, verifyImports)
    for (name, verify) in [
      (TreeName.history, verifyHistory), (.digests, verifyDigests),
      (.catalogueCopy, verifyCatalogueCopy),
    ] where trees[name.text] != nil {
      try section(name, verify)
    }
    try verifySeal()
    report.findings = findings.kept
    report.findingCount = findings.count
    return report
  }

  /// Runs the checks of a tree that every store has, and counts its entries and findings.
  func section(_ name: TreeName, _ body: () throws -> Void) throws {
    let before = findings.count
    var count = 0
    if let opened = trees[name.text] {
      count = (try? transaction.count(of: opened)) ?? 0
      try guarding(name.text, body)
    } else {
      add(.treeMissing, tree: name.text, "the tree must exist")
    }
    noteTree(name.text, count, since: before)
  }

  /// Reports a tree as checked.
  ///
  /// The findings after the first `before` belong to it.
  func noteTree(_ name: String, _ entryCount: Int, since before: Int) {
    report.trees.append(
      VerificationReport.Tree(
        name: name, entryCount: entryCount, findingCount: findings.count - before))
  }

  func add(
    _ code: Finding.Code, _ rule: FormatRule? = nil, tree: String? = nil, subject: String? = nil,
    record: UInt64? = nil, key: ByteView? = nil, _ detail: @autoclosure () -> String
  ) {
    findings.add(code, rule, tree: tree, subject: subject, record: record, key: key, detail())
  }

  func add(
    _ code: Finding.Code, _ rule: FormatRule? = nil, tree: String? = nil, subject: String? = nil,
    record: UInt64? = nil, key: some Collection<UInt8>, _ detail: @autoclosure () -> String
  ) {
    Array(key)._withBytes {
      findings.add(code, rule, tree: tree, subject: subject, record: record, key: $0, detail())
    }
  }

  /// Turns an LMDB error into a finding about `tree`, so that the check continues with the next
  /// tree.
  func guarding(_ tree: String, _ body: () throws -> Void) throws {
    try checkCancelled()
    do {
      try body()
    } catch let error as LMDBError where !error.isShortage {
      add(.engine, tree: tree, "\(error)")
    }
  }

  func checkCancelled() throws {
    if isCancelled() { throw VerificationError.cancelled }
  }

  /// Calls `body` with every pair of `tree`.
  ///
  /// The bytes are valid for the whole transaction.
  @inline(__always)
  func walk(_ tree: Tree, _ body: (ByteView, ByteView) throws -> Void) throws {
    let cursor = try Cursor(tree, in: transaction)
    var found = try cursor.first()
    while found {
      try body(cursor.key, cursor.value)
      visitCount &+= 1
      if visitCount & 1_023 == 0 { try checkCancelled() }
      found = try cursor.next()
    }
  }

  /// Checks that trees of records or indexes outside the catalogue are empty.
  ///
  /// Other unknown trees are ignored.
  private func verifyForeignTrees() throws {
    let described = entities.flatMap(\.trees) + relationships.flatMap(\.trees)
    let expected = Set(described.map(\.text))
    for (text, tree) in trees.sorted(by: { $0.key < $1.key }) where !expected.contains(text) {
      switch TreeName(text) {
      case .records(let entity), .index(let entity, _), .elements(let entity, _),
        .search(let entity, _), .place(let entity, _), .vector(let entity, _):
        guard !unreadableEntities.contains(entity) else {
          report.notices.append("\(text) was not checked: its entity cannot be read")
          continue
        }
        let isIndex = !text.hasPrefix("records.")
        try verifyEmpty(tree, isIndex ? .indexNotEmpty : .treeForeign)
      case .links, .order: try verifyEmpty(tree, .treeForeign)
      case nil:
        report.notices.append("tree '\(text)' is none that Format.md lists and was not read")
      case .header, .catalogue, .counters, .buckets, .imports, .history, .digests,
        .catalogueCopy, .seal:
        break
      }
    }
  }

  private func verifyEmpty(_ tree: Tree, _ code: Finding.Code) throws {
    try guarding(tree.name) {
      let count = try transaction.count(of: tree)
      guard count > 0 else { return }
      add(code, tree: tree.name, "is not in the catalogue and has \(count) entries, must be empty")
    }
  }
}

extension PageReport {
  /// Whether pages with findings belong to another program's file, whose trees may use features
  /// that a store does not.
  fileprivate var isForeignFile: Bool {
    !trees.isEmpty && !trees.contains { $0.name == TreeName.header.text }
      && findings.allSatisfy { $0.tree != nil && $0.tree != names.name }
  }
}
