import LMDB
import LodestoreBytes
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// Checks one relationship against Format.md, "Relationships": that each link is on both sides,
  /// and that all ids belong to existing records.
  func verifyRelationship(_ relationship: RelationshipDescription) throws {
    let subject = title(of: relationship)
    for side in RelationshipSide.allCases where relationship[side].isOrdered {
      try verifyOrder(of: relationship, side, subject)
    }
    if let number = relationship.attribute {
      guard let holder = describedEntities[relationship.from.entity],
        let index = holder.indexes.first(where: { $0.attributes == [number] }),
        let tree = trees[TreeName.index(entity: holder.number, index: index.number).text]
      else { return }
      try verifyTargets(in: tree, subject, relationship.to.entity)
      return
    }
    for side in RelationshipSide.allCases {
      let name = TreeName.links(relationship: relationship.number, side: side)
      guard let tree = tree(name, of: subject) else { continue }
      let before = findings.count
      let opposite = TreeName.links(relationship: relationship.number, side: side.opposite)
      try verifyLinks(tree, subject, trees[opposite.text], DigestedContent(of: name))
      let entity = side == .from ? relationship.from.entity : relationship.to.entity
      try verifyTargets(in: tree, subject, entity)
      noteTree(tree.name, (try? transaction.count(of: tree)) ?? 0, since: before)
    }
  }

  func title(of relationship: RelationshipDescription) -> String {
    let sides: [(RelationshipDescription.Side, UInt32?)] = [
      (relationship.from, relationship.attribute), (relationship.to, nil),
    ]
    for (side, attribute) in sides {
      guard let entity = describedEntities[side.entity] else { continue }
      let name = attribute.flatMap { entity.attribute(number: $0)?.name } ?? side.name
      if let name { return "\(entity.name).\(name)" }
    }
    return "relationship \(relationship.number)"
  }

  /// Checks the form of each link, and that the other tree has the link too.
  ///
  /// - Parameter content: The digest's content for `tree`; `nil` for the side without a digest.
  private func verifyLinks(
    _ tree: Tree, _ subject: String, _ opposite: Tree?, _ content: DigestedContent?
  ) throws {
    let findingCount = findings.count
    var digest = ContentDigest()
    var encoder = KeyEncoder()
    var previous = ByteView()
    try walk(tree) { key, body in
      if let content, let number = ContentDigest(of: content, key: key, body: body) {
        digest += number
      }
      if !previous.isEmpty, !EngineKeyOrder.precedes(previous, key, false) {
        add(
          .entryKey, .lmdbKeyOrder, tree: tree.name, subject: subject, key: key, "is out of order")
      }
      previous = key
      if !body.isEmpty {
        add(
          .entryBody, .linkBody, tree: tree.name, subject: subject, key: key,
          "the body has \(body.count) bytes, must have 0")
      }
      guard let id = KeyDecoder.leadingID(key),
        key.count == KeyDecoder.lengthOfLeadingID(key) + 8,
        let other = KeyDecoder.recordIDSuffix(key), id > 0, id < 1 << 63, other > 0,
        other < 1 << 63
      else {
        return add(
          .entryKey, .linkKey, tree: tree.name, subject: subject, key: key, "is not two record ids")
      }
      encoder.reset()
      encoder.append(id)
      encoder.append(recordID: other)
      if !encoder.bytes.elementsEqual(key) {
        add(
          .entryKey, .linkKey, tree: tree.name, subject: subject, key: key,
          "must be " + Finding.hexadecimal(encoder.bytes))
      }
      encoder.reset()
      encoder.append(other)
      encoder.append(recordID: id)
      if let opposite, try transaction.get(encoder.bytes, in: opposite) == nil {
        add(
          .linkMissing, tree: opposite.name, subject: subject, key: encoder.bytes,
          "the link is in the other tree alone")
      }
    }
    if let content, findings.count == findingCount { digests[content] = digest }
  }

  /// Checks that the ids at the beginning of the keys of `tree` belong to existing records of an
  /// entity.
  private func verifyTargets(in tree: Tree, _ subject: String, _ entity: EntityNumber) throws {
    guard let records = trees[TreeName.records(entity: entity).text] else { return }
    var last: UInt64 = 0
    try walk(tree) { key, _ in
      // Skip entries for null in an attribute's index, and malformed entries, which were already
      // reported.
      guard let id = KeyDecoder.leadingID(key), id != last else { return }
      last = id
      if try transaction.get(id, in: records) == nil {
        add(
          .linkDangling, tree: tree.name, subject: subject, record: id, key: key,
          "it leads to record \(id) of entity \(entity), which is not there")
      }
    }
  }
}
