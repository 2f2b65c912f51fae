import LMDB
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// Checks the order of one side of a relationship: that each link has one position, and each
  /// position one link.
  func verifyOrder(
    of relationship: RelationshipDescription, _ side: RelationshipSide, _ subject: String
  ) throws {
    let treeName = TreeName.order(relationship: relationship.number, side: side)
    guard let tree = tree(treeName, of: subject) else { return }
    let name = tree.name
    let before = findings.count
    let links = linkTree(of: relationship, side)
    var (linkCount, positionCount) = (0, 0)
    var encoder = KeyEncoder()
    try walk(tree) { key, body in
      guard let content = LinkOrderKey.content(key), body.count == 8 else {
        return add(
          .linkOrder, tree: name, subject: subject, key: key,
          "must be a link or a position, of 17 bytes, with a body of 8")
      }
      let value = body.uint64(at: 0)
      switch content {
      case .link(let owner, let other):
        linkCount += 1
        let position = try transaction.get(LinkOrderKey.position(owner, value), in: tree)
        if value == 0 || value > LinkOrderKey.highestPosition || position?.count != 8
          || position?.uint64(at: 0) != other
        {
          add(
            .linkOrder, tree: name, subject: subject, key: key,
            "position \(value) of record \(owner) is not that of record \(other)")
        }
        guard let links else { return }
        encoder.reset()
        encoder.append(owner)
        if !links.isUnique { encoder.append(recordID: other) }
        let entry = try transaction.get(encoder.bytes, in: links.tree)
        let isLinked =
          links.isUnique
          ? entry.map { $0.count == 8 && $0.uint64(at: 0) == other } : entry.map { _ in true }
        if isLinked != true {
          add(
            .linkOrder, tree: links.tree.name, subject: subject, key: encoder.bytes,
            "record \(owner) does not lead to record \(other), which has a position there")
        }
      case .position: positionCount += 1
      }
    }
    if linkCount != positionCount {
      add(
        .linkOrder, tree: name, subject: subject,
        "has \(positionCount) positions of \(linkCount) links")
    }
    if let links, try countLinks(in: links.tree) != linkCount {
      add(
        .linkOrder, tree: name, subject: subject,
        "has positions of \(linkCount) links, must have one of each in \(links.tree.name)")
    }
    noteTree(name, linkCount + positionCount, since: before)
  }

  /// The tree with the links of a side; `nil` if it does not exist.
  ///
  /// The check of the links or of the index reports a missing tree.
  private func linkTree(
    of relationship: RelationshipDescription, _ side: RelationshipSide
  ) -> (tree: Tree, isUnique: Bool)? {
    guard let number = relationship.attribute else {
      let name = TreeName.links(relationship: relationship.number, side: side)
      return trees[name.text].map { ($0, false) }
    }
    guard side == .to,
      let holder = entities.first(where: { $0.number == relationship.from.entity }),
      let index = holder.indexes.first(where: { $0.attributes == [number] })
    else { return nil }
    let name = TreeName.index(entity: holder.number, index: index.number)
    return trees[name.text].map { ($0, index.isUnique) }
  }

  /// The number of links in `tree`.
  ///
  /// Entries of a null attribute are not links.
  private func countLinks(in tree: Tree) throws -> Int {
    var count = 0
    try walk(tree) { key, _ in
      if KeyDecoder.leadingID(key) != nil { count += 1 }
    }
    return count
  }
}
