import LodestoreBytes
internal import LodestoreFormat

/// The page rules of a sealed file: both meta pages describe the same trees, and unused bytes are
/// zero.
extension PageWalk {
  /// Checks the first two pages, and enables the checks of the other pages during the walk.
  func checkSeal(_ metas: [MetaPage], fileSize: Int) throws(VerificationError) {
    isOfSealedFile = true
    func require(_ isRight: Bool, _ detail: @autoclosure () -> String) {
      if !isRight { findings.add(.seal, .sealPages, detail()) }
    }
    require(
      format == .lmdb09 && pageSize == PageFileWriter.pageSize,
      "has pages of \(pageSize) bytes of \(format.engine), must have \(PageFileWriter.pageSize) of "
        + PageFormat.lmdb09.engine)
    var other = metas[1]
    other.pageNumber = metas[0].pageNumber
    other.transaction = metas[0].transaction
    require(metas[0] == other, "the two meta pages lead to different trees")
    require(
      metas[0].transaction == 2 && metas[1].transaction == 1,
      "has the commits \(metas[0].transaction) and \(metas[1].transaction), must have 2 and 1")
    require(metas[0].freeList.root == TreeRecordLayout.noPage, "has free pages")
    require(metas[0].main.pad == 0, "the main tree has a page size")
    require(
      fileSize == bound * pageSize,
      "has \(fileSize) bytes, must have \(bound) pages of \(pageSize)")
    for (number, meta) in metas.enumerated() {
      guard let page = try bytes(of: UInt64(number), level: 0) else { continue }
      let end = format.meta.size
      let mark = SealMark.offset..<SealMark.headSize
      let address = format.meta.version + 4..<format.meta.mapSize
      let isUnusedZero =
        page[8..<10].isZero && page[12..<16].isZero && page[address].isZero
        && page[end..<mark.lowerBound].isZero && page[mark.upperBound...].isZero
      require(isUnusedZero, "meta page \(number) has bytes that belong to nothing")
      require(
        meta.mapSize == UInt64(bound) * UInt64(pageSize),
        "meta page \(number) has a map of \(meta.mapSize) bytes")
    }
  }

  /// Checks that the bytes of a branch or leaf page outside its nodes are zero.
  func checkUnused(
    _ page: ByteView, _ number: UInt64, _ nodes: [PageNode], isLeaf: Bool, _ tree: String
  ) {
    func refuse(_ detail: String) {
      findings.add(.seal, .sealPages, tree: tree, "page \(number): " + detail)
    }
    let gap = format.slot(nodes.count)..<(nodes.map(\.offset).min() ?? pageSize)
    if !page[gap].isZero || !page[8..<10].isZero {
      refuse("bytes that belong to nothing are not zero")
    }
    if !isLeaf, nodes.first?.keyRange.isEmpty == false {
      refuse("the first key of a branch is not empty")
    }
    for (index, node) in nodes.enumerated() {
      let end = node.valueStart + node.storedSize
      if end < node.end, page[end] != 0 { refuse("the byte after node \(index) is not zero") }
    }
  }

  /// Checks that the branches above a leaf hold its first key.
  func checkLowest(_ key: ByteView, _ bounds: Bounds, _ number: UInt64, _ tree: String) {
    guard let low = bounds.low, !key.elementsEqual(low) else { return }
    findings.add(
      .seal, .sealPages, tree: tree, key: key,
      "page \(number): its first key is not that of the branch above")
  }

  /// Checks that the word of a tree's record that LMDB does not use is zero.
  func checkUnusedWord(ofTreeRecordAt offset: Int, in page: ByteView, _ number: UInt64) {
    guard offset + TreeRecordLayout.size <= page.count, page.uint32(at: offset) != 0 else { return }
    findings.add(
      .seal, .sealPages, "page \(number): the record of a tree has a word that belongs to nothing")
  }

  /// Checks that a run of overflow pages is exactly as long as its value needs, and zero after it.
  func checkUnused(
    afterValueOf byteCount: Int, in first: Int, pageCount: Int, _ needed: Int, _ tree: String
  ) throws(VerificationError) {
    guard pageCount == needed else {
      return findings.add(
        .seal, .sealPages, tree: tree,
        "the run at page \(first) has \(pageCount) pages, its value needs \(needed)")
    }
    let end = format.headerSize + byteCount
    let last = first + pageCount - 1
    guard let page = try bytes(of: UInt64(last), level: 0) else { return }
    let used = end - (pageCount - 1) * pageSize
    var isZero = page[used...].isZero
    if pageCount > 1, let page = try bytes(of: UInt64(first), level: 0) {
      isZero = isZero && page[8..<10].isZero
    } else if pageCount == 1 {
      isZero = isZero && page[8..<10].isZero
    }
    guard !isZero else { return }
    findings.add(
      .seal, .sealPages, tree: tree,
      "the run at page \(first): bytes that belong to nothing are not zero")
  }
}

extension ByteView {
  fileprivate var isZero: Bool { allSatisfy { $0 == 0 } }
}
