import LMDB
import LodestoreFormat
internal import LodestorePages

extension SalvagedFile {
  /// A tree that Format.md does not list.
  package struct UnknownTree: Sendable {
    package var name: String
    package var hasIntegerKeys: Bool
    /// Whether it is of a kind that a store may have: else its pairs are not as they read.
    package var isLegal: Bool
  }

  /// How much of a history there is.
  package struct HistoryCounts: Sendable, Equatable {
    package var writes = 0
    package var images = 0
    package var preserved = 0
    package var consumers = 0
  }

  // MARK: Header and counters

  /// Takes what the header tells of the model, of versions, and in fields of later versions.
  ///
  /// Marks of entities are left: they say that no record was changed since an import relied on them.
  func readHeader() throws {
    let hasGaps = try walk(TreeName.header) { key, body in
      guard let name = String(validating: key, as: UTF8.self),
        let field = HeaderField(rawValue: name)
      else {
        guard HeaderField.changedEntity(key) == nil else { return }
        return unknownFields.append((Array(key), Array(body)))
      }
      switch field {
      case .model where body.count == 8: model = body._uint64(at: 0)
      case .model:
        problems.append("the version of the model has \(body.count) bytes, must have 8")
      case .format: if let said = try? FormatRequirement(bytes: body) { requirement = said }
      case .uuid, .created, .schema: break
      }
    }
    if hasGaps { problems.append("some fields of the header cannot be read") }
  }

  /// Takes the counters that are in their range: they have no checksum.
  func readCounters() throws {
    let hasGaps = try walk(TreeName.counters) { key, body in
      // Where an index is built anew, or begun anew, nothing counts how far it is.
      if key.first == 4 { return }
      let name = Finding.hexadecimal(key)
      guard let most = Self.most(key), body.count == 8 else {
        problems.append("counter \(name) is none that the format lists")
        return
      }
      let value = body._uint64(at: 0)
      guard (1...most).contains(value) else {
        problems.append(
          "counter \(name) says \(value), must be 1 to \(most): numbers go on behind the highest found"
        )
        return
      }
      counters[Array(key)] = value
    }
    if hasGaps { problems.append("some counters cannot be read") }
  }

  /// What a counter may say at most; `nil` for a key that is none of a counter of numbers.
  private static func most(_ key: UnsafeRawBufferPointer) -> UInt64? {
    if CatalogueKey.entityNumber(key) != nil { return 1 << 63 }
    let isOfNumbers =
      key.elementsEqual(CounterKey.nextEntity) || key.elementsEqual(CounterKey.nextRelationship)
    return isOfNumbers ? UInt64(UInt32.max) : nil
  }

  // MARK: Trees

  /// The trees of later versions, in the order of their names.
  package var unknownTrees: [UnknownTree] {
    trees.sorted { $0.key < $1.key }.filter { TreeName($0.key) == nil }.map { name, record in
      UnknownTree(
        name: name, hasIntegerKeys: record.flags & TreeRecordLayout.integerKeys != 0,
        isLegal: record.flags & ~TreeRecordLayout.integerKeys == 0)
    }
  }

  /// Records of entities that the catalogue does not tell: their trees, and how many the trees say that there are.
  package var undescribed: [(name: String, count: UInt64)] {
    trees.sorted { $0.key < $1.key }.compactMap { name, record in
      guard case .records(let number)? = TreeName(name), record.entries > 0,
        !entities.contains(where: { $0.number == number })
      else { return nil }
      return (name, record.entries)
    }
  }

  /// Visits the pairs of a tree of a later version; returns whether some cannot be read, or cannot be put anywhere.
  package func forEachPair(
    of tree: UnknownTree, _ visit: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
  ) throws -> Bool {
    guard let record = trees[tree.name] else { return true }
    var isWhole = true
    let gaps = try pages.walk(record) { key, body in
      let isKey =
        tree.hasIntegerKeys
        ? key.count == PageLayout.idSize : (1...PageLayout.longestKey).contains(key.count)
      if isKey { try visit(key, body) } else { isWhole = false }
    }
    return !isWhole || !gaps.isEmpty
  }

  /// Counts what the history tells; `nil` where there is nothing.
  package func historyCounts() throws -> HistoryCounts? {
    guard trees[TreeName.history.text] != nil else { return nil }
    var counts = HistoryCounts()
    _ = try walk(TreeName.history) { key, _ in
      switch HistoryKey(key) {
      case .part(_, let part): if part == 0 { counts.writes += 1 }
      case .image: counts.images += 1
      case .tombstone: counts.preserved += 1
      case .consumer: counts.consumers += 1
      case .purged, nil: break
      }
    }
    return counts == HistoryCounts() ? nil : counts
  }
}
