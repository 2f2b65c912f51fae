import LodestoreFormat
import LodestorePages

@testable import LodestoreRepair

/// A kind of damage.
enum RepairDamage: String, CaseIterable {
  case zeroedLeaf, zeroedBranch, zeroedRoot, swappedChildren, wrongBranchKey, foreignLeaf, staleLeaf
  case staleBranch, oneBit, freeList, treeName, storeName, oneMeta, bothMetas, catalogue, header,
    order
  case linksOneSide, linksBothSides, history, imports, buckets, truncated, tornCommit
  case zeroedLeafAndFreeList, rootsOfTwins, digests, mainRoot, randomPages
}

/// The content of a sound file, with the place of each pair.
struct SoundFile {
  struct Pair: Hashable {
    var tree: String
    var key: [UInt8]
  }
  struct Place {
    var page: Int
    var node: Range<Int>
    var run: Range<Int>?
    var body: [UInt8]
  }

  let bytes: [UInt8]
  let pageSize: Int
  let format: PageFormat
  let main: TreeRecord
  let freeList: TreeRecord
  let newestMeta: Int
  var trees: [String: TreeRecord] = [:]
  var pairs: [Pair: Place] = [:]
  /// The pages of each tree.
  var leaves: [String: [Int]] = [:]
  var branches: [String: [Int]] = [:]

  init(path: String, bytes: [UInt8]) throws {
    self.bytes = bytes
    let file = try DamagedFile(path: path)
    (pageSize, format) = (file.pageSize, file.format)
    let meta = file.metas[0]
    (main, freeList) = (meta.main, meta.freeList)
    newestMeta = Int(meta.transaction & 1)
    for tree in try PageSurvey.names(file, meta.main).trees { trees[tree.name] = tree.record }
    var all = trees
    all["main"] = main
    all["free"] = freeList
    for (name, record) in all {
      var pages = PageSet(bound: file.pageCount)
      var mine: [Int] = []
      _ = try file.walk(record, pages: &pages) { leaf in
        mine.append(leaf.page.number)
        for node in file.nodes(of: leaf.page, isLeaf: true).nodes {
          guard let pair = try file.pair(node, in: leaf.page) else { continue }
          let start = leaf.page.number * file.pageSize
          self.pairs[Pair(tree: name, key: Array(pair.key))] = Place(
            page: leaf.page.number, node: start + node.offset..<start + node.end,
            run: try file.run(of: node, in: leaf.page),
            body: Array(pair.body))
        }
        return true
      }
      leaves[name] = mine
      branches[name] = (2..<file.pageCount).filter { page in
        pages.contains(page)
          && bytes[page * file.pageSize + file.format.flags] == UInt8(PageFlag.branch)
      }
    }
  }

  func keys(of tree: String) -> [Pair] { pairs.keys.filter { $0.tree == tree } }

  /// Whether a pair still has its bytes at its place, in a page that was not replaced.
  func isIntact(_ pair: Pair, in damaged: [UInt8], _ replaced: Set<Int>) -> Bool {
    guard let place = pairs[pair], !replaced.contains(place.page),
      place.node.upperBound <= damaged.count,
      damaged[place.node].elementsEqual(bytes[place.node])
    else { return false }
    guard let run = place.run else { return true }
    let range = run.lowerBound * pageSize..<run.upperBound * pageSize
    return range.upperBound <= damaged.count && damaged[range].elementsEqual(bytes[range])
  }
}

/// Damages a file.
struct DamageMaker {
  let sound: SoundFile
  /// The file before the last commit.
  let before: [UInt8]
  var numbers: RepairNumbers
  var bytes: [UInt8]
  /// The pages whose content was replaced by that of other pages.
  var replaced: Set<Int> = []

  init(_ sound: SoundFile, before: [UInt8], _ numbers: RepairNumbers) {
    (self.sound, self.before, self.numbers) = (sound, before, numbers)
    bytes = sound.bytes
  }

  private var size: Int { sound.pageSize }
  private var recordTrees: [String] {
    sound.trees.keys.filter { $0.hasPrefix("records.") }.sorted()
  }
  private var dataTrees: [String] {
    sound.trees.keys.filter { sound.trees[$0]?.entries ?? 0 > 0 }.sorted()
  }

  private mutating func zero(_ page: Int) {
    for index in page * size..<(page + 1) * size { bytes[index] = 0 }
  }

  /// Puts other bytes into a page, with its number.
  private mutating func paste(_ content: some Collection<UInt8>, at page: Int) {
    for (index, byte) in content.enumerated() where index >= 8 { bytes[page * size + index] = byte }
    replaced.insert(page)
  }

  private func page(_ number: Int, of file: [UInt8]? = nil) -> ArraySlice<UInt8> {
    (file ?? sound.bytes)[number * size..<(number + 1) * size]
  }

  private mutating func flip(_ range: Range<Int>) {
    bytes[range.lowerBound + numbers.below(range.count)] ^= 1 << UInt8(numbers.below(8))
  }

  private func root(_ tree: String) -> Int { Int(clamping: sound.trees[tree]?.root ?? 0) }

  /// Old leaves or branches in pages that the newest commit does not use.
  private func unused(_ flag: UInt16) -> [Int] {
    let used = Set(sound.leaves.values.joined()).union(sound.branches.values.joined())
      .union(sound.pairs.values.compactMap(\.run).joined())
    return (2..<bytes.count / size).filter {
      !used.contains($0) && bytes[$0 * size + sound.format.flags] == UInt8(flag)
    }
  }

  /// The nodes of a page, as ranges of the file.
  private func nodes(_ page: Int) -> [Int] {
    let start = page * size
    func half(_ offset: Int) -> Int {
      Int(bytes[start + offset]) | Int(bytes[start + offset + 1]) << 8
    }
    let count = (half(sound.format.lower) + sound.format.origin - sound.format.headerSize) / 2
    return (0..<max(0, count)).map { start + sound.format.origin + half(sound.format.slot($0)) }
  }

  /// Damages the bytes; false where the file has nothing of that kind.
  mutating func apply(_ kind: RepairDamage) -> Bool {
    switch kind {
    case .zeroedLeaf:
      guard let tree = numbers.pick(dataTrees), let page = numbers.pick(sound.leaves[tree] ?? [])
      else { return false }
      zero(page)
    case .zeroedBranch:
      guard let page = numbers.pick(sound.branches.values.joined().sorted()) else { return false }
      zero(page)
    case .zeroedRoot:
      guard let tree = numbers.pick(dataTrees) else { return false }
      zero(root(tree))
    case .swappedChildren, .wrongBranchKey:
      guard let page = numbers.pick(recordTrees.flatMap { sound.branches[$0] ?? [] }) else {
        return false
      }
      let nodes = nodes(page)
      guard nodes.count > 1 else { return false }
      let first = 1 + numbers.below(nodes.count - 1)
      if kind == .wrongBranchKey {
        flip(nodes[first] + 8..<nodes[first] + 10)
      } else {
        let second = (first + 1) % nodes.count
        for byte in 0..<6 { bytes.swapAt(nodes[first] + byte, nodes[second] + byte) }
      }
    case .foreignLeaf:
      guard let from = numbers.pick(dataTrees), let to = numbers.pick(dataTrees), from != to,
        let source = numbers.pick(sound.leaves[from] ?? []),
        let target = numbers.pick(sound.leaves[to] ?? [])
      else { return false }
      paste(page(source), at: target)
    case .staleLeaf:
      // In a tree without a digest, a complete earlier state cannot be recognized; see the article
      // Reliability.
      let trees = dataTrees.filter {
        !["order", "import", "counte", "lodest"].contains($0.prefix(6)) && !$0.hasPrefix("order")
      }
      guard let tree = numbers.pick(trees), let target = numbers.pick(sound.leaves[tree] ?? []),
        let source = numbers.pick(unused(PageFlag.leaf)),
        page(source)[(source * size + 8)...]
          != page(target)[(target * size + 8)...]
      else { return false }
      paste(page(source), at: target)
    case .staleBranch:
      guard let tree = numbers.pick(recordTrees),
        let target = numbers.pick(sound.leaves[tree] ?? []),
        let source = numbers.pick(unused(PageFlag.branch))
      else { return false }
      paste(page(source), at: target)
    case .oneBit:
      guard
        let tree = numbers.pick(
          dataTrees.filter { !$0.hasPrefix("counters") && !$0.hasPrefix("lodestore") }),
        let page = numbers.pick((sound.leaves[tree] ?? []) + (sound.branches[tree] ?? []))
      else { return false }
      let start = page * size
      switch numbers.below(4) {
      case 0: flip(start..<start + sound.format.headerSize)
      case 1:
        flip(
          start + sound.format.headerSize..<start + sound.format.headerSize + 2 * nodes(page).count)
      default:
        guard let node = numbers.pick(nodes(page)) else { return false }
        flip(node..<min(start + size, node + 40))
      }
    case .freeList:
      guard let page = numbers.pick((sound.leaves["free"] ?? []) + (sound.branches["free"] ?? []))
      else { return false }
      numbers.below(2) == 0 ? zero(page) : flip(page * size..<page * size + 200)
    case .treeName, .storeName:
      let names = sound.keys(of: "main").filter {
        (kind == .storeName) == (String(decoding: $0.key, as: UTF8.self).hasPrefix("lodestore"))
      }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      guard let name = numbers.pick(names), let place = sound.pairs[name] else { return false }
      flip(place.node.lowerBound + 8..<place.node.lowerBound + 8 + name.key.count)
    case .oneMeta, .bothMetas:
      for meta in 0..<2 where kind == .bothMetas || meta == sound.newestMeta {
        let start = meta * size
        numbers.below(3) == 0
          ? flip(start + sound.format.headerSize..<start + sound.format.meta.size) : zero(meta)
      }
      // LMDB ignores some fields of a meta page, so a change there does not count as damage.
      let ignored = sound.format.meta.magic + 8..<sound.format.meta.freeList
      for meta in 0..<2
      where ignored.contains(where: { bytes[meta * size + $0] != sound.bytes[meta * size + $0] })
        && bytes[meta * size + sound.format.meta.magic] != 0
      { return false }
    case .catalogue: return damage("catalogue")
    case .header: return damage("lodestore")
    case .order: return damage(numbers.pick(dataTrees.filter { $0.hasPrefix("order") }))
    case .linksOneSide: return damage(numbers.pick(dataTrees.filter { $0.hasPrefix("links") }))
    case .linksBothSides:
      guard let tree = numbers.pick(dataTrees.filter { $0.hasPrefix("links") }) else {
        return false
      }
      _ = damage(String(tree.dropLast()) + "1")
      return damage(String(tree.dropLast()) + "2")
    case .history: return damage("history")
    case .imports: return damage("imports")
    case .buckets: return damage("buckets")
    case .digests: return damage("digests")
    case .truncated: bytes.removeLast(1 + numbers.below(bytes.count / 3))
    case .tornCommit:
      for page in 2..<bytes.count / size
      where (page + 1) * size > before.count || page_differs(page) {
        guard numbers.below(2) == 0 else { continue }
        if (page + 1) * size > before.count {
          zero(page)
        } else {
          for index in page * size..<(page + 1) * size { bytes[index] = before[index] }
        }
        replaced.insert(page)
      }
    case .zeroedLeafAndFreeList:
      guard let tree = numbers.pick(recordTrees), let page = numbers.pick(sound.leaves[tree] ?? [])
      else { return false }
      zero(page)
      for page in sound.leaves["free"] ?? [] { zero(page) }
    case .rootsOfTwins:
      zero(root("records.3"))
      zero(root("records.4"))
    case .mainRoot: zero(Int(sound.main.root))
    case .randomPages:
      for _ in 0..<(1 + numbers.below(4)) { zero(2 + numbers.below(bytes.count / size - 2)) }
    }
    return bytes != sound.bytes
  }

  private func page_differs(_ page: Int) -> Bool {
    let range = page * size..<(page + 1) * size
    return sound.bytes[range] != before[range]
  }

  /// Zeroes a page of a tree, or changes one bit of it.
  private mutating func damage(_ tree: String?) -> Bool {
    guard let tree,
      let page = numbers.pick((sound.leaves[tree] ?? []) + (sound.branches[tree] ?? []))
    else { return false }
    if numbers.below(2) == 0 || tree == "lodestore" {
      zero(page)
    } else if let node = numbers.pick(nodes(page)) {
      numbers.below(3) == 0
        ? flip(page * size + 8..<page * size + sound.format.headerSize) : flip(node..<node + 24)
    }
    return bytes != sound.bytes
  }
}
