import EntityStore
import LodestoreFormat

/// The Swift source of all entities of a store.
///
/// The source declares the schema as the file has it, so that opening the file with it changes
/// nothing. Opening leaves undeclared parts of a file as they are. The source therefore leaves out
/// each part that it cannot express, and names it in a comment.
struct ModelSource {
  private let snapshot: DynamicSnapshot
  private let entities: [DynamicEntity]
  /// The names of structs by the names of entities.
  private(set) var typeNames: [String: String] = [:]

  init(_ snapshot: DynamicSnapshot) {
    self.snapshot = snapshot
    entities = snapshot.entities
    for entity in entities {
      typeNames[entity.name] = SwiftNames.type(entity.name, taken: Set(typeNames.values))
    }
  }

  func typeName(of entity: String) -> String { typeNames[entity] ?? entity }

  /// The property for an attribute, without backticks.
  func property(of attribute: String, in entity: DynamicEntity) -> String {
    SwiftNames.property(attribute, taken: Set(entity.description.declaredAttributes.map(\.name)))
  }

  func relationships(of entity: DynamicEntity) -> [DynamicRelationship] {
    snapshot.relationships(of: entity)
  }

  /// The relationship that an attribute holds.
  func toOne(_ attribute: String, of entity: DynamicEntity) -> DynamicRelationship? {
    relationships(of: entity).first { $0.isToOne && $0.name == attribute }
  }

  /// The relationship from which an attribute of `entity` is derived.
  func relationship(
    _ derivation: DerivationDescription, of entity: DynamicEntity
  ) -> DynamicRelationship? {
    relationships(of: entity).first {
      $0.number == derivation.relationship && $0.isFirst == (derivation.side == .from)
    }
  }

  /// The source, and the notes about parts that it leaves out or renames.
  func source(of path: String) -> (text: String, notes: [String]) {
    var sources: [String: EntitySource] = [:]
    for entity in entities {
      var source = EntitySource(entity, in: self)
      source.declareProperties()
      sources[entity.name] = source
    }
    var texts: [String] = []
    var notes: [String] = []
    for entity in entities {
      guard var source = sources[entity.name] else { continue }
      texts.append(source.text(sources))
      notes += source.notes
      if source.name != entity.name {
        notes.append("\(entity.name) is the struct '\(source.name)'")
      }
    }
    let file = path.split(separator: "/").last.map(String.init) ?? path
    let types = entities.map { "\(typeName(of: $0.name)).self" }.joined(separator: ", ")
    var lines = ["// The entities of \(DisplayText.escaped(file)), by 'kvdump generate'."]
    lines += ["//", "//     try Store(at: path, entities: [\(types)])"]
    if !notes.isEmpty { lines += ["//"] + notes.map { "// - \(DisplayText.escaped($0))." } }
    lines += ["", "import Foundation", "import Lodestore", ""]
    if texts.contains(where: { $0.contains("in condition(") }) { texts.append(Self.condition) }
    return (lines.joined(separator: "\n") + "\n" + texts.joined(separator: "\n"), notes)
  }

  private static let condition = """
    /// A condition that the file holds as a predicate format string.
    private func condition<E: Entity>(_ format: String) -> Condition<E> {
      do { return try Condition(format: format) } catch { preconditionFailure("\\(error)") }
    }

    """
}
