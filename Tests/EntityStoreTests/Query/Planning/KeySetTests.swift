import Testing

@testable import EntityStore

@Suite struct KeySetTests {
  @Test func `The table of a list is made once, wherever the condition stands`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(6, in: store)
      let query = try Trial.where(
        format: "SUBQUERY(json.tags, $x, kind IN {'a', 'c', 'f'} AND $x == 't').@count == 1")
      try store.core.read { core throws in
        let entity = try core.entity(Trial.self)
        let tree = try ConditionParser.parse("kind IN {'a', 'c', 'f'}", arguments: []).tree
        let bound = try ConditionBinding.bind(tree, to: entity)
        let tables = (0..<3).compactMap { _ in table(LayoutProgram.step(bound, entity.layout)) }
        #expect(tables.count == 3 && tables.allSatisfy { $0 === tables[0] })
        #expect(try core.run(query).ids() == [1, 3])
      }
    }
  }

  private func table(_ step: LayoutProgram.Step) -> KeyTable? {
    if case .keys(_, let table, _) = step { table } else { nil }
  }
}
