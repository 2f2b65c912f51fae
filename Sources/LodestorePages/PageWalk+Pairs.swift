import LodestoreBytes
internal import LodestoreFormat

extension PageWalk {
  /// Checks the value of a node of a leaf page.
  func visitPair(
    _ node: PageNode, in page: ByteView, _ number: UInt64, _ walk: inout Walk
  ) throws(VerificationError) {
    walk.report.entries += 1
    let allowed = walk.role == .names ? NodeFlag.isTree : node.flags & NodeFlag.isLarge
    guard node.flags == allowed else {
      findings.add(
        .page, tree: walk.name, key: page[node.keyRange],
        "page \(number): a pair has flags \(node.flags), must be \(allowed)")
      // If the pair's value is in overflow pages, these count as used, so that they are not also
      // reported as unused.
      if node.flags & NodeFlag.isLarge == 0 { return }
      _ = try visitOverflow(node, in: page, &walk)
      return
    }
    let start = node.valueStart
    switch walk.role {
    case .names:
      if isOfSealedFile { checkUnusedWord(ofTreeRecordAt: start, in: page, number) }
      guard node.dataSize == TreeRecordLayout.size else {
        findings.add(
          .page, tree: walk.name, key: page[node.keyRange],
          "a tree's record has \(node.dataSize) bytes, must have \(TreeRecordLayout.size)")
        return
      }
      noteTree(format.name(ofTree: page[node.keyRange]), TreeRecord(page, at: start))
    case .data:
      if node.flags & NodeFlag.isLarge != 0 { _ = try visitOverflow(node, in: page, &walk) }
    case .freeList:
      checkTransaction(of: node, in: page)
      if node.flags & NodeFlag.isLarge == 0 {
        var list = FreeListReader(byteCount: node.dataSize)
        list.take(page[start..<(start + node.dataSize)], self)
        list.finish(self)
      } else if let run = try visitOverflow(node, in: page, &walk) {
        try readFreeList(at: run * pageSize + format.headerSize, byteCount: node.dataSize)
      }
    }
  }

  private func checkTransaction(of node: PageNode, in page: ByteView) {
    guard node.keyRange.count == 8 else { return }
    let transaction = page.uint64(at: node.keyRange.lowerBound)
    if transaction == 0 || transaction > meta.transaction {
      findings.add(
        .freeList,
        "pages were freed by commit \(transaction), commits are 1 to \(meta.transaction)")
    }
  }

  /// Claims the run of pages that holds a long value.
  ///
  /// Returns the first page, or `nil` after adding a finding.
  ///
  /// A run may be longer than its value, because LMDB keeps the run when a shorter value replaces
  /// the value.
  private func visitOverflow(
    _ node: PageNode, in page: ByteView, _ walk: inout Walk
  ) throws(VerificationError) -> Int? {
    let first = page.uint64(at: node.valueStart)
    func refuse(_ detail: String) -> Int? {
      findings.add(.overflow, tree: walk.name, "run at page \(first): " + detail)
      return nil
    }
    guard first >= PageLayout.firstDataPage, first < UInt64(bound), first < UInt64(filePages) else {
      return refuse("pages are 2 to \(min(bound, filePages) - 1)")
    }
    guard !isClaimed(Int(first)) else {
      findings.add(.shared(first, of: walk.name))
      return nil
    }
    let header = MutableByteView.allocate(byteCount: format.headerSize, alignment: 16)
    defer { header.deallocate() }
    guard try file.read(into: header, at: Int(first) * pageSize) == header.count else {
      return refuse("is not in the file")
    }
    let bytes = ByteView(header)
    let number = bytes.uint64(at: PageLayout.number)
    guard number == first else { return refuse("says it is page \(number)") }
    let flags = bytes.uint16(at: format.flags)
    guard flags == PageFlag.overflow else {
      return refuse("has flags \(flags), must be \(PageFlag.overflow)")
    }
    if let fault = transactionFault(of: bytes) { return refuse(fault) }
    let length = Int(bytes.uint32(at: format.overflowCount))
    if let place = format.overflowReferenceCount {
      let declared = page.uint64(at: node.valueStart + place)
      guard declared == UInt64(length) else {
        return refuse("has \(length) pages, the pair that leads to it says \(declared)")
      }
    }
    let needed = format.overflowPages(of: node.dataSize, pageSize: pageSize)
    guard length >= needed else { return refuse("has \(length) pages, its value needs \(needed)") }
    guard length <= bound - Int(first) else {
      return refuse("has \(length) pages, there are \(bound - Int(first)) up to the last")
    }
    guard Int(first) + length <= filePages else {
      findings.add(
        .truncated, tree: walk.name,
        "the run at page \(first) has \(length) pages, the file ends at \(filePages)")
      return nil
    }
    // The loop ends at the first page that another tree or value already has. Damaged runs may
    // begin within each other, and continuing would visit their pages once for each run.
    let pages = Int(first)..<Int(first) + length
    let claimed = pages.prefix { claim(UInt64($0), of: walk.name) }.count
    walk.report.overflowPages += claimed
    if isOfSealedFile {
      try checkUnused(
        afterValueOf: node.dataSize, in: Int(first), pageCount: length, needed, walk.name)
    }
    try advance(by: claimed)
    return claimed == length ? Int(first) : nil
  }

  private func readFreeList(at offset: Int, byteCount: Int) throws(VerificationError) {
    var list = FreeListReader(byteCount: byteCount)
    let chunk = MutableByteView.allocate(byteCount: 65_536, alignment: 16)
    defer { chunk.deallocate() }
    var done = 0
    while done < byteCount, list.needsMore, !isGivenUp {
      let size = min(chunk.count, byteCount - done)
      let count = try file.read(into: chunk[..<size], at: offset + done)
      guard count == size else { break }
      list.take(ByteView(chunk[..<size]), self)
      done += size
    }
    list.finish(self)
  }
}

/// Reads one pair of the free list in pieces: a count, then that many page numbers in descending
/// order.
///
/// The pair may be longer than its count states, because LMDB reserves the room before it knows the
/// count.
private struct FreeListReader {
  private let capacity: Int
  private var expected: Int?
  private var found = 0
  private var previous = UInt64.max
  private var isBroken = false

  init(byteCount: Int) { capacity = byteCount / 8 }

  var needsMore: Bool { !isBroken && expected.map { found < $0 } ?? true }

  /// Reads the next piece.
  ///
  /// Each but the last has a multiple of 8 bytes.
  mutating func take(_ bytes: ByteView, _ walk: PageWalk) {
    for offset in stride(from: 0, to: bytes.count & ~7, by: 8)
    where needsMore && !walk.isGivenUp {
      let word = bytes.uint64(at: offset)
      guard expected != nil else {
        guard word < UInt64(capacity) else {
          isBroken = true
          walk.findings.add(.freeList, "a list says \(word) pages, it has room for \(capacity - 1)")
          return
        }
        expected = Int(word)
        continue
      }
      found += 1
      guard word < previous else {
        // The rest is not a list. Zeros of a hole in the file could continue for gigabytes.
        isBroken = true
        walk.findings.add(.freeList, "page \(word) is listed after \(previous), must be descending")
        return
      }
      previous = word
      walk.release(word)
    }
  }

  func finish(_ walk: PageWalk) {
    guard !isBroken, needsMore, !walk.isGivenUp else { return }
    walk.findings.add(
      .freeList, "a list ends after \(found) pages, must have \(expected ?? 0) and their count")
  }
}
