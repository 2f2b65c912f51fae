#if Macros
  import Testing

  /// The code that `@Entity` makes of a struct in another type.
  @Suite struct NestedExpansionTests {
    @Test func `a nested struct is named in full`() throws {
      let answer = try expand(
        "enum Model { @Entity fileprivate struct Pod { var name: String } }")
      #expect(answer.errors == [])
      #expect(answer.expanded.contains("nonisolated extension Model.Pod: Entity"))
      #expect(answer.expanded.contains("EntitySchema<Model.Pod>("))
      #expect(answer.expanded.contains("\"Pod\""))
    }

    /// In a type that is not public, the members required by a conformance must not be public
    /// either.
    @Test(arguments: [
      ("enum Model { @Entity public struct Pod { public var name: String } }", ""),
      ("public enum Model { @Entity public struct Pod { public var name: String } }", "public "),
      ("package enum Model { @Entity public struct Pod { public var name: String } }", "package "),
      ("public enum Model { @Entity package struct Pod { public var name: String } }", "package "),
      ("public enum Model { @Entity struct Pod { public var name: String } }", ""),
      ("struct A { public enum B { @Entity public struct Pod { public var n: String } } }", ""),
      ("public extension Model { @Entity struct Pod { public var name: String } }", "public "),
      (
        "public extension A { enum B { @Entity public struct Pod { public var n: String } } }",
        "public "
      ),
      ("public extension Model { @Entity internal struct Pod { var name: String } }", ""),
      ("fileprivate extension Model { @Entity struct Pod { var name: String } }", ""),
      ("extension Model { @Entity public struct Pod { public var name: String } }", "public "),
      ("fileprivate enum Model { @Entity public struct Pod { var name: String } }", "fileprivate "),
      ("private enum Model { @Entity struct Pod { var name: String } }", "fileprivate "),
      ("private enum Model { @Entity fileprivate struct Pod { var name: String } }", ""),
    ])
    func `a nested struct is no more accessible than the types around it`(
      declaration: String, access: String
    )
      throws
    {
      let answer = try expand(declaration)
      #expect(answer.errors == [])
      #expect(answer.expanded.contains("\n  \(access)static let schema"), "\(answer.expanded)")
      #expect(
        answer.expanded.contains("\n    \(access)var id = RecordID")
          || answer.expanded.contains(" \(access)var id = "))
      #expect(answer.expanded.contains("\(access)enum _AttributeTypes"))
    }

    @Test func `a nested struct has a name for the type of each property`() throws {
      let answer = try expand(
        """
        public enum Model {
          enum Kind: String { case library }
          @Entity public struct Pod {
            public var kind: Kind = Kind.library
            public var spare: Kind? = Kind.library
            private var secret: Kind
            static let notes = ToMany<Pod, Note>()
          }
        }
        """)
      #expect(answer.errors == [])
      let types = """
        public enum _AttributeTypes {
              public typealias kind = Kind
              public typealias spare = Kind?
              typealias notes = ToMany<Pod, Note>
        """
      #expect(answer.expanded.contains(types), "\(answer.expanded)")
      #expect(answer.expanded.contains("Attribute<Model.Pod, Model.Pod._AttributeTypes.kind>"))
      #expect(answer.expanded.contains("var notes: Model.Pod._AttributeTypes.notes"))
      #expect(answer.expanded.contains("\\.kind, initial: .library)"))
      #expect(answer.expanded.contains("\\.spare, initial: .library)"))
    }
  }
#endif
