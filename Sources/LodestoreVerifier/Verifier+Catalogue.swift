import LMDB
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// The maximum number of trees of entities, indexes, links and orders together.
  private static let mostTrees = 4_000

  /// Reads the catalogue and checks Format.md, "Catalogue" and "Limits".
  func verifyCatalogue() throws {
    let name = TreeName.catalogue.text
    guard let tree = trees[name] else { return }
    var found: [EntityDescription] = []
    var unreadable: Set<EntityNumber> = []
    var linked: [RelationshipDescription] = []
    try walk(tree) { key, body in
      if let number = CatalogueKey.relationshipNumber(key) {
        do throws(FormatError) {
          let content = try Checksum.unsealed(key: key, body: body)
          linked.append(
            try RelationshipDescription(number: number, document: Document(decoding: content)))
        } catch {
          add(.catalogue, error.rule, tree: name, key: key, "\(error)")
        }
        return
      }
      // Keys that begin with 03 or a higher byte belong to later versions.
      if let first = key.first, first >= 3 { return }
      guard let number = CatalogueKey.entityNumber(key) else {
        return add(.catalogue, .catalogueKey, tree: name, key: key, "the key is none of an entity")
      }
      guard number >= 1 else {
        return add(.catalogue, .catalogueKey, tree: name, key: key, "entity numbers begin at 1")
      }
      do throws(FormatError) {
        let content = try Checksum.unsealed(key: key, body: body)
        let document = try Document(decoding: content)
        let problems = CatalogueRules.problems(of: document)
        for problem in problems {
          add(
            .catalogue, problem.rule, tree: name, subject: Self.name(in: document), key: key,
            problem.detail)
        }
        if problems.contains(where: \.isFatal) {
          unreadable.insert(number)
        } else {
          found.append(try EntityDescription(number: number, document: document))
        }
      } catch {
        unreadable.insert(number)
        add(.catalogue, error.rule, tree: name, key: key, "\(error)")
      }
    }
    var named: [String: EntityNumber] = [:]
    for entity in found {
      guard let other = named.updateValue(entity.number, forKey: entity.name) else { continue }
      named[entity.name] = other
      add(
        .entityName, tree: name, subject: entity.name,
        "entities \(other) and \(entity.number) have the same name")
    }
    describedEntities = Dictionary(found.map { ($0.number, $0) }) { first, _ in first }
    let treeCount =
      found.reduce(0) { $0 + $1.trees.count } + linked.reduce(0) { $0 + $1.trees.count }
    if treeCount > Self.mostTrees {
      add(
        .catalogue, .catalogueLimits, tree: name,
        "\(treeCount) trees of entities, indexes, links and orders, at most 4,000; no more are "
          + "looked at")
    }
    for relationship in linked {
      do throws(FormatError) {
        try relationship.check(describedEntities)
        relationships.append(relationship)
      } catch {
        add(
          .catalogue, error.rule, tree: name,
          key: CatalogueKey.relationship(relationship.number), "\(error)")
      }
    }
    checkNames(of: linked, found)
    checkHolders()
    if treeCount > Self.mostTrees {
      // No program creates this many trees. The time of some checks grows with the square of the
      // number, so the rest is skipped.
      var left = Self.mostTrees
      let looked = found.prefix {
        left -= $0.trees.count
        return left >= 0
      }
      unreadable.formUnion(found.dropFirst(looked.count).map(\.number))
      found = Array(looked)
    }
    entities = found
    unreadableEntities = unreadable
  }

  /// Checks that the name of each side differs from the attributes of its entity and from the other
  /// sides of that entity.
  private func checkNames(
    of relationships: [RelationshipDescription], _ entities: [EntityDescription]
  ) {
    var known: Set<String> = []
    for entity in entities {
      for attribute in entity.declaredAttributes {
        known.insert("\(entity.number).\(attribute.name)")
      }
    }
    for relationship in relationships {
      for side in RelationshipSide.allCases {
        guard let name = relationship[side].name,
          !known.insert("\(relationship[side].entity).\(name)").inserted
        else { continue }
        add(
          .catalogue, .relationshipName, tree: TreeName.catalogue.text,
          key: CatalogueKey.relationship(relationship.number),
          "'\(name)' is the name of an attribute or of another side too")
      }
    }
  }

  /// Checks that no attribute holds the links of two relationships, and that each has the name of
  /// its side.
  private func checkHolders() {
    var holders: [String: UInt32] = [:]
    for relationship in relationships {
      guard let attribute = relationship.attribute else { continue }
      var faults: [String] = []
      let place = "\(relationship.from.entity).\(attribute)"
      if let other = holders.updateValue(relationship.number, forKey: place) {
        faults.append("attribute \(attribute) holds relationship \(other) too")
      }
      if let name = relationship.from.name {
        faults.append(
          "side 'from' is called '\(name)', and must have the name of its attribute alone")
      }
      for fault in faults {
        add(
          .catalogue, .relationshipHolder, tree: TreeName.catalogue.text,
          key: CatalogueKey.relationship(relationship.number), fault)
      }
    }
  }

  private static func name(in document: Document) -> String? {
    if case .string(let name) = document["name"] { name } else { nil }
  }
}
