#if Macros
  import Testing

  @Suite struct EntityExpansionTests {
    @Test func `the macro adds id, schema and coding to a struct`() throws {
      try expectExpansion(
        of: """
          @Entity
          struct Pod {
            #Unique<Pod>([\\.name, \\.version])
            #Index<Pod>([\\.updatedAt], [\\.stars, \\.name])

            var name: String
            var version: String
            @Attribute(.unique, originalName: "homepage") var site: URL?
            var license: String = "MIT"
            var stars: Int = 0
            let updatedAt: Date
            @Transient var isSelected = false
            static let limit = 10
            var title: String { name + " " + version }
          }
          """,
        """
        struct Pod {

          var name: String
          var version: String
          var site: URL?
          var license: String = "MIT"
          var stars: Int = 0
          let updatedAt: Date
          var isSelected = false
          static let limit = 10
          var title: String { name + " " + version }

          /// The identity in the store; unassigned before the value is inserted.
          var id = RecordID<Pod>()

          typealias ID = RecordID<Pod>
        }

        nonisolated extension Pod: Entity {
          static let schema = EntitySchema<Pod>(
            "Pod",
            attributes: [
              .init("name", \\.name),
              .init("version", \\.version),
              .init("site", \\.site, originalName: "homepage"),
              .init("license", \\.license, initial: "MIT"),
              .init("stars", \\.stars, initial: 0),
              .init("updatedAt", \\.updatedAt),
            ],
            unique: [[\\.site], [\\.name, \\.version]],
            indexes: [[\\.updatedAt], [\\.stars, \\.name]])

          static func read(from reader: inout RecordReader) throws(StoreError) -> Pod {
            Pod(
              name: try reader.read(),
              version: try reader.read(),
              site: try reader.read(),
              license: try reader.read(),
              stars: try reader.read(),
              updatedAt: try reader.read(),
              id: reader.id())
          }

          init(from reader: inout RecordReader) throws(StoreError) {
            self = try Self.read(from: &reader)
          }

          func encode(into writer: inout RecordWriter) {
            writer.write(self.name)
            writer.write(self.version)
            writer.write(self.site)
            writer.write(self.license)
            writer.write(self.stars)
            writer.write(self.updatedAt)
          }

          struct Attributes: Sendable {
            var id: Attribute<Pod, RecordID<Pod>> {
              .recordID
            }
            var name: Attribute<Pod, String> {
              .init(0)
            }
            var version: Attribute<Pod, String> {
              .init(1)
            }
            var site: Attribute<Pod, URL?> {
              .init(2)
            }
            var license: Attribute<Pod, String> {
              .init(3)
            }
            var stars: Attribute<Pod, Int> {
              .init(4)
            }
            var updatedAt: Attribute<Pod, Date> {
              .init(5)
            }
          }

          static var attributes: Attributes {
            Attributes()
          }

          static func key(site: URL?) -> EntityKey<Pod> {
            EntityKey(_of: Self.attributes.site, site)
          }

          static func key(name: String, version: String) -> EntityKey<Pod> {
            EntityKey(_of: Self.attributes.name, name)
              ._and(Self.attributes.version, version)
          }
        }
        """)
    }

    @Test func `the schema has the removed names of the struct`() throws {
      try expectExpansion(
        of: """
          @Entity(name: "pod", removed: "stars", "old")
          struct Pod {
          }
          """,
        """
        struct Pod {

          /// The identity in the store; unassigned before the value is inserted.
          var id = RecordID<Pod>()

          typealias ID = RecordID<Pod>
        }

        nonisolated extension Pod: Entity {
          static let schema = EntitySchema<Pod>(
            "pod",
            attributes: [],
            removed: ["stars", "old"])

          static func read(from reader: inout RecordReader) throws(StoreError) -> Pod {
            Pod(
              id: reader.id())
          }

          init(from reader: inout RecordReader) throws(StoreError) {
            self = try Self.read(from: &reader)
          }

          func encode(into writer: inout RecordWriter) {

          }

          struct Attributes: Sendable {
            var id: Attribute<Pod, RecordID<Pod>> {
              .recordID
            }
          }

          static var attributes: Attributes {
            Attributes()
          }
        }
        """)
    }

    @Test func `a public struct gets public members, and its name from the argument`() throws {
      try expectExpansion(
        of: """
          @Entity(name: "pod_v2")
          public struct Pod {
            public var name: String
          }
          """,
        """
        public struct Pod {
          public var name: String

          /// The identity in the store; unassigned before the value is inserted.
          public var id = RecordID<Pod>()

          public typealias ID = RecordID<Pod>
        }

        nonisolated extension Pod: Entity {
          public static let schema = EntitySchema<Pod>(
            "pod_v2",
            attributes: [
              .init("name", \\.name),
            ])

          public static func read(from reader: inout RecordReader) throws(StoreError) -> Pod {
            Pod(
              name: try reader.read(),
              id: reader.id())
          }

          public init(from reader: inout RecordReader) throws(StoreError) {
            self = try Self.read(from: &reader)
          }

          public func encode(into writer: inout RecordWriter) {
            writer.write(self.name)
          }

          public struct Attributes: Sendable {
            public var id: Attribute<Pod, RecordID<Pod>> {
              .recordID
            }
            public var name: Attribute<Pod, String> {
              .init(0)
            }
          }

          public static var attributes: Attributes {
            Attributes()
          }
        }
        """)
    }

    @Test(
      arguments: [
        ("public private(set) var a: Int", "public var a: Attribute<Pod, Int>"),
        ("fileprivate var a: [Kind]", "fileprivate var a: Attribute<Pod, [Kind]>"),
        ("var a: RecordID<Self>?", "var a: Attribute<Pod, RecordID<Pod>?>"),
        ("let a: String!", "var a: Attribute<Pod, String?>"),
        ("private(set) var `class`: Int = 0", "var `class`: Attribute<Pod, Int>"),
      ]) func `attributes have the type and access of their properties`(
        property: String, line: String
      )
      throws
    {
      let answer = try expand(
        "@Entity public struct Pod { private var secret: Int\n\(property) }")
      #expect(answer.errors == [])
      let lines = answer.expanded.split(separator: "\n").map { $0.drop { $0 == " " } }
      #expect(lines.filter { $0.contains("Attribute<") }.dropFirst() == ["\(line) {"])
    }

    /// The properties are set one by one if the struct may lack the expected memberwise
    /// initializer.
    ///
    /// An explicit initializer removes it, and conditional compilation may change it.
    @Test(
      arguments: [
        "var a: Int; init() { a = 1 }", "var a: Int\n#if DEBUG\ninit() { a = 1 }\n#endif",
        "var a: Int; #members", "@Wrapped var a: Int", "@Attribute(.unique) @Wrapped var a: Int",
        "var a: Int; @Transient @Wrapped var b = 1", "private var a: Int = 1",
        "var a: Int; @Transient fileprivate var b = 1",
        "var a: Int; var b: Int { @storageRestrictions(initializes: a) init { a = newValue } get { a } }",
      ]) func `a struct with other initializers gets its properties set one by one`(members: String)
      throws
    {
      let answer = try expand("@Entity struct Pod { \(members) }")
      #expect(answer.errors == [])
      #expect(answer.expanded.contains("self.a = try reader.read()"))
      #expect(!answer.expanded.contains("static func read("))
    }

    @Test
    func `an attribute that may add members disables the memberwise initializer`()
      throws
    {
      let answer = try expand("@Entity @Observed struct Pod { var a: Int }")
      #expect(answer.errors == [])
      #expect(answer.expanded.contains("self.a = try reader.read()"))
      #expect(!answer.expanded.contains("static func read("))
    }

    @Test(
      arguments: [
        "let a: Int", "var a: Int = 1", "private var a: Int", "var a: Int { didSet {} }",
        "@Attribute(.unique) var a: Int", "var a: Int; @Transient var b = 1",
        "var a: Int; static let shared = Pod(a: 1)", "var a: Int; private static var b = 1",
        "var a: Int; func b() {}", "var a: Int; var b: Int { a }",
        "#Index<Pod>([\\.a]); var a: Int", "@available(macOS 14, *) var a: Int",
        "var a: Int\n#if DEBUG\nfunc b() {}\n#endif",
      ]) func `the memberwise initializer takes the attributes and the id`(members: String) throws
    {
      let answer = try expand(
        "@Entity @available(macOS 14, *) struct Pod { \(members) }")
      #expect(answer.errors == [])
      #expect(answer.expanded.contains("a: try reader.read(),\n"))
      #expect(answer.expanded.contains("id: reader.id())"))
      #expect(!answer.expanded.contains("self.a = try"))
    }

    @Test func `a refused struct keeps an empty conformance`() throws {
      let answer = try expand(
        """
        @Entity
        package struct Pod {
          var name = f()
        }
        """)
      #expect(answer.errors.count == 1)
      #expect(
        answer.expanded == """

          package struct Pod {
            var name = f()

            /// The identity in the store; unassigned before the value is inserted.
            package var id = RecordID<Pod>()

            package typealias ID = RecordID<Pod>
          }

          nonisolated extension Pod: Entity {
            package static var schema: EntitySchema<Pod> {
              fatalError()
            }
            package init(from reader: inout RecordReader) throws(StoreError) {
              fatalError()
            }
            package func encode(into writer: inout RecordWriter) {
              fatalError()
            }
          }
          """)
    }

    @Test(
      arguments: [
        "@Entity struct Pod<T> {}", "@Entity struct Pod { var id: Int }",
        "enum Model { @Entity private struct Pod {} }", "@Entity class Pod {}",
      ]) func `a struct that cannot conform gets no extension`(declaration: String) throws
    {
      let answer = try expand(declaration)
      #expect(answer.errors.count == 1)
      #expect(!answer.expanded.contains("extension"))
    }

    @Test func `a struct that conforms by itself gets no second conformance`() throws {
      try expectExpansion(
        of: """
          @Entity
          struct Pod: Entity {}
          """,
        """
        struct Pod: Entity {

          /// The identity in the store; unassigned before the value is inserted.
          var id = RecordID<Pod>()

          typealias ID = RecordID<Pod>
        }

        nonisolated extension Pod {
          static let schema = EntitySchema<Pod>(
            "Pod",
            attributes: [])

          static func read(from reader: inout RecordReader) throws(StoreError) -> Pod {
            Pod(
              id: reader.id())
          }

          init(from reader: inout RecordReader) throws(StoreError) {
            self = try Self.read(from: &reader)
          }

          func encode(into writer: inout RecordWriter) {

          }

          struct Attributes: Sendable {
            var id: Attribute<Pod, RecordID<Pod>> {
              .recordID
            }
          }

          static var attributes: Attributes {
            Attributes()
          }
        }
        """, conforms: false)
    }

    @Test(
      arguments: [
        ("a: Int, b: Int", ["a", "b"]), ("a, b: Int", ["a", "b"]),
        ("a: Int { didSet {} }", ["a"]), ("a: Int { willSet {} didSet {} }", ["a"]),
        ("a: Int { get { 1 } set {} }", []), ("a: Int { 1 }", []),
        ("a: Int { _read { yield b } }", []), ("`class`: Int", ["class"]),
        ("a: String!", ["a"]), ("a: Foundation.Date", ["a"]), ("a: [String: [Int]]?", ["a"]),
      ]) func `attributes are the stored properties`(property: String, names: [String]) throws
    {
      let answer = try expand("@Entity struct Pod { var \(property) }")
      #expect(answer.errors == [])
      let definitions = answer.expanded.matches(of: #/\.init\("(\w+)"/#).map { String($0.output.1) }
      #expect(definitions == names)
    }

    @Test func `conditional members that are not stored stay unchanged`() throws {
      let answer = try expand(
        """
        @Entity struct Pod {
          var name: String
          #if DEBUG
            static let limit = 1
            var title: String { name }
            func check() {}
          #endif
        }
        """)
      #expect(answer.errors == [])
      #expect(answer.expanded.contains("writer.write(self.name)\n"))
    }
  }
#endif
