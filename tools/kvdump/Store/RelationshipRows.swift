import EntityStore
import LodestoreFormat

/// The relationships of a store as notes, objects and diagrams.
enum RelationshipRows {
  /// The relationship as `books: to many Book, back by 'author', deleted with it`.
  static func note(_ relationship: DynamicRelationship, of entity: DynamicEntity) -> String {
    let kind =
      relationship.isToOne
      ? (relationship.isOptional ? "to one or none" : "to one")
      : "to many"
    let back = relationship.inverseName.map { ", back by '\($0)'" } ?? ""
    return "\(entity.name).\(relationship.name ?? ""): \(kind) \(relationship.target.name)\(back), "
      + "on delete \(relationship.onDelete.rawValue)"
      + (relationship.denyCondition.map { ", denied where \($0)" } ?? "")
      + (relationship.isOrdered ? ", in order" : "")
  }

  static func object(_ relationship: DynamicRelationship) -> Cell {
    .object([
      ("name", relationship.name.map(Cell.text) ?? .absent),
      ("to", .text(relationship.target.name)), ("many", .bool(!relationship.isToOne)),
      ("ordered", relationship.isOrdered ? .bool(true) : .absent),
      ("inverse", relationship.inverseName.map(Cell.text) ?? .absent),
      ("onDelete", .text(relationship.onDelete.rawValue)),
      ("denyWhere", relationship.denyCondition.map(Cell.text) ?? .absent),
    ])
  }

  /// Returns each relationship once, from the side that occurs first.
  private static func sides(
    _ snapshot: DynamicSnapshot, _ entities: [DynamicEntity]
  ) -> [(entity: DynamicEntity, relationship: DynamicRelationship)] {
    var seen: Set<String> = []
    var found: [(DynamicEntity, DynamicRelationship)] = []
    for entity in entities {
      for relationship in snapshot.relationships(of: entity) {
        let name = "\(entity.name).\(relationship.name ?? "")"
        if seen.contains(name) { continue }
        if let inverse = relationship.inverseName {
          seen.insert("\(relationship.target.name).\(inverse)")
        }
        found.append((entity, relationship))
      }
    }
    return found
  }

  // MARK: Diagrams

  static func diagram(
    _ form: DiagramForm, _ snapshot: DynamicSnapshot, _ entities: [DynamicEntity]
  ) -> [String] {
    switch form {
    case .text: text(snapshot, entities)
    case .mermaid: mermaid(snapshot, entities)
    case .dot: dot(snapshot, entities)
    case .svg: ModelDrawing(entities, sides(snapshot, entities)).lines
    }
  }

  private static func text(_ snapshot: DynamicSnapshot, _ entities: [DynamicEntity]) -> [String] {
    var lines: [String] = []
    for entity in entities {
      lines.append(entity.name)
      let relationships = snapshot.relationships(of: entity)
      let held = Set(relationships.filter(\.isToOne).compactMap(\.name))
      for attribute in entity.description.declaredAttributes where !held.contains(attribute.name) {
        lines.append("  \(attribute.inDiagrams)")
      }
      for relationship in relationships {
        let arrow = relationship.isToOne ? "──>" : "─<>"
        let optional = relationship.isToOne && relationship.isOptional ? "?" : ""
        let back = relationship.inverseName.map { " (\($0))" } ?? ""
        lines.append(
          "  \(relationship.name ?? "") \(arrow) \(relationship.target.name)\(optional)\(back)")
      }
    }
    return lines
  }

  private static func mermaid(
    _ snapshot: DynamicSnapshot, _ entities: [DynamicEntity]
  ) -> [String] {
    var lines = ["erDiagram"]
    for entity in entities {
      lines.append("  \(entity.name) {")
      for attribute in entity.description.declaredAttributes {
        lines.append("    \(attribute.type.name) \(attribute.name)")
      }
      lines.append("  }")
    }
    for (entity, relationship) in sides(snapshot, entities) {
      // `there` is the number of records of the other side that one record of this side may have,
      // and `here` is the reverse.
      let there = relationship.isToOne ? (relationship.isOptional ? "o|" : "||") : "o{"
      let here = relationship.inverseIsToOne ? "|o" : "}o"
      lines.append(
        "  \(entity.name) \(here)--\(there) \(relationship.target.name) : "
          + "\(relationship.name ?? "")")
    }
    return lines
  }

  private static func dot(_ snapshot: DynamicSnapshot, _ entities: [DynamicEntity]) -> [String] {
    var lines = ["digraph model {", "  rankdir=LR; node [shape=record];"]
    for entity in entities {
      let attributes = entity.description.declaredAttributes.map { $0.inDiagrams + "\\l" }
      lines.append("  \(entity.name) [label=\"\(entity.name)|\(attributes.joined())\"];")
    }
    for (entity, relationship) in sides(snapshot, entities) {
      let head = relationship.isToOne ? "normal" : "crow"
      let tail = relationship.inverseIsToOne || relationship.inverseName == nil ? "none" : "crow"
      lines.append(
        "  \(entity.name) -> \(relationship.target.name) [label=\"\(relationship.name ?? "")\", "
          + "dir=both, arrowhead=\(head), arrowtail=\(tail)];")
    }
    return lines + ["}"]
  }
}

extension EntityDescription.Attribute {
  /// The attribute as `name: type`, with a question mark if it is optional.
  var inDiagrams: String { "\(name): \(type.name)\(isOptional ? "?" : "")" }
}

extension DynamicSnapshot {
  /// The relationship that `entity` calls `name`.
  func relationship(_ name: String, of entity: DynamicEntity) throws -> DynamicRelationship {
    let all = relationships(of: entity)
    if let found = all.first(where: { $0.name == name }) { return found }
    throw UnknownName(
      kind: .relationship, name: name, entity: entity.name, known: all.compactMap(\.name))
  }
}
