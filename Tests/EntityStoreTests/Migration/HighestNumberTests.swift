import LodestoreFormat
import Testing

@testable import EntityStore

/// Files in which a number has been used up.
@Suite struct HighestNumberTests {
  @Test func `what opening would change is told for a file with the highest number of an entity`()
    throws
  {
    let entity = try DeclaredEntity(
      name: "New", attributes: [.init(name: "a", storage: Int._storage)], indexes: [])
    var stored = SchemaEvolution(creating: entity, number: EntityNumber(.max)).result
    stored.name = "Old"
    stored.indexes = [.init(number: .max, attributes: [1], isUnique: false)]
    let changes = try SchemaRehearsal.differences([entity], [stored], [], records: nil)
    #expect(changes.map(\.cost) == [.free])
  }
}
