import EntityStore

/// An entity with a relationship to itself, and chains of derived attributes over it in both
/// directions.
struct Twig: Equatable {
  var id = RecordID<Twig>()
  var name: String
  var weight = 0.0
  var parent: Twig.ID?
  private(set) var childCount = 0
  /// The sum of ``childCount`` of the children.
  private(set) var grandchildCount = 0
  /// The greatest ``grandchildCount`` of the children.
  private(set) var mostGrandchildren: Int?
  private(set) var lightest: Double?
  private(set) var childWeight = 0.0
  private(set) var parentName: String?
  /// The ``parentName`` of the parent.
  private(set) var grandparentName: String?

  static let children = ToMany<Twig, Twig>(inverse: \.parent, ordered: true)
  static let friends = ToMany<Twig, Twig>()

  init(_ name: String, weight: Double = 0, parent: Twig.ID? = nil) {
    self.name = name
    self.weight = weight
    self.parent = parent
  }
}

extension Twig: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Twig, Twig.ID> { .recordID }
    var name: Attribute<Twig, String> { .init(0) }
    var weight: Attribute<Twig, Double> { .init(1) }
    var parent: Attribute<Twig, Twig.ID?> { .init(2) }
    var childCount: Attribute<Twig, Int> { .init(3) }
    var grandchildCount: Attribute<Twig, Int> { .init(4) }
    var children: ToMany<Twig, Twig> { Twig.children }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Twig>(
    "Twig",
    attributes: [
      .init("name", \.name), .init("weight", \.weight), .toOne("parent", \.parent),
      .derived("childCount", \.childCount, .count(children)),
      .derived("grandchildCount", \.grandchildCount, .sum(children, \.childCount)),
      .derived("mostGrandchildren", \.mostGrandchildren, .maximum(children, \.grandchildCount)),
      .derived("lightest", \.lightest, .minimum(children, \.weight)),
      .derived("childWeight", \.childWeight, .sum(children, \.weight)),
      .derived("parentName", \.parentName, .copy(\.parent, \.name)),
      .derived("grandparentName", \.grandparentName, .copy(\.parent, \.parentName)),
    ],
    unique: [[\.name]], indexes: [[\.grandchildCount]],
    relationships: [.init("children", children), .init("friends", friends)])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    weight = try reader.read()
    parent = try reader.read()
    childCount = try reader.read()
    grandchildCount = try reader.read()
    mostGrandchildren = try reader.read()
    lightest = try reader.read()
    childWeight = try reader.read()
    parentName = try reader.read()
    grandparentName = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(weight)
    writer.write(parent)
  }
}
