import LodestoreFormat
import Testing

@testable import EntityStore

/// Files in which a number has been used up.
@Suite struct HighestNumberTests {
  @Test func `the changes of an opening are reported for an entity with the highest number`()
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
