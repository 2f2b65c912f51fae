#if Macros
  import Testing

  @Suite struct LimitExpansionTests {
    private func page(_ limit: String) -> String {
      """
      @Entity struct Page {
        \(limit)
        var url: String
        var tags: [String]
        var usedAt: Date?
      }
      """
    }

    @Test func `a limit is in the schema as written, and the memberwise initializer stays`()
      throws
    {
      let answer = try expand(
        page("#Limit<Page>(count: 10_000, bytes: 64 * 1024, by: [\\.usedAt])"))
      #expect(answer.errors == [])
      #expect(
        answer.expanded.contains(
          "    limit: EntityLimit(count: 10_000, bytes: 64 * 1024, by: [\\.usedAt]))"))
      let plain = try expand(page(""))
      #expect(
        answer.expanded.contains("static func read(from")
          == plain.expanded.contains("static func read(from")
      )
    }

    @Test func `a limit of a number of records needs no attribute`() throws {
      let answer = try expand(page("#Limit<Page>(bytes: most)"))
      #expect(
        answer.errors == [] && answer.expanded.contains("    limit: EntityLimit(bytes: most))"))
    }

    @Test func `a limit without a number is refused`() throws {
      try expectRefusal(
        of: page("#Limit<Page>(by: [\\.usedAt])"), at: "#Limit",
        "cannot limit the records without a number; name one, as count: 10_000 or "
          + "bytes: 1_000_000")
    }

    @Test(arguments: ["0", "-5"])
    func `a limit below 1 is refused`(number: String) throws {
      try expectRefusal(
        of: page("#Limit<Page>(count: \(number))"), at: number,
        "cannot limit the records to less than 1; name a higher number")
    }

    @Test func `a limit by two attributes is refused`() throws {
      try expectRefusal(
        of: page("#Limit<Page>(count: 5, by: [\\.usedAt, \\.url])"), at: "[\\.usedAt",
        "cannot tell the oldest record by more or fewer attributes than one; name one, as "
          + "[\\.fetchedAt], or leave 'by' out for the order of insertion")
    }

    @Test func `a second limit is refused`() throws {
      try expectRefusal(
        of: page("#Limit<Page>(count: 5); #Limit<Page>(bytes: 500)"), at: "#Limit<Page>(bytes",
        "cannot limit the records twice; name both numbers in one #Limit")
    }
  }
#endif
