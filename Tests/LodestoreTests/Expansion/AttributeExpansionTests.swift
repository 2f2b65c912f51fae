#if Macros
  import Testing

  /// What the declaration of an attribute becomes in the schema.
  @Suite struct AttributeExpansionTests {
    @Test(
      arguments: [
        "1", "-1.5", "true", "\"MIT\"", ".active", "Kind.active", "Film.Kind.active", "[]", "[:]",
        "[1, 2]", "[\"a\": 1]", "Decimal(5)", ".init(rawValue: 1)", "Settings(\"a\", size: 1)",
      ]) func `stable default is the initial value`(value: String)
    {
      let (source, _) = expand("@Entity struct Pod { var a: T = \(value) }")
      #expect(source.contains(".init(\"a\", \\.a, initial: \(value))"))
    }

    @Test(
      arguments: [
        "Date()", "UUID()", ".now", "Date.now", ".init()", "1 + 1", "limit", "make(1)", "nil",
        "\"\\(limit)\"", "{ 1 }()", "Date(timeIntervalSinceNow: 0)", "[Date()]", "Pod.limit.next",
        "Int.random(in: 0...9)",
      ]) func `other default is not the initial value`(value: String)
    {
      let (source, _) = expand("@Entity struct Pod { var a: T = \(value) }")
      #expect(source.contains(".init(\"a\", \\.a)"))
    }

    @Test func `constraints stand last in the definition as they were written`() {
      let (source, messages) = expand(
        """
        @Entity struct Pod {
          @Attribute(.unique, originalName: "key", constraints: [.length(1...64), .pattern("[a-z]+")])
          var slug: String
          @Attribute(constraints: [.range(0...limit)]) var stars: Int = 0
          static let limit = 5
        }
        """)
      #expect(messages == [])
      #expect(
        source.contains(
          ".init(\"slug\", \\.slug, originalName: \"key\", "
            + "constraints: [.length(1 ... 64), .pattern(\"[a-z]+\")]),"))
      #expect(
        source.contains(
          ".init(\"stars\", \\.stars, initial: 0, constraints: [.range(0 ... limit)]),")
      )
      #expect(source.contains("unique: [[\\.slug]])"))
    }

    @Test func `unique attribute and unique list on it are one index`() {
      let (source, messages) = expand(
        """
        @Entity struct Pod {
          #Unique<Pod>([\\Pod.name, \\Self.version])
          @Attribute(AttributeOption.unique) var name: String
          @Lodestore.Attribute(originalName: nil) var version: String
        }
        """)
      #expect(messages == [])
      #expect(source.contains("unique: [[\\.name], [\\.name, \\.version]])"))
    }
  }
#endif
