#if Macros
  import Testing

  @Suite struct StructRefusalTests {
    @Test func `a class gets a struct as a fix`() throws {
      try expectRefusal(
        of: "@Entity\npublic final class Pod { var name: String }", at: "class",
        "cannot make an entity of a class: an entity is a value; declare a struct",
        fixes: [
          ("make it a 'struct'", "@Entity\npublic struct Pod { var name: String }")
        ])
      try expectRefusal(
        of: "@Entity\nfinal class Pod { var name: String }", at: "class",
        "cannot make an entity of a class: an entity is a value; declare a struct",
        fixes: [("make it a 'struct'", "@Entity\nstruct Pod { var name: String }")])
      try expectRefusal(
        of: "@Entity open class Pod { var name: String }", at: "class",
        "cannot make an entity of a class: an entity is a value; declare a struct",
        fixes: [("make it a 'struct'", "@Entity public struct Pod { var name: String }")])
    }

    @Test func `an actor gets a struct as a fix`() throws {
      try expectRefusal(
        of: "@Entity actor Pod { var name: String }", at: "actor",
        "cannot make an entity of an actor: an entity is a value; declare a struct",
        fixes: [("make it a 'struct'", "@Entity struct Pod { var name: String }")])
    }

    @Test func `an enum is refused`() throws {
      try expectRefusal(
        of: "@Entity enum Pod { case a }", at: "enum",
        "cannot make an entity of an enum: an entity is a value; declare a struct")
    }

    @Test func `a generic struct is refused`() throws {
      try expectRefusal(
        of: "@Entity struct Pod<T> where T: Sendable { var name: String }", at: "<T>",
        "cannot make an entity of 'Pod': it is generic, and an entity has one schema; "
          + "remove the type parameters",
        fixes: [("remove the type parameters", "@Entity struct Pod { var name: String }")])
      try expectRefusal(
        of: "struct Box<T> { @Entity struct Pod { var name: String } }", at: "Pod",
        "cannot make an entity of 'Pod': a declaration around it is generic, and an entity has "
          + "one schema; move the struct out")
    }

    @Test func `a private struct inside a type is refused`() throws {
      try expectRefusal(
        of: "enum Model { @Entity private struct Pod { var name: String } }", at: "private",
        "cannot make an entity of 'Pod': its conformance is written outside of the type around "
          + "it, where a private struct is not visible; make it fileprivate",
        fixes: [
          (
            "make it 'fileprivate'",
            "enum Model { @Entity fileprivate struct Pod { var name: String } }"
          )
        ])
    }

    @Test func `a struct inside a private nested type is refused`() throws {
      try expectRefusal(
        of: "enum Model { private enum Inner { @Entity struct Pod { var name: String } } }",
        at: "Pod",
        "cannot make an entity of 'Pod': its conformance is written outside of the types around it, "
          + "where the private 'Inner' is not visible; make 'Inner' fileprivate")
    }

    @Test func `a computed name is refused`() throws {
      try expectRefusal(
        of: "@Entity(name: prefix + \"Pod\") struct Pod { var name: String }", at: "prefix",
        "cannot read the name of the entity: it is not a text literal; write it out")
      try expectRefusal(
        of: "@Entity(name: \"Pod\\(1)\") struct Pod { var name: String }", at: "\"Pod",
        "cannot read the name of the entity: it is not a text literal; write it out")
    }

    @Test func `a removed name must be a literal and no property`() throws {
      try expectRefusal(
        of: "@Entity(removed: \"stars\", old) struct Pod { var name: String }", at: "old",
        "cannot read the name of a removed attribute: it is not a text literal; write it out")
      try expectRefusal(
        of: "@Entity(removed: \"name\") struct Pod { var name: String }", at: "\"name\"",
        "cannot remove 'name': it is a stored property; remove one of the two")
      try expectRefusal(
        of: "@Entity(removed: \"a b\") struct Pod { var name: String }", at: "\"a b\"",
        "cannot use 'a b' as the name of a removed attribute: names in the file are an ASCII letter "
          + "or '_', then letters, digits and '_', at most 64 bytes; rename it")
    }

    @Test(arguments: ["", "2pods", "Größe", "a-b", "a b", String(repeating: "a", count: 65)])
    func `a name that the file cannot hold is refused`(name: String) throws {
      try expectRefusal(
        of: "@Entity(name: \"\(name)\") struct Pod { var name: String }", at: "\"\(name)\"",
        "cannot use '\(name)' as the name of an entity: names in the file are an ASCII letter or "
          + "'_', then letters, digits and '_', at most 64 bytes; rename it")
    }

    @Test func `a struct name is checked like any other`() throws {
      try expectRefusal(
        of: "@Entity struct Größe { var name: String }", at: "Größe",
        "cannot use 'Größe' as the name of an entity: names in the file are an ASCII letter or "
          + "'_', then letters, digits and '_', at most 64 bytes; rename it")
      #expect(try expand("@Entity(name: \"Size\") struct Größe {}").errors == [])
      let longest = String(repeating: "a", count: 64)
      #expect(try expand("@Entity(name: \"\(longest)\") struct A {}").errors == [])
    }

    @Test func `an id property in the struct gets another name as a fix`() throws {
      let message =
        "cannot declare 'id' in 'Pod': @Entity gives it 'id', a RecordID<Pod>; use another name, "
        + "with @Attribute(name: \"id\") to keep 'id' in the file"
      try expectRefusal(
        of: "@Entity struct Pod { let id: Int }", at: "id", message,
        fixes: [("rename it to 'identifier'", "@Entity struct Pod { let identifier: Int }")])
      try expectRefusal(
        of: "@Entity struct Pod { var id: String { name }; var name: String }", at: "id", message,
        fixes: [
          (
            "rename it to 'identifier'",
            "@Entity struct Pod { var identifier: String { name }; var name: String }"
          )
        ])
    }

    @Test func `an id property of the record id type gets its removal as a fix`() throws {
      try expectRefusal(
        of: """
          @Entity struct Pod {
            var id = RecordID<Pod>()
            var name: String
          }
          """, at: "id",
        "cannot declare 'id' in 'Pod': @Entity gives it 'id', a RecordID<Pod>; remove it",
        fixes: [
          (
            "remove this property",
            """
            @Entity struct Pod {
              var name: String
            }
            """
          )
        ])
    }

    @Test(arguments: ["@Attribute(.unique) var a: Int", "@Transient var a = 1"])
    func `a marker outside of an entity is refused`(property: String) throws {
      let macro = property.prefix { $0 != "(" && $0 != " " }
      try expectRefusal(
        of: "struct Pod { \(property) }", at: "@",
        "cannot use \(macro) here: nothing reads it outside of a struct with @Entity; add @Entity "
          + "or remove it")
    }

    @Test func `an index outside of an entity is refused`() throws {
      try expectRefusal(
        of: "extension Pod { #Index<Pod>([\\.a]) }", at: "#",
        "cannot use #Index here: nothing reads it outside of a struct with @Entity; add @Entity or "
          + "remove it")
    }
  }
#endif
