internal import LodestoreFormat
internal import LodestorePages

/// Finds the pages of the newest commit by the digests, if the tree does not refer to all pages.
extension SalvagedRecords {
  /// Pages whose records are all from the newest commit.
  struct Arrangement {
    var pages: Set<Int> = []
    /// The ranges of ids whose newest records are all in ``pages``, so no other page may add a
    /// record in them.
    var closed: [Range<UInt64>] = []
  }

  /// Finds the pages of the newest commit if the tree does not refer to all of them.
  ///
  /// Without the free list, an unreferenced page may be of any commit. A page that a disk did not
  /// write has the content of an earlier commit. The digest of the newest commit shows which pages
  /// have its records, if all of them are left. Otherwise its difference from the previous commit's
  /// digest shows which pages the newest commit wrote, if these are left.
  func arrangement(
    of candidates: [Candidate], _ entity: EntityDescription, _ target: ContentDigest
  ) throws -> Arrangement? {
    let content = DigestedContent.records(entity: entity.number)
    // The content decides, so one of several equal pages is enough.
    var pageOfLeaf: [LeafArrangement.Leaf: Int] = [:]
    file.beginReading()
    for candidate in candidates {
      guard let leaf = try leaf(candidate.page, of: entity),
        pageOfLeaf[leaf] == nil || isEarlier(candidate.page, entity)
      else { continue }
      pageOfLeaf[leaf] = candidate.page
    }
    let pages = pageOfLeaf.map { (leaf: $0.key, page: $0.value) }
    let arrangement = LeafArrangement(pages.map(\.leaf))
    if let chosen = arrangement.leaves(making: target) {
      return Arrangement(pages: Set(chosen.map { pages[$0].page }), closed: [0..<1 << 63])
    }
    guard let before = try store.earlierDigest(of: content) else { return nil }
    var change = target
    change -= before
    let earlier = Set(pages.indices.filter { isEarlier(pages[$0].page, entity) })
    guard !earlier.isEmpty, let chosen = arrangement.leaves(changing: earlier, by: change) else {
      return nil
    }
    return Arrangement(
      pages: Set(chosen.map { pages[$0].page }),
      closed: chosen.map { index in
        let keys = pages[index].leaf.keys
        return UInt64(keys.lowerBound)..<UInt64(keys.upperBound)
      })
  }

  private func isEarlier(_ page: Int, _ entity: EntityDescription) -> Bool {
    earlier[entity.number]?.contains(page) ?? false
  }

  private func leaf(_ page: Int, of entity: EntityDescription) throws -> LeafArrangement.Leaf? {
    guard let leaf = try file.leaf(page) else { return nil }
    var ids = IDRuns()
    var sum = ContentDigest()
    for case let pair? in leaf.pairs where view(pair, of: entity) != nil {
      ids.append(pair.key.uint64(at: 0))
      sum += number(of: pair)
    }
    guard let first = ids.normalized.ranges.first, let last = ids.normalized.ranges.last else {
      return nil
    }
    return LeafArrangement.Leaf(
      keys: UInt128(first.lowerBound)..<UInt128(last.upperBound), sum: sum)
  }
}
