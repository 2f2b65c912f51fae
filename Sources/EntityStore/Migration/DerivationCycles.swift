internal import LodestoreFormat

/// Finds definitions of derived attributes that depend on themselves.
///
/// Without such cycles every derived attribute has exactly one value, whatever the links between
/// records. Attributes are computed in the order of their definitions, even if a record has a link
/// to itself.
struct DerivationCycles {
  private struct Node: Hashable {
    var entity: EntityNumber
    var attribute: UInt32
  }

  /// For each attribute, the attributes of related records from which it is derived.
  private var sources: [Node: [Node]] = [:]
  private var labels: [Node: String] = [:]

  init(_ entities: [EntityDescription], _ relationships: [RelationshipDescription]) {
    for entity in entities {
      for attribute in entity.attributes where !attribute.isRemoved {
        guard let derivation = attribute.derivation, let side = derivation.side,
          let relationship = relationships.first(where: { $0.number == derivation.relationship }),
          let target = entities.first(where: { $0.number == relationship[side.opposite].entity })
        else { continue }
        let node = Node(entity: entity.number, attribute: attribute.number)
        labels[node] = "\(entity.name).\(attribute.name)"
        sources[node] = (derivation.sources(in: target) ?? []).sorted().map {
          Node(entity: target.number, attribute: $0)
        }
      }
    }
  }

  /// Throws ``StoreError/Code/badSchema`` when one of the changed attributes depends on itself.
  ///
  /// Cycles of unchanged attributes are not refused: earlier versions of the library allowed them,
  /// and the store never changes their values.
  func check(_ changed: [EntityNumber: Set<UInt32>]) throws(StoreError) {
    for (entity, numbers) in changed.sorted(by: { $0.key < $1.key }) {
      for number in numbers.sorted() {
        let node = Node(entity: entity, attribute: number)
        guard let cycle = path(from: node, to: node) else { continue }
        let names = cycle.compactMap { labels[$0] }.map { "'\($0)'" }
        throw .badSchema(
          entity: labels[node]?.split(separator: ".").first.map(String.init) ?? "",
          attribute: labels[node]?.split(separator: ".").last.map(String.init),
          "\(names[0]) is derived from "
            + "\(names.dropFirst().joined(separator: ", which is derived from ")): a derived attribute must not depend on "
            + "itself; derive one of them from an attribute that programs set")
      }
    }
  }

  /// The attributes on a path from `first` to `last`, including both; `nil` when there is no path.
  private func path(from first: Node, to last: Node) -> [Node]? {
    var seen: Set<Node> = []
    var waiting = [[first]]
    while let way = waiting.popLast() {
      for source in way.last.flatMap({ sources[$0] }) ?? [] {
        if source == last { return way + [source] }
        if seen.insert(source).inserted { waiting.append(way + [source]) }
      }
    }
    return nil
  }
}
