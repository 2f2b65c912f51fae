import LMDB
import LodestoreFormat
internal import LodestorePages

/// A damaged store, read as far as it goes: every description, record and pair whose checksum is right.
///
/// Of its two commits the newest is taken whose catalogue can be read. LMDB has no part in it, so no damage
/// can end the program. Nobody may write the file meanwhile.
package final class SalvagedFile {
  /// What was found of the records of an entity.
  package struct Found: Sendable {
    /// Records with a right checksum.
    package var records = 0
    /// Records whose bytes are not those that were written.
    package var damaged = 0
    /// How many the tree says that there are.
    package var expected: UInt64 = 0
    /// Whether pages of the tree could not be read.
    package var hasGaps = false
  }

  package private(set) var entities: [EntityDescription] = []
  package private(set) var relationships: [RelationshipDescription] = []
  /// Descriptions, trees and the like that could not be read, in words.
  package internal(set) var problems: [String] = []
  /// The version of the model, where the header tells one.
  package internal(set) var model: UInt64?
  /// Fields of the header that Format.md does not list, as they read.
  package internal(set) var unknownFields: [(key: [UInt8], body: [UInt8])] = []
  /// Pairs of the catalogue with keys from `03` on, as they read.
  package private(set) var unknownDescriptions: [(key: [UInt8], body: [UInt8])] = []
  /// What the header says that readers and writers must know; versions begin at 1.
  package internal(set) var requirement = FormatRequirement(lowestReader: 1, lowestWriter: 1)
  /// Those of the tree `counters` that say what a counter may say.
  package internal(set) var counters: [[UInt8]: UInt64] = [:]
  let pages: PageSalvage
  private(set) var trees: [String: TreeRecord] = [:]
  /// Ids of records that may be in pages which cannot be read.
  private var gaps: [EntityNumber: IDRuns] = [:]

  /// - Throws: ``VerificationError`` when neither commit has a catalogue that can be read.
  package init(path: String) throws {
    pages = try PageSalvage(path: path)
    if pages.metas.count < 2 {
      problems.append("one of the two meta pages cannot be read: a later commit may be lost")
    }
    for meta in pages.metas {
      pages.reset()
      try readTrees(meta)
      try readCatalogue()
      if !entities.isEmpty { break }
      problems.append("commit \(meta.transaction) has no entity that can be read")
    }
    guard trees[TreeName.header.text] != nil, trees[TreeName.catalogue.text] != nil else {
      throw VerificationError.notAStore("neither of its commits has a catalogue that can be read")
    }
    try readHeader()
    try readCounters()
  }

  private func readTrees(_ meta: MetaPage) throws {
    trees = [:]
    var unnamed = 0
    let gaps = try pages.walk(meta.main, isNames: true) { key, value in
      guard value.count == TreeRecordLayout.size,
        let text = String(validating: key, as: UTF8.self),
        case let name = pages.format.name(ofTree: text.utf8), !name.isEmpty, !name.contains("\0")
      else {
        unnamed += 1
        return
      }
      trees[name] = TreeRecord(value, at: 0)
    }
    if !gaps.isEmpty || unnamed > 0 { problems.append("some names of trees cannot be read") }
    try pages.readFreeList(of: meta)
  }

  private func readCatalogue() throws {
    entities = []
    relationships = []
    unknownDescriptions = []
    let gaps = try walk(TreeName.catalogue) { key, body in
      if let kind = key.first, kind >= 3 {
        self.unknownDescriptions.append((Array(key), Array(body)))
        return
      }
      do throws(FormatError) {
        let content = try Checksum.unsealed(key: key, body: body)
        let document = try Document(decoding: content)
        if let number = CatalogueKey.entityNumber(key) {
          try self.add(try EntityDescription(number: number, document: document))
        } else if let number = CatalogueKey.relationshipNumber(key) {
          try self.add(try RelationshipDescription(number: number, document: document))
        } else {
          throw FormatError("the key is none of a description", .catalogueKey)
        }
      } catch {
        self.problems.append(
          "the description \(Finding.hexadecimal(key)) is damaged: \(error.reason)")
      }
    }
    if gaps { problems.append("some descriptions of entities cannot be read") }
    dropUnfitting()
  }

  /// Leaves out what is of something else that was lost, or does not fit it: the new store could
  /// not be opened.
  private func dropUnfitting() {
    let described = Dictionary(entities.map { ($0.number, $0) }) { first, _ in first }
    relationships.removeAll { relationship in
      do throws(FormatError) {
        try relationship.check(described)
        return false
      } catch {
        problems.append("relationship \(relationship.number) is left out: \(error.reason)")
        return true
      }
    }
    for position in entities.indices {
      let entity = entities[position]
      for (index, attribute) in entity.attributes.enumerated() where !attribute.isRemoved {
        do throws(FormatError) {
          try attribute.derivation?.check(attribute, of: entity, entities, relationships)
        } catch {
          problems.append(
            "'\(entity.name).\(attribute.name)' is derived no more, and keeps its values: "
              + error.reason)
          entities[position].attributes[index].derivation = nil
        }
      }
    }
  }

  /// Damaged pages may lead to one description by several ways.
  private func add(_ entity: EntityDescription) throws(FormatError) {
    guard !entities.contains(where: { $0.number == entity.number || $0.name == entity.name })
    else {
      throw FormatError("another entity has its number or its name", .catalogueKey)
    }
    entities.append(entity)
  }

  private func add(_ relationship: RelationshipDescription) throws(FormatError) {
    guard !relationships.contains(where: { $0.number == relationship.number }) else {
      throw FormatError("another relationship has its number", .catalogueKey)
    }
    relationships.append(relationship)
  }

  /// Visits the pairs of a tree, which can be done once; returns whether some cannot be read.
  func walk(_ name: TreeName, _ visit: PageSalvage.Visit) throws -> Bool {
    guard let record = trees[name.text] else { return true }
    return try !pages.walk(record, visit).isEmpty
  }

  // MARK: Records

  /// Visits the records of an entity whose checksums are right, in the order of their ids as a rule.
  ///
  /// To be called once for each entity, before ``forEachOrphan(_:)``.
  package func forEachRecord(
    of entity: EntityDescription, _ visit: (UInt64, UnsafeRawBufferPointer) throws -> Void
  ) throws -> Found {
    var found = Found()
    let name = TreeName.records(entity: entity.number).text
    guard let record = trees[name] else {
      problems.append("the records of \(entity.name) have no tree")
      found.hasGaps = true
      gaps[entity.number] = IDRuns([PageSalvage.Gap().ids])
      return found
    }
    found.expected = record.entries
    let gaps = try pages.walk(record) { key, body in
      guard let id = Self.recordID(key), Self.isWhole(body, id, entity) else {
        found.damaged += 1
        return
      }
      found.records += 1
      try visit(id, body)
    }
    found.hasGaps = !gaps.isEmpty
    self.gaps[entity.number] = IDRuns(gaps.map(\.ids))
    return found
  }

  /// Marks the pages of all trees except those with the records of entities.
  ///
  /// A leaf that is not marked afterwards may hold lost records.
  package func passOtherTrees() throws {
    let passed = Set(entities.map { TreeName.records(entity: $0.number).text })
    for name in trees.keys.sorted() where !passed.contains(name) {
      if let record = trees[name] { _ = try? pages.walk(record) { _, _ in } }
    }
  }

  /// Visits records in pages that no tree leads to; an id may come twice.
  ///
  /// They are those of the entity in whose tree pages are missing for their ids, and whose layouts they have. They
  /// stay in the file: each call reads their pages again. After ``passOtherTrees()``.
  package func forEachOrphan(
    _ visit: (EntityNumber, UInt64, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard gaps.values.contains(where: { !$0.isEmpty }) else { return }
    try pages.forEachLostPair { key, body in
      guard let id = Self.recordID(key), body.count >= 6, Checksum.fits(body, id: id) else {
        return
      }
      let owners = self.entities.filter { entity in
        self.gaps[entity.number]?.contains(id) == true && Self.isWhole(body, id, entity)
      }
      guard owners.count == 1 else { return }
      try visit(owners[0].number, id, body)
    }
  }

  private static func recordID(_ key: UnsafeRawBufferPointer) -> UInt64? {
    guard key.count == 8 else { return nil }
    let id = key._uint64(at: 0)
    return id > 0 && id < 1 << 63 ? id : nil
  }

  private static func isWhole(
    _ body: UnsafeRawBufferPointer, _ id: UInt64, _ entity: EntityDescription
  ) -> Bool {
    guard body.count >= 6, Checksum.fits(body, id: id),
      let number = try? RecordLayout.layoutNumber(of: body),
      let layout = entity.layouts.first(where: { $0.number == number })
    else { return false }
    do throws(FormatError) {
      try RecordView(body, layout: layout).validate(id: id)
      return true
    } catch {
      return false
    }
  }

  // MARK: Other trees

  /// Visits the pairs of `buckets` or `imports` whose checksums are right; returns how many are not, and whether
  /// some cannot be read.
  package func forEachSealed(
    in name: TreeName, _ visit: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
  ) throws -> (damaged: Int, hasGaps: Bool) {
    var damaged = 0
    let hasGaps = try walk(name) { key, body in
      if (try? Checksum.unsealed(key: key, body: body)) == nil {
        damaged += 1
      } else {
        try visit(key, body)
      }
    }
    return (damaged, hasGaps)
  }

  /// The links of a relationship with trees, by side 1, as far as either tree tells them.
  package func links(of relationship: RelationshipDescription) throws -> Set<LinkPair> {
    var links: Set<LinkPair> = []
    for side in [RelationshipSide.from, .to] {
      _ = try walk(TreeName.links(relationship: relationship.number, side: side)) { key, _ in
        guard let (id, other) = Self.pair(key) else { return }
        links.insert(
          side == .from ? LinkPair(from: id, to: other) : LinkPair(from: other, to: id))
      }
    }
    return links
  }

  /// The two ids of a link's key.
  private static func pair(_ key: UnsafeRawBufferPointer) -> (UInt64, UInt64)? {
    guard let code = key.first, (0x15...0x1c).contains(code) else { return nil }
    let size = Int(code) - 0x14
    guard key.count == 1 + size + 8 else { return nil }
    var id: UInt64 = 0
    for byte in key[1...size] { id = id << 8 | UInt64(byte) }
    let other = key._bigEndianUInt64(at: 1 + size)
    guard id > 0, id < 1 << 63, other > 0, other < 1 << 63 else { return nil }
    return (id, other)
  }

  /// What each record of one side leads to, with its position.
  package func positions(
    of relationship: RelationshipDescription, _ side: RelationshipSide
  ) throws -> [UInt64: [UInt64: UInt64]] {
    var positions: [UInt64: [UInt64: UInt64]] = [:]
    _ = try walk(TreeName.order(relationship: relationship.number, side: side)) { key, body in
      guard key.count == 17, body.count == 8, key[8] <= 1 else { return }
      let owner = key._bigEndianUInt64(at: 0)
      let (second, value) = (key._bigEndianUInt64(at: 9), body._uint64(at: 0))
      let (other, position) = key[8] == 0 ? (second, value) : (value, second)
      guard position > 0, position < 1 << 63 else { return }
      if positions[owner]?[other] == nil { positions[owner, default: [:]][other] = position }
    }
    return positions
  }
}
