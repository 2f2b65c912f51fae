import LodestoreBytes
internal import LodestoreFormat

/// Checks all pages of an LMDB file in either ``PageFormat``.
///
/// The file must be from a 64-bit little-endian machine.
///
/// LMDB does not check the numbers in pages, so a damaged file makes it crash or loop within a
/// read. LMDB can safely read and write a file that passes this check.
///
/// Memory use is one page for each level of a tree and two bits for each page of the file. Time is
/// one reading of every page. No bytes make the checker trap, and it visits no page twice. The
/// check stops after 100,000 findings.
///
/// Another process may write to the file meanwhile. A commit preserves the pages of the two commits
/// before it, so a walk is valid if at most one commit happened during it. Otherwise the walk is
/// repeated up to three times. After that the check ends with ``PageReport/isOvertaken``.
package enum PageChecker {
  /// The commit to check.
  package enum Commit: Sendable {
    case newest
    /// The commit before the newest one. Its pages remain until the commit after the newest one.
    case previous
  }

  /// - Parameters:
  ///   - limit: The maximum number of stored findings; 0 stores all. All findings are counted.
  ///   - checksSeal: Whether to check the rules of sealed files too: equal meta pages, and zeros in
  ///     all unused bytes.
  ///   - step: Receives the number of checked pages and the number of all pages. If it returns
  ///     false, the check ends.
  /// - Throws: ``VerificationError`` if the file cannot be read or is not an LMDB file, and
  ///   ``VerificationError/cancelled``.
  package static func check(
    path: String, commit: Commit = .newest, limit: Int = 1_000, checksSeal: Bool = false,
    step: (_ done: Int, _ total: Int) -> Bool = { _, _ in true }
  ) throws(VerificationError) -> PageReport {
    try check(
      PageFile(path: path), commit: commit, limit: limit, checksSeal: checksSeal, step: step)
  }

  /// Checks an open file; see the overload that takes a path.
  package static func check(
    _ file: PageFile, commit: Commit = .newest, limit: Int = 1_000, checksSeal: Bool = false,
    step: (_ done: Int, _ total: Int) -> Bool = { _, _ in true }
  ) throws(VerificationError) -> PageReport {
    try withoutActuallyEscaping(step) { (step) throws(VerificationError) in
      try check(
        file, commit: commit, limit: limit, checksSeal: checksSeal, escapingStep: step)
    }
  }

  private static func check(
    _ file: PageFile, commit: Commit, limit: Int, checksSeal: Bool,
    escapingStep step: @escaping (Int, Int) -> Bool
  ) throws(VerificationError) -> PageReport {
    var attempt = 0
    while true {
      attempt += 1
      let (format, metas, size) = try metaPages(of: file)
      var findings = FindingList(limit: limit)
      let number = (metas[0].transaction >= metas[1].transaction) == (commit == .newest) ? 0 : 1
      let meta = metas[number]
      switch commit {
      case .newest: checkMetaPages(metas, format, &findings)
      case .previous: checkMetaPage(meta, number, format, pageSize: metas[0].pageSize, &findings)
      }
      var report = PageReport()
      report.format = format
      report.isSealed = try isSealed(file, pageSize: metas[0].pageSize)
      report.pageSizeInBytes = metas[0].pageSize
      report.fileSizeInBytes = size
      report.mapSizeInBytes = meta.mapSize
      report.lastTransaction = meta.transaction
      let bound = meta.lastPage.addingReportingOverflow(1)
      let filePages = size / metas[0].pageSize
      // A transaction may allocate pages and free them without ever writing them. A sound file may
      // therefore end before its last page, but only by the pages of one transaction.
      if bound.overflow || bound.partialValue > UInt64(filePages + PageWalk.mostUnwritten) {
        findings.add(
          .truncated, "the file has \(filePages) pages, its last commit has page \(meta.lastPage)")
      } else {
        report.pageCount = Int(bound.partialValue)
        let walk = PageWalk(
          file: file, format: format, meta: meta, pageSize: metas[0].pageSize, filePages: filePages,
          findings: findings, step: step)
        if checksSeal, report.isSealed { try walk.checkSeal(metas, fileSize: size) }
        try walk.run(&report)
        findings = walk.findings
      }
      report.isGivenUp = findings.count >= PageWalk.mostFindings
      report.findings = findings.kept
      report.findingCount = findings.count
      let now = try metaPages(of: file).metas.map(\.transaction).max() ?? 0
      let last = metas.map(\.transaction).max()
      if now == last || (now >= meta.transaction && now - meta.transaction <= 1) { return report }
      if attempt == 3 {
        report.isOvertaken = true
        report.isGivenUp = false
        report.findings = []
        report.findingCount = 0
        return report
      }
    }
  }

  private static func metaPages(
    of file: PageFile
  ) throws(VerificationError) -> (format: PageFormat, metas: [MetaPage], size: Int) {
    let size = try file.sizeInBytes()
    guard size > 0 else { throw .notAStore("it is empty") }
    let format = try self.format(of: file)
    guard let first = try metaPage(of: file, format, at: 0) else {
      throw .notAStore("it is not an LMDB file of a 64-bit machine")
    }
    let pageSize = first.pageSize
    guard pageSize >= PageLayout.smallestPage, pageSize <= format.largestPage,
      pageSize & (pageSize - 1) == 0
    else {
      throw .damagedHeader(format.refusal(ofPageSize: pageSize))
    }
    guard let second = try metaPage(of: file, format, at: pageSize) else {
      throw .notAStore("it ends within its first two pages")
    }
    return (format, [first, second], size)
  }

  /// The format that the first page of a file states.
  package static func format(of file: PageFile) throws(VerificationError) -> PageFormat {
    let head = try bytes(of: file, PageFormat.headSize, at: 0) ?? []
    return try head._withBytes { (head) throws(VerificationError) in
      if let format = PageFormat(ofFile: head) { return format }
      for format in PageFormat.all where head.count == PageFormat.headSize {
        guard head.uint32(at: format.meta.magic) == MetaPageLayout.magicNumber else { continue }
        throw .notAStore(
          "its LMDB data version is \(head.uint32(at: format.meta.version)), must be "
            + "\(format.dataVersion)")
      }
      throw .notAStore("it is not an LMDB file of a 64-bit machine")
    }
  }

  private static func isSealed(_ file: PageFile, pageSize: Int) throws(VerificationError) -> Bool {
    for offset in [0, pageSize] {
      let head = try bytes(of: file, SealMark.headSize, at: offset) ?? []
      if !head._withBytes({ SealMark.isPresent(in: $0) }) { return false }
    }
    return true
  }

  private static func metaPage(
    of file: PageFile, _ format: PageFormat, at offset: Int
  ) throws(VerificationError) -> MetaPage? {
    try bytes(of: file, format.meta.size, at: offset)?._withBytes { MetaPage($0, format) }
  }

  /// Reads bytes of the file; returns `nil` if the file ends before the last of them.
  private static func bytes(
    of file: PageFile, _ byteCount: Int, at offset: Int
  ) throws(VerificationError) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: byteCount)
    let count = try bytes._withMutableBytes { (buffer) throws(VerificationError) in
      try file.read(into: buffer, at: offset)
    }
    return count == byteCount ? bytes : nil
  }

  private static func checkMetaPages(
    _ metas: [MetaPage], _ format: PageFormat, _ findings: inout FindingList
  ) {
    for (number, meta) in metas.enumerated() {
      checkMetaPage(meta, number, format, pageSize: metas[0].pageSize, &findings)
    }
    let (one, other) = (metas[0].transaction, metas[1].transaction)
    if max(one, other) - min(one, other) > 1 {
      findings.add(.meta, "the last commits are \(one) and \(other), must be consecutive")
    }
  }

  private static func checkMetaPage(
    _ meta: MetaPage, _ number: Int, _ format: PageFormat, pageSize: Int,
    _ findings: inout FindingList
  ) {
    func require(_ isRight: Bool, _ detail: @autoclosure () -> String) {
      if !isRight { findings.add(.meta, "meta page \(number): " + detail()) }
    }
    require(meta.pageNumber == number, "has page number \(meta.pageNumber)")
    require(meta.pageFlags == PageFlag.meta, "has page flags \(meta.pageFlags), must be 8")
    require(meta.magic == MetaPageLayout.magicNumber, "has not LMDB's mark")
    require(
      meta.version == format.dataVersion,
      "has data version \(meta.version), must be \(format.dataVersion)")
    require(meta.pageSize == pageSize, "has page size \(meta.pageSize), the other has \(pageSize)")
    require(
      meta.freeList.flags & ~TreeRecordLayout.noSubdirectory == TreeRecordLayout.integerKeys,
      "has free list flags \(meta.freeList.flags), must be 8")
    require(meta.main.flags == 0, "has tree flags \(meta.main.flags), must be 0")
    // No machine can map more, and no store reaches this size.
    require(meta.mapSize <= 1 << 47, "has map size \(meta.mapSize)")
    require(
      meta.lastPage < UInt64(1) << 47 / UInt64(pageSize)
        && (meta.lastPage + 1) * UInt64(pageSize) <= meta.mapSize,
      "has last page \(meta.lastPage) beyond its map of \(meta.mapSize) bytes")
    require(
      meta.transaction & 1 == number || meta.transaction == 0,
      "has transaction \(meta.transaction), which belongs into the other")
  }
}
