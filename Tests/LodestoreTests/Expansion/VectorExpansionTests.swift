#if Macros
  import Testing

  @Suite struct VectorExpansionTests {
    private func note(_ vector: String) -> String {
      """
      @Entity struct Note {
        \(vector)
        var text: String
        var embedding: Vector?
      }
      """
    }

    @Test func `a vector index is in the schema, and conditions have distances`() throws {
      let answer = try expand(note("#Vector<Note>(\\.embedding, dimensions: 384)"))
      #expect(answer.errors == [])
      #expect(
        answer.expanded.contains(
          "    vectorIndexes: [VectorIndex(\\.embedding, dimensions: 384)]"))
      #expect(answer.expanded.contains("func isNear("))
      #expect(!(try expand(note(""))).expanded.contains("func isNear("))
    }

    @Test func `a vector index needs a property of the entity`() throws {
      for path in ["\\.vector", "[\\.embedding]", "\"embedding\""] {
        let answer = try expand(note("#Vector<Note>(\(path), dimensions: 384)"))
        #expect(!answer.errors.isEmpty, "\(path)")
      }
    }
  }
#endif
