import LMDB
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// Reads the catalogue, checking Format.md, "Catalogue" and "Limits".
  mutating func verifyCatalogue() throws {
    let name = TreeName.catalogue.text
    guard let tree = trees[name] else { return }
    var list = findings
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
          list.add(Finding(.catalogue, tree: name, key: key, "\(error)"))
        }
        return
      }
      // Keys that begin with 03 and above belong to later versions.
      if let first = key.first, first >= 3 { return }
      guard let number = CatalogueKey.entityNumber(key) else {
        list.add(Finding(.catalogue, tree: name, key: key, "the key is none of an entity"))
        return
      }
      guard number >= 1 else {
        list.add(Finding(.catalogue, tree: name, key: key, "entity numbers begin at 1"))
        return
      }
      do throws(FormatError) {
        let content = try Checksum.unsealed(key: key, body: body)
        let document = try Document(decoding: content)
        let problems = CatalogueRules.problems(of: document)
        for problem in problems {
          list.add(
            Finding(
              .catalogue, tree: name, subject: Self.name(in: document), key: key, problem.detail))
        }
        if problems.contains(where: \.isFatal) {
          unreadable.insert(number)
        } else {
          found.append(try EntityDescription(number: number, document: document))
        }
      } catch {
        unreadable.insert(number)
        list.add(Finding(.catalogue, tree: name, key: key, "\(error)"))
      }
    }
    for (position, entity) in found.enumerated() {
      if let other = found[..<position].first(where: { $0.name == entity.name }) {
        list.add(
          Finding(
            .entityName, tree: name, subject: entity.name,
            "entities \(other.number) and \(entity.number) have the same name"))
      }
    }
    let treeCount = found.reduce(found.count) { $0 + $1.indexes.count }
    if treeCount > 4_000 {
      list.add(
        Finding(.catalogue, tree: name, "\(treeCount) entities and indexes, at most 4,000"))
    }
    for relationship in linked {
      do throws(FormatError) {
        try relationship.check(found)
        relationships.append(relationship)
      } catch {
        let key = CatalogueKey.relationship(relationship.number)
        key.withUnsafeBytes { list.add(Finding(.catalogue, tree: name, key: $0, "\(error)")) }
      }
    }
    entities = found
    unreadableEntities = unreadable
    findings = list
  }

  private static func name(in document: Document) -> String? {
    if case .string(let name) = document["name"] { name } else { nil }
  }
}

/// The rules of Format.md, "Catalogue" and "Limits", that reading a description leaves out.
enum CatalogueRules {
  struct Problem: Equatable {
    var detail: String
    /// Whether the description is not worth reading any further.
    var isFatal = false
  }

  static func problems(of document: Document) -> [Problem] {
    guard case .object = document else {
      return [Problem(detail: "the description is not an object", isFatal: true)]
    }
    var problems: [Problem] = []
    if case .array(let layouts) = document["layouts"] {
      problems += Self.problems(ofLayouts: layouts)
    }
    if case .array(let attributes) = document["attributes"] {
      for attribute in attributes {
        problems += Self.problems(ofAttribute: attribute)
      }
    }
    if case .array(let indexes) = document["indexes"], indexes.count > 64 {
      problems.append(Problem(detail: "\(indexes.count) indexes, at most 64", isFatal: true))
    }
    return problems
  }

  private static func problems(ofLayouts layouts: [Document]) -> [Problem] {
    var problems: [Problem] = []
    if layouts.count > Int(RecordLayout.highestNumber) {
      problems.append(
        Problem(
          detail: "\(layouts.count) layouts, at most \(RecordLayout.highestNumber)", isFatal: true))
    }
    var previous: Int64 = 0
    for layout in layouts {
      guard case .integer(let number) = layout["number"] else { continue }
      if number <= previous {
        problems.append(
          Problem(detail: "layout \(number) is after layout \(previous), must be ascending"))
      }
      previous = number
      if case .array(let attributes) = layout["attributes"], attributes.count > 1_000 {
        problems.append(
          Problem(
            detail: "layout \(number) has \(attributes.count) attributes, at most 1,000",
            isFatal: true))
      }
    }
    return problems
  }

  private static func problems(ofAttribute attribute: Document) -> [Problem] {
    guard case .string(let typeName) = attribute["type"],
      let type = AttributeType(name: typeName)
    else { return [] }
    var name = "?"
    if case .string(let text) = attribute["name"] { name = text }
    var problems: [Problem] = []
    if let shape = attribute["shape"] {
      if case .string = shape {
      } else {
        problems.append(Problem(detail: "attribute '\(name)' has a 'shape' that is not text"))
      }
    }
    if let removed = attribute["removed"] {
      if case .bool = removed {
      } else {
        problems.append(Problem(detail: "attribute '\(name)' has a 'removed' that is no boolean"))
      }
    }
    if let initial = attribute["initial"], initial != .null, !fits(initial, type) {
      problems.append(
        Problem(detail: "attribute '\(name)' has an 'initial' that is no \(type.name)"))
    }
    return problems
  }

  private static func fits(_ initial: Document, _ type: AttributeType) -> Bool {
    switch initial {
    case .bool(let flag): Value.bool(flag).fits(type) || type == .json || type == .document
    case .integer(let number):
      Value.integer(number).fits(type) || type == .json || type == .document
    case .unsigned(let number):
      Value.unsigned(number).fits(type) || type == .json || type == .document
    case .double(let number):
      Value.double(number).fits(type) || type == .json || type == .document
    case .string: [.string, .url, .json, .document].contains(type)
    case .array, .object: type == .json || type == .document
    case .date: type == .date || type == .document
    case .uuid: type == .uuid || type == .document
    case .decimal: type == .decimal || type == .document
    case .data: type == .data || type == .document
    case .null: true
    }
  }
}
