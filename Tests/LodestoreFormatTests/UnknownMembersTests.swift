import LodestoreFormat
import Testing

@Suite struct `Members of a later version` {
  /// An entity with an object of every kind.
  private static let entity: EntityDescription = {
    let layout = RecordLayout(
      number: 1,
      attributes: [
        .init(number: 1, type: .string, isOptional: false),
        .init(number: 2, type: .string, isOptional: false),
        .init(number: 3, type: .json, isOptional: true),
        .init(number: 4, type: .data, isOptional: true),
      ])
    var entity = EntityDescription(
      number: 1, name: "Pod",
      attributes: [
        .init(number: 1, name: "name", type: .string, isOptional: false),
        .init(
          number: 2, name: "sortName", type: .string, isOptional: false,
          derivation: .init(.canonical, source: 1)),
        .init(number: 3, name: "extra", type: .json, isOptional: true),
        .init(number: 4, name: "vector", type: .data, isOptional: true),
      ],
      layouts: [layout], currentLayout: 1,
      indexes: [.init(number: 1, attributes: [1], isUnique: true)],
      rules: [.init(name: "named", condition: "name != ''")])
    entity.building = [.init(number: 2, attributes: [2], isUnique: false)]
    entity.computedIndexes = [
      .init(number: 1, kind: .elements, sources: [.init(attribute: 3, path: ["a"])]),
      .init(number: 2, kind: .search, sources: [.init(attribute: 3, path: ["b"], weight: 2)]),
      .init(
        number: 4, kind: .place,
        sources: [.init(attribute: 3, path: ["c"]), .init(attribute: 3, path: ["d"])]),
      .init(number: 5, kind: .vector, sources: [.init(attribute: 4)], dimensions: 9),
      .init(number: 6, kind: .vector, sources: [.init(attribute: 4)], dimensions: 8),
    ]
    entity.computedIndexes[4].isBuilding = true
    entity.history = .init(keepsImages: true, preserved: [1])
    return entity
  }()

  /// Adds a member `later` to each object.
  private static func later(_ document: Document, _ count: inout Int) -> Document {
    switch document {
    case .object(let members):
      count += 1
      var result = members.mapValues { later($0, &count) }
      result["later"] = .object(["depth": .array([.integer(1)])])
      return .object(result)
    case .array(let elements): return .array(elements.map { later($0, &count) })
    default: return document
    }
  }

  @Test func `members of a later version stay in every object of an entity`() throws {
    var count = 0
    let document = Self.later(Self.entity.document, &count)
    // The entity, four attributes and a derivation, and a layout with four. Seven indexes, two of
    // them with three sources, a rule and the history.
    #expect(count == 23)
    #expect(try EntityDescription(number: 1, document: document).document == document)
  }

  @Test func `members of a later version stay in the remaining parts of a changed entity`() throws {
    var count = 0
    let document = Self.later(Self.entity.document, &count)
    var entity = try EntityDescription(number: 1, document: document)
    entity.indexes += entity.building
    entity.building = []
    entity.computedIndexes[4].isBuilding = false
    entity.rules = []
    entity.attributes[0].constraints.maxLength = 9
    let changed = entity.document
    #expect(try EntityDescription(number: 1, document: changed).document == changed)
    guard case .array(let indexes)? = changed["indexes"],
      case .array(let all)? = changed["attributes"]
    else {
      Issue.record("\(changed)")
      return
    }
    #expect(indexes.count == 2 && indexes.allSatisfy { $0["later"] != nil })
    guard case .array(let vectors)? = changed["vectorIndexes"] else {
      Issue.record("\(changed)")
      return
    }
    #expect(vectors.count == 2 && vectors.allSatisfy { $0["later"] != nil && $0["kind"] == nil })
    #expect(all[0]["later"] != nil && all[0]["maxLength"] == .integer(9))
    #expect(changed["rules"] == nil)
  }

  @Test func `members of a later version stay in both sides of a relationship`() throws {
    var count = 0
    let relationship = RelationshipDescription(
      number: 1, from: .init(entity: 1, name: "a", isOrdered: true), to: .init(entity: 2))
    let document = Self.later(relationship.document, &count)
    #expect(count == 3)
    #expect(try RelationshipDescription(number: 1, document: document).document == document)
  }
}
