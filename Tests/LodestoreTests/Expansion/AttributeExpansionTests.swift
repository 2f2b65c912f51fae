#if Macros
  import Testing

  /// The schema that the declaration of an attribute becomes.
  @Suite struct AttributeExpansionTests {
    @Test(
      arguments: [
        "1", "-1.5", "true", "\"MIT\"", ".active", "Kind.active", "Film.Kind.active", "[]", "[:]",
        "[1, 2]", "[\"a\": 1]", "Decimal(5)", ".init(rawValue: 1)", "Settings(\"a\", size: 1)",
      ]) func `a stable default is the initial value`(value: String) throws
    {
      let answer = try expand("@Entity struct Pod { var a: T = \(value) }")
      #expect(answer.expanded.contains(".init(\"a\", \\.a, initial: \(value))"))
    }

    @Test(
      arguments: [
        "Date()", "UUID()", ".now", "Date.now", ".init()", "1 + 1", "limit", "make(1)", "nil",
        "\"\\(limit)\"", "{ 1 }()", "Date(timeIntervalSinceNow: 0)", "[Date()]", "Pod.limit.next",
        "Int.random(in: 0...9)",
      ]) func `a default that is not stable is not the initial value`(value: String) throws
    {
      let answer = try expand("@Entity struct Pod { var a: T = \(value) }")
      #expect(answer.expanded.contains(".init(\"a\", \\.a)"))
    }

    /// Such a default is right for inserts.
    ///
    /// An initial value for older records is needed only if there are such records.
    @Test(arguments: ["Date()", "UUID()", ".now", "Date.now", "1 + 1", "\"\\(limit)\""])
    func `the macro notes a default that is evaluated for each insert`(value: String) throws {
      let answer = try expand("@Entity struct Pod { var a: T = \(value) }")
      #expect(answer.errors == [])
      #expect(
        answer.notes == [
          "the default '\(value)' of 'a' is made anew for each insert, so records that are older than the "
            + "attribute, and imported ones that lack it, have none; where there are such records, add "
            + "'@Attribute(initial: …)' with the value for them"
        ])
    }

    @Test(arguments: [
      "var a: T? = Date()", "var a: T = 1", "var a: T", "@Attribute(initial: 1) var a: T = make()",
      "@Derived(.changedAt) private(set) var a: Date = .now",
    ])
    func `the macro does not note a default with an initial value`(property: String) throws {
      #expect(try expand("@Entity struct Pod { \(property) }").notes == [])
    }

    @Test func `an initial value replaces the default in the file`() throws {
      let answer = try expand(
        """
        @Entity struct Pod {
          @Attribute(initial: Date.distantPast) var made: Date = .now
          @Attribute(.unique, originalName: "key", initial: "") var slug: String
          @Attribute(constraints: [.range(0...5)], initial: 3) var stars: Int = 0
        }
        """)
      #expect(answer.errors == [])
      #expect(answer.expanded.contains(".init(\"made\", \\.made, initial: Date.distantPast),"))
      #expect(
        answer.expanded.contains(".init(\"slug\", \\.slug, originalName: \"key\", initial: \"\"),"))
      #expect(answer.expanded.contains(".init(\"stars\", \\.stars, initial: 3, constraints:"))
    }

    @Test func `an initial value that may change, or that no attribute needs, is refused`() throws {
      try expectRefusal(
        of: "@Entity struct Pod { @Attribute(initial: Date.now) var a: Date = .now }",
        at: "Date.now",
        "cannot take 'Date.now' as the initial value of 'a': it may be another one in each process, and the "
          + "file keeps one; write a literal, a static member, or a call with such arguments")
      try expectRefusal(
        of: "@Entity struct Pod { @Relationship @Attribute(initial: 0) var a: Pod.ID? }", at: "0",
        "cannot give 'a' an initial value: it is a relationship; remove 'initial'")
    }

    /// The store sets these attributes, so the schema cannot hold constraints for them.
    @Test func `constraints of attributes that programs do not set are refused`() throws {
      try expectRefusal(
        of: """
          @Entity struct Pod {
            var name: String
            @Attribute(constraints: [.length(1...8)]) @Derived(.lowercase(\\Pod.name))
            private(set) var key = ""
          }
          """, at: "[.length(1...8)]",
        "cannot constrain 'key': it is derived, and the store makes its value; declare a RecordRule in 'static "
          + "let rules', and remove 'constraints'")
      try expectRefusal(
        of: """
          @Entity struct Pod {
            @Relationship @Attribute(constraints: [.range(1...9)]) var other: Pod.ID?
          }
          """, at: "[.range(1...9)]",
        "cannot constrain 'other': it is a relationship, and holds the id of a record that is there; remove "
          + "'constraints'")
    }

    @Test(arguments: ["schema", "attributes"])
    func `a property named like a static member of the entity is refused`(name: String) throws {
      try expectRefusal(
        of: "@Entity struct Pod { var \(name): String }", at: name,
        "cannot declare '\(name)' in 'Pod': @Entity gives the type a static '\(name)'; use another name, and "
          + "'@Attribute(originalName: \"\(name)\")' where the file has it")
    }

    @Test func `constraints stand last in the definition, as written in the source`() throws {
      let answer = try expand(
        """
        @Entity struct Pod {
          @Attribute(.unique, originalName: "key", constraints: [.length(1...64), .pattern("[a-z]+")])
          var slug: String
          @Attribute(constraints: [.range(0...limit)]) var stars: Int = 0
          static let limit = 5
        }
        """)
      #expect(answer.errors == [])
      #expect(
        answer.expanded.contains(
          ".init(\"slug\", \\.slug, originalName: \"key\", "
            + "constraints: [.length(1 ... 64), .pattern(\"[a-z]+\")]),"))
      #expect(
        answer.expanded.contains(
          ".init(\"stars\", \\.stars, initial: 0, constraints: [.range(0 ... limit)]),")
      )
      #expect(answer.expanded.contains("unique: [[\\.slug]])"))
    }

    @Test func `an attribute can have another name in the file`() throws {
      let answer = try expand(
        """
        @Entity struct Pod {
          #Index<Pod>([\\.identifier])
          @Attribute(.unique, name: "id", originalName: "key") var identifier: String
          @Attribute(name: "owner") @Relationship var holder: Pod.ID?
        }
        """)
      #expect(answer.errors == [])
      #expect(
        answer.expanded.contains(".init(\"id\", \\.identifier, originalName: \"key\"),"))
      #expect(answer.expanded.contains(".toOne(\"owner\", \\.holder),"))
      #expect(answer.expanded.contains("unique: [[\\.identifier]]"))
      #expect(answer.expanded.contains("static func key(identifier: String)"))
    }

    @Test func `a unique attribute and a unique list of it are one index`() throws {
      let answer = try expand(
        """
        @Entity struct Pod {
          #Unique<Pod>([\\Pod.name, \\Self.version])
          @Attribute(AttributeOption.unique) var name: String
          @Lodestore.Attribute(originalName: nil) var version: String
        }
        """)
      #expect(answer.errors == [])
      #expect(answer.expanded.contains("unique: [[\\.name], [\\.name, \\.version]])"))
    }
  }
#endif
