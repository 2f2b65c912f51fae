#if Macros
  import Testing

  @Suite struct SearchExpansionTests {
    private func page(_ search: String) -> String {
      """
      @Entity struct Page {
        \(search)
        var title: String
        var body: String?
        var tags: [String]
      }
      """
    }

    @Test func `a search index is in the schema with its weights, and conditions have searches`()
      throws
    {
      let answer = try expand(page("#Search<Page>([\\.title: 3, \\.body: weight])"))
      #expect(answer.errors == [])
      #expect(
        answer.expanded.contains(
          "    searchIndexes: [SearchIndex(.init(\\.title, weight: 3), "
            + ".init(\\.body, weight: weight))]"
        ))
      #expect(answer.expanded.contains("func search("))
      #expect(!(try expand(page(""))).expanded.contains("func search("))
    }

    @Test func `a search index without weights names the attributes alone`() throws {
      let answer = try expand(page("#Search<Page>([\\.title, \\.tags])"))
      #expect(
        answer.errors == []
          && answer.expanded.contains(
            "    searchIndexes: [SearchIndex(.init(\\.title), .init(\\.tags))]")
      )
    }

    @Test func `a search in a condition names the texts of one of several indexes`() throws {
      let answer = try expand(page("#Search<Page>([\\.title])\n  #Search<Page>([\\.body])"))
      #expect(answer.errors == [])
      #expect(answer.expanded.contains("_ mode: SearchMode = .allWords, in sources: [String] = []"))
      #expect(answer.expanded.contains(".search(text, mode, in: sources)"))
    }

    @Test func `a search index of an unknown property is refused`() throws {
      let answer = try expand(page("#Search<Page>([\\.titel])"))
      #expect(!answer.errors.isEmpty)
    }
  }
#endif
