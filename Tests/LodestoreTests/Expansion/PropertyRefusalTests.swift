#if Macros
  import Testing

  @Suite struct PropertyRefusalTests {
    @Test(
      arguments: [
        ("\"MIT\"", "String"), ("1", "Int"), ("-1", "Int"), ("1.5", "Double"), ("true", "Bool"),
        ("Date()", "Date"), ("[Int]()", "<#Type#>"), ("Kind.active", "Kind"), ("[]", "<#Type#>"),
        ("make()", "<#Type#>"),
      ]) func `a missing type gets the type of the value as a fix`(value: String, type: String)
      throws
    {
      try expectRefusal(
        of: "@Entity struct Pod { var a = \(value) }", at: "a =",
        "cannot store 'a': its type is not written, and types are part of the schema; write it",
        fixes: [
          ("write the type as '\(type)'", "@Entity struct Pod { var a: \(type) = \(value) }")
        ])
    }

    @Test(
      arguments: [
        ("(Int, Int)", "a tuple has no stored form; make it a struct"),
        ("[(a: Int, b: Int)]", "a tuple has no stored form; make it a struct"),
        ("() -> Void", "a function has no stored form"),
        ("(@Sendable () -> Void)?", "a function has no stored form"),
        ("Int.Type", "a type has no stored form"),
        ("Any", "Any does not say which type to read back; name the type"),
        ("[String: Any]", "Any does not say which type to read back; name the type"),
        ("AnyObject?", "AnyObject does not say which type to read back; name the type"),
        ("any Codable", "a protocol does not say which type to read back; name the type"),
        ("(any Codable)?", "a protocol does not say which type to read back; name the type"),
        ("some Codable", "a protocol does not say which type to read back; name the type"),
        ("A & B", "a protocol does not say which type to read back; name the type"),
        ("Void", "Void has no values to keep"),
        ("[Int: String]", "a dictionary is stored by text, and its keys are Int; use String keys"),
        (
          "Dictionary<UUID, Int>?",
          "a dictionary is stored by text, and its keys are UUID; use String keys"
        ),
      ]) func `a type that cannot be stored gets '@Transient' as a fix`(
        type: String, reason: String
      ) throws
    {
      try expectRefusal(
        of: "@Entity struct Pod {\n  // Why.\n  var a: \(type)\n}", at: type,
        "cannot store 'a': \(reason), or leave it out with @Transient",
        fixes: [
          (
            "leave it out with '@Transient'",
            "@Entity struct Pod {\n  // Why.\n  @Transient var a: \(type)\n}"
          )
        ],
        stillWrong: [
          "cannot leave out 'a': it has no value when a record is read; give it a default value"
        ])
    }

    @Test(
      arguments: [
        ("Set<Int>", "[Int]", "a set has no stable order; use an array"),
        ("Set<Int>?", "[Int]?", "a set has no stable order; use an array"),
        ("[String: Set<Int>]", "[String: [Int]]", "a set has no stable order; use an array"),
        ("Int??", "Int?", "a record has one null, not two; make it optional once"),
        ("Optional<Int?>", "Int?", "a record has one null, not two; make it optional once"),
        ("[Character]", "[String]", "Character has no stored form; use String"),
        ("Swift.Substring", "String", "Substring has no stored form; use String"),
      ]) func `a type that cannot be stored gets a storable type as a fix`(
        type: String, other: String, reason: String
      ) throws
    {
      try expectRefusal(
        of: "@Entity struct Pod { private var a: \(type) = x }", at: type,
        "cannot store 'a': \(reason), or leave it out with @Transient",
        fixes: [
          ("use '\(other)'", "@Entity struct Pod { private var a: \(other) = x }"),
          (
            "leave it out with '@Transient'",
            "@Entity struct Pod { @Transient private var a: \(type) = x }"
          ),
        ])
    }

    @Test func `several properties in one declaration get no '@Transient' as a fix`() throws {
      try expectRefusal(
        of: "@Entity struct Pod { var a: Int, b: Any }", at: "Any",
        "cannot store 'b': Any does not say which type to read back; name the type, or leave it out "
          + "with @Transient")
    }

    @Test func `a lazy property gets '@Transient' as a fix`() throws {
      try expectRefusal(
        of: "@Entity struct Pod { lazy var a: Int = 1 }", at: "lazy",
        "cannot store 'a': a lazy property may have no value yet; make it a plain 'var', or leave "
          + "it out with @Transient",
        fixes: [
          (
            "leave it out with '@Transient'",
            "@Entity struct Pod { @Transient lazy var a: Int = 1 }"
          )
        ])
    }

    @Test func `a weak reference gets '@Transient' as a fix`() throws {
      try expectRefusal(
        of: "@Entity struct Pod { weak var a: Owner? }", at: "weak",
        "cannot store 'a': a reference has no stored form; keep an id, or leave it out with "
          + "@Transient",
        fixes: [
          ("leave it out with '@Transient'", "@Entity struct Pod { @Transient weak var a: Owner? }")
        ])
    }

    @Test func `a constant with a value gets a variable as a fix`() throws {
      try expectRefusal(
        of: "@Entity struct Pod { public let a: Int = 1 }", at: "let",
        "cannot read 'a' from a record: a 'let' with a value never has another; make it 'var', or "
          + "leave it out with @Transient",
        fixes: [
          ("make it a 'var'", "@Entity struct Pod { public var a: Int = 1 }"),
          (
            "leave it out with '@Transient'",
            "@Entity struct Pod { @Transient public let a: Int = 1 }"
          ),
        ])
    }

    @Test func `a tuple of properties is refused`() throws {
      try expectRefusal(
        of: "@Entity struct Pod { var (a, b) = (1, 2) }", at: "(a",
        "cannot store a tuple of properties: each attribute needs a declaration; write one for "
          + "each name")
    }

    @Test func `a stored property in a condition is refused`() throws {
      try expectRefusal(
        of: "@Entity struct Pod {\n#if DEBUG\nvar a: Int\n#endif\n}", at: "var",
        "cannot read a stored property inside '#if': @Entity does not see which branch is compiled; "
          + "move it out")
    }

    @Test(arguments: ["größe", String(repeating: "a", count: 65)])
    func `a name that the file cannot hold is refused`(name: String) throws {
      try expectRefusal(
        of: "@Entity struct Pod { var \(name): Int }", at: name,
        "cannot use '\(name)' as the name of an attribute: names in the file are an ASCII letter "
          + "or '_', then letters, digits and '_', at most 64 bytes; rename it")
    }

    @Test(arguments: [
      "var _id: Int", "@Attribute(originalName: \"_id\") var a: Int",
      "@Attribute(name: \"_id\") var a: Int",
    ])
    func `a name that is reserved for the store is refused`(property: String) throws {
      try expectRefusal(
        of: "@Entity struct Pod { \(property) }", at: property.hasPrefix("var") ? "_id" : "\"_id",
        "cannot use '_id' as the name of an attribute: the store calls the id of a record so; "
          + "rename it")
    }

    @Test(
      .enabled(if: parserKnowsRawIdentifiers, "raw identifiers came with swift-syntax 601"),
      arguments: ["with space", "2"]
    )
    func `a raw identifier that the file cannot hold is refused`(name: String) throws {
      try expectRefusal(
        of: "@Entity struct Pod { var `\(name)`: Int }", at: "`",
        "cannot use '\(name)' as the name of an attribute: names in the file are an ASCII letter "
          + "or '_', then letters, digits and '_', at most 64 bytes; rename it")
    }

    @Test(
      arguments: [
        ("var a: Int", "0"), ("var a: String", "\"\""), ("var a: [Int]", "[]"),
        ("var a: [String: Int]", "[:]"), ("let a: Int?", "nil"), ("var a: Owner", "<#value#>"),
        ("var a: Bool", "false"),
      ]) func `a transient property without a value gets a value as a fix`(
        property: String, value: String
      )
      throws
    {
      try expectRefusal(
        of: "@Entity struct Pod { @Transient \(property) }", at: "a:",
        "cannot leave out 'a': it has no value when a record is read; give it a default value",
        fixes: [
          (
            "add the default value '\(value)'",
            "@Entity struct Pod { @Transient \(property) = \(value) }"
          )
        ])
    }

    @Test(
      arguments: [
        "@Transient var a: Int?", "@Transient lazy var a = 1", "@Transient let a = 1",
        "@Transient var a: (Int, Any)?", "@Transient @Wrapper var a: Int",
      ]) func `a transient property with a value stays unchanged`(property: String) throws
    {
      let answer = try expand("@Entity struct Pod { \(property) }")
      #expect(answer.errors == [])
      #expect(answer.expanded.contains("attributes: [])"))
    }

    @Test(
      arguments: [
        ("static var a: Int = 1", "static"), ("var a: Int { 1 }", "computed"),
        ("@Transient var a: Int = 1", "@Transient"),
      ]) func `an attribute on a property that is not stored gets its removal as a fix`(
        property: String, kind: String
      )
      throws
    {
      try expectRefusal(
        of: "@Entity struct Pod { @Attribute(.unique) \(property) }", at: "@Attribute",
        "cannot use @Attribute on 'a': it is \(kind), and only what is stored is an attribute; "
          + "remove one of the two",
        fixes: [("remove '@Attribute'", "@Entity struct Pod { \(property) }")])
    }

    @Test func `an option that is not a literal is refused`() throws {
      try expectRefusal(
        of: "@Entity struct Pod { @Attribute(option) var a: Int }", at: "option",
        "cannot read the option 'option': @Entity sees only what is written here; write '.unique'",
        fixes: [
          ("replace it by '.unique'", "@Entity struct Pod { @Attribute(.unique) var a: Int }")
        ])
    }

    @Test func `an original name must be a literal name`() throws {
      try expectRefusal(
        of: "@Entity struct Pod { @Attribute(originalName: old) var a: Int }", at: "old",
        "cannot read the original name: it is not a text literal; write it out")
      try expectRefusal(
        of: "@Entity struct Pod { @Attribute(name: new) var a: Int }", at: "new",
        "cannot read the name: it is not a text literal; write it out")
      try expectRefusal(
        of: "@Entity struct Pod { @Attribute(originalName: \"a b\") var a: Int }", at: "\"a b",
        "cannot use 'a b' as the name of an attribute: names in the file are an ASCII letter or "
          + "'_', then letters, digits and '_', at most 64 bytes; rename it")
    }

    @Test func `a unique attribute must have an order`() throws {
      try expectRefusal(
        of: "@Entity struct Pod { @Attribute(.unique) var a: [Int] }", at: "a:",
        "cannot index 'a': it is an array, and an index takes single values; remove it")
    }

    @Test func `every fault of a struct is reported`() throws {
      let answer = try expand(
        "@Entity struct Pod { #Index<Pod>([\\.c]); var a = 1; var b: Any; let d: Int = 1 }")
      #expect(answer.errors.count == 4)
    }
  }
#endif
