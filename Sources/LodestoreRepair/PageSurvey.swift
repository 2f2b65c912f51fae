internal import LodestoreFormat
internal import LodestorePages

/// All pages of a file, each classified by its content, and the commit to salvage.
struct PageSurvey {
  let file: DamagedFile
  /// The kinds of the pages, by page number.
  private(set) var kinds: [PageKind]
  /// The commit to salvage; `nil` if no meta page shows it.
  private(set) var meta: MetaPage?
  /// The previous commit, if its meta page can be read.
  private(set) var earlier: MetaPage?
  /// Pages that the newest commit freed or did not use.
  private(set) var free: PageSet
  /// Whether ``free`` is complete and of the newest commit.
  private(set) var isFreeListWhole = false
  /// Faults of the meta pages and of the free list, one sentence each.
  private(set) var problems: [String] = []
  /// The pages of the free list itself.
  private(set) var freeListPages: PageSet
  private var freed: [(page: Int, commit: UInt64)] = []

  init(_ file: DamagedFile) throws {
    self.file = file
    kinds = [PageKind](repeating: .nothing, count: file.pageCount)
    free = PageSet(bound: file.pageCount)
    freeListPages = PageSet(bound: file.pageCount)
    file.beginReading()
    for number in 2..<max(2, file.pageCount) { try classify(number) }
    try chooseCommit()
  }

  private mutating func classify(_ number: Int) throws {
    guard let page = try file.page(UInt64(number)), file.isInPlace(page) else { return }
    switch file.flags(page) {
    case PageFlag.branch: kinds[number] = .branch
    case PageFlag.overflow: kinds[number] = .overflow
    default:
      let (nodes, isWhole) = file.nodes(of: page, isLeaf: true)
      guard isWhole || file.flags(page) == PageFlag.leaf else { return }
      var counts: [PageKind: Int] = [:]
      for node in nodes {
        // A long value is read only if the other pairs do not decide the kind.
        guard node.flags & NodeFlag.isLarge == 0 || nodes.count == 1 || counts.isEmpty,
          let pair = try file.pair(node, in: page)
        else { continue }
        let kind = PageKind(pair)
        counts[kind, default: 0] += 1
        if kind == .freeList {
          let commit = pair.key.uint64(at: 0)
          if commit >= freed.last?.commit ?? 0 || freed.last?.page != number {
            freed.append((number, commit))
          }
        }
      }
      let best = counts.max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }
      kinds[number] = best?.key ?? .leaf
    }
  }

  // MARK: The commit

  private mutating func chooseCommit() throws {
    let metas = file.metas
    if metas.count < 2 {
      problems.append(
        metas.isEmpty
          ? "neither of the two meta pages can be read: the commit is found by its pages"
          : "one of the two meta pages cannot be read: a later commit may be lost")
    } else if metas[0].transaction - metas[1].transaction > 1 {
      problems.append("the numbers of the two meta pages are not those of commits in a row")
    }
    // If the commit numbers are not consecutive, the free list of each commit shows its number.
    let areInRow = metas.count == 2 && metas[0].transaction - metas[1].transaction <= 1
    var candidates: [(meta: MetaPage, commit: UInt64, hasNames: Bool, list: FreeList?)] = []
    for meta in metas {
      var list = try readFreeList(of: meta)
      if areInRow, let known = list, known.commit > 0, known.commit != meta.transaction {
        list = nil
      }
      let commit = areInRow ? meta.transaction : list?.commit ?? meta.transaction
      let hasNames = try !Self.names(file, meta.main).trees.isEmpty
      candidates.append((meta, commit, hasNames, list))
    }
    candidates.sort { ($0.commit, $0.meta.transaction) > ($1.commit, $1.meta.transaction) }
    if let chosen = candidates.first(where: { $0.hasNames || $0.list != nil }) ?? candidates.first {
      meta = chosen.meta
      if chosen.meta != metas[0] {
        problems.append("the newest meta page does not fit its pages: the one before it is taken")
      }
      if let list = chosen.list {
        addFree(list.freed)
        freeListPages = list.pages
        isFreeListWhole = true
      } else {
        problems.append("the free list cannot be read")
      }
    }
    earlier = metas.first { $0.transaction < meta?.transaction ?? 0 }
    // Pages that a commit freed reveal the commit even if its meta page is lost.
    let newest = freed.filter { $0.commit < 1 << 56 }.max { $0.commit < $1.commit }
    let isLost =
      meta.map { meta in newest.map { $0.commit == meta.transaction + 1 } ?? false }
      ?? (newest != nil)
    if metas.count < 2, isLost, let newest {
      if let known = meta { earlier = known }
      meta = nil
      try readFreePages(ofCommit: newest.commit)
    } else if meta != nil, !isFreeListWhole {
      try readFreePages(ofCommit: newest?.commit ?? 0)
      if let earlier { try guessFreePages(after: earlier) }
    }
  }

  private mutating func addFree(_ pages: [UInt64]) {
    for page in pages where page < UInt64(file.pageCount) { _ = free.insert(Int(page)) }
  }

  private struct FreeList {
    /// The commit that wrote the list; 0 if the list is empty.
    var commit: UInt64
    var freed: [UInt64]
    var pages: PageSet
  }

  /// Reads the free list of a commit; `nil` if it is damaged.
  ///
  /// Each commit but the first frees pages, so its number is the last key.
  private func readFreeList(of meta: MetaPage) throws -> FreeList? {
    var list = FreeList(commit: 0, freed: [], pages: PageSet(bound: file.pageCount))
    var isGood = true
    let counts = try file.walk(meta.freeList, pages: &list.pages) { leaf in
      guard leaf.pairs.contains(where: { $0.map { PageKind($0) == .freeList } ?? false }) else {
        return false
      }
      for pair in leaf.pairs {
        guard let pair, let freed = PageKind.freed(pair.key, pair.body) else {
          isGood = false
          continue
        }
        list.commit = max(list.commit, pair.key.uint64(at: 0))
        list.freed += freed
      }
      return true
    }
    guard isGood, counts.fit(meta.freeList), list.commit > 0 || meta.transaction <= 1 else {
      return nil
    }
    return list
  }

  /// Reads the free pages of a commit from leaves of the free list that are not free themselves.
  private mutating func readFreePages(ofCommit commit: UInt64) throws {
    free = PageSet(bound: file.pageCount)
    var leaves: [(commit: UInt64, page: Int)] = []
    for (page, commit) in freed {
      if leaves.last?.page == page { leaves.removeLast() }
      leaves.append((commit, page))
    }
    for leaf in leaves.sorted(by: { $0 > $1 }) where !free.contains(leaf.page) {
      guard leaf.commit <= commit else { continue }
      guard let read = try file.leaf(leaf.page) else { continue }
      for pair in read.pairs {
        addFree(pair.flatMap { PageKind.freed($0.key, $0.body) } ?? [])
      }
      _ = freeListPages.insert(leaf.page)
    }
  }

  /// Uses the pages that the previous commit had, free or used, in place of a lost free list.
  ///
  /// The newest commit may use some of these pages. The trees of that commit refer to such pages.
  private mutating func guessFreePages(after earlier: MetaPage) throws {
    var used = PageSet(bound: file.pageCount)
    _ = try file.walk(earlier.freeList, pages: &used) { leaf in
      for case let pair? in leaf.pairs { addFree(PageKind.freed(pair.key, pair.body) ?? []) }
      return true
    }
    for tree in try Self.names(file, earlier.main).trees {
      _ = try file.walk(tree.record, pages: &used) { _ in true }
    }
    free.formUnion(used)
  }

  // MARK: Names

  /// A tree with the name in its pair.
  struct NamedTree {
    var name: String
    var record: TreeRecord
  }

  /// The names of trees, and whether all of them could be read.
  static func names(
    _ file: DamagedFile, _ record: TreeRecord
  ) throws -> (trees: [NamedTree], isWhole: Bool, pages: PageSet) {
    var trees: [NamedTree] = []
    var pages = PageSet(bound: file.pageCount)
    var isGood = true
    let counts = try file.walk(record, pages: &pages) { leaf in
      let named = leaf.pairs.map { $0.flatMap { tree($0, file) } }
      guard named.contains(where: { $0 != nil }) else { return false }
      if named.contains(where: { $0 == nil }) { isGood = false }
      trees += named.compactMap(\.self)
      return true
    }
    return (trees, isGood && counts.fit(record), pages)
  }

  /// The trees that a leaf names.
  func names(inLeaf number: Int) throws -> [NamedTree] {
    try file.leaf(number)?.pairs.compactMap { $0.flatMap { Self.tree($0, file) } } ?? []
  }

  private static func tree(_ pair: DamagedFile.Pair, _ file: DamagedFile) -> NamedTree? {
    guard pair.flags == NodeFlag.isTree, pair.body.count == TreeRecordLayout.size,
      let text = String(validating: pair.key, as: UTF8.self)
    else { return nil }
    let name = file.format.name(ofTree: text.utf8)
    guard !name.isEmpty, !name.contains("\0") else { return nil }
    return NamedTree(name: name, record: TreeRecord(pair.body, at: 0))
  }
}
