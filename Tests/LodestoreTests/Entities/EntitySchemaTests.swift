#if Macros
  @testable import EntityStore
  import Lodestore
  import LodestoreFormat
  import Foundation
  import Testing

  @Suite struct EntitySchemaTests {
    /// One line for each attribute: name, type, `?` if it is optional, original name, and initial
    /// value.
    private func lines<E: Entity>(_ type: E.Type) throws -> [String] {
      try DeclaredEntity(type).attributes.map { attribute in
        var line = "\(attribute.name) \(attribute.storage.type.name)"
        if attribute.storage.isOptional { line += "?" }
        if let originalName = attribute.originalName { line += " was \(originalName)" }
        if attribute.initial != .null { line += " = \(attribute.initial)" }
        return line
      }
    }

    @Test func `attribute types of a schema are those of the properties`() throws {
      #expect(
        try lines(Specimen.self) == [
          "bool bool", "int int64", "int8 int8", "int16 int16", "int32 int32", "int64 int64",
          "uint uint64", "uint8 uint8", "uint16 uint16", "uint32 uint32", "uint64 uint64",
          "float float", "double double", "string string", "data data", "date date", "uuid uuid",
          "url url", "decimal decimal", "kind string", "grade uint8", "json json",
          "place document", "list document", "table document", "optionalBool bool?",
          "optionalInt int64?", "optionalUInt64 uint64?", "optionalFloat float?",
          "optionalDouble double?", "optionalString string?", "optionalData data?",
          "optionalDate date?", "optionalUUID uuid?", "optionalURL url?",
          "optionalDecimal decimal?", "optionalKind string?", "optionalGrade uint8?",
          "optionalJSON json?", "optionalPlace document?", "optionalList document?",
          "optionalTable document?",
        ])
    }

    @Test func `names, indexes and initial values of a schema are those of the declaration`() throws
    {
      let declared = try DeclaredEntity(Pod.self)
      #expect(declared.name == "pod")
      #expect(
        try lines(Pod.self) == [
          "name string", "version string", "site string? was homepage",
          "license string = string(\"mit\")", "stars int64 = integer(0)", "first int64",
          "second int64", "default bool = bool(true)", "updatedAt date",
          "secret document = \(StoredValue(document: ["a"]).value)",
        ])
      #expect(
        declared.indexes == [
          .init(attributes: [2], isUnique: true), .init(attributes: [0, 1], isUnique: true),
          .init(attributes: [8], isUnique: false), .init(attributes: [4, 0], isUnique: false),
        ])
    }

    @Test func `constraints of a schema are those of the declaration`() throws {
      let declared = try DeclaredEntity(Rated.self)
      #expect(declared.attributes.map(\.name) == ["slug", "stars", "note"])
      #expect(declared.attributes.map(\.constraints.maxLength) == [64, nil, nil])
      #expect(declared.attributes.map(\.constraints.pattern) == ["[a-z]+", nil, nil])
      #expect(declared.attributes.map(\.constraints.maximum) == [.null, .integer(5), .null])
      let store = try Store.inMemory(entities: [Rated.self])
      let error = #expect(throws: StoreError.self) {
        try store.write { (tx) throws in try tx.insert(Rated(slug: "a", stars: 6)) }
      }
      #expect(error?.code == .invalidValue && error?.attribute == "stars")
      store.close()
    }

    @Test func `initial values are the stable defaults`() throws {
      let initials = try DeclaredEntity(Hidden.defaults).attributes.map(\.initial)
      #expect(
        initials == [
          .string("a"), .integer(-1), .integer(1), .integer(1), .string("b"),
          StoredValue(document: [1, 2]).value,
          .decimal(DecimalValue(isNegative: false, exponent: 0, significand: 5)), .date(1), .null,
          .null,
        ])
    }

    @Test func `nested and private entities are declared`() throws {
      let inner = try DeclaredEntity(Hidden.inner)
      #expect(inner.name == "Inner")
      #expect(inner.indexes == [.init(attributes: [0], isUnique: false)])
    }

    @Test func `the schema names the removed attributes`() throws {
      #expect(Rated.schema.removed == ["rank", "votes"])
      #expect(try DeclaredEntity(Rated.self).removed == ["rank", "votes"])
      #expect(try DeclaredEntity(Pod.self).removed.isEmpty)
    }

    /// `#Predicate` asks that the values which it compares are `Codable`.
    @Test func `an indexable enumeration is compared in a predicate`() throws {
      let store = try Store.inMemory(entities: [Pod.self])
      try store.insert(Pod.make(name: "a"))
      let wanted = Pod.License.bsd
      #expect(try store.count(Pod.where(#Predicate { $0.license == wanted })) == 1)
      let other = Pod.License.mit
      #expect(try store.count(Pod.where(#Predicate { $0.license == other })) == 0)
      store.close()
    }

    /// The default is used for inserts, and the initial value for records that are older than the
    /// attribute.
    @Test func `an initial value holds for older records, and the default for new ones`() throws {
      let path = FileManager.default.temporaryDirectory
        .appending(path: "initial-\(UUID().uuidString).lodestore").path
      defer {
        for end in ["", "-lock"] { try? FileManager.default.removeItem(atPath: path + end) }
      }
      let old = try Store(at: path, entities: [Older.self])
      try old.insert(Older(name: "old"))
      old.close()
      let error = #expect(throws: StoreError.self) {
        try Store(at: path, entities: [WithoutInitial.self])
      }
      #expect(error?.code == .incompatibleSchema && error?.message.contains("initial:") == true)
      let store = try Store(at: path, entities: [Newer.self])
      try store.insert(Newer(name: "new"))
      let found = try store.fetch(Newer.all)
      #expect(found.map(\.madeAt)[0] == .distantPast)
      #expect(found.map(\.madeAt)[1].timeIntervalSinceNow > -60)
      store.close()
    }

    @Test func `a new value has no id`() {
      #expect(!Specimen.full.id.isAssigned)
    }
  }

  @Entity(name: "Aged")
  private struct Older {
    var name: String
  }

  @Entity(name: "Aged")
  private struct WithoutInitial {
    var name: String
    var madeAt: Date = .now
  }

  @Entity(name: "Aged")
  private struct Newer {
    var name: String
    @Attribute(initial: Date.distantPast) var madeAt: Date = .now
  }

  @Entity(removed: "rank", "votes")
  private struct Rated {
    @Attribute(
      .unique, originalName: "key", constraints: [.length(1...longest), .pattern("[a-z]+")])
    var slug: String
    @Attribute(constraints: [.range(0...5)]) var stars: Int = 0
    var note: String = ""
    static let longest = 64
  }
#endif
