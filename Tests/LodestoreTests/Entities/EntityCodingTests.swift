import LodestoreBytes

#if Macros
  @testable import EntityStore
  import Lodestore
  import LodestoreFormat
  import Testing

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// The struct is not private, because the conformance that the macro adds would not be visible
  /// here.
  struct ChosenSpecimens {
    var ids: [Specimen.ID]
  }

  @Suite struct EntityCodingTests {
    @Test func `entity types in declarations of other files have named ids`() {
      #expect(ChosenSpecimens(ids: [RecordID<Specimen>(rawValue: 7)]).ids.map(\.rawValue) == [7])
    }

    /// The value that a store would return if `entity` were stored as record 7.
    private func stored<E: Entity>(
      _ entity: E, isWide: Bool,
      read: (inout RecordReader) throws(StoreError) -> E = { (reader) throws(StoreError) in
        try E.read(from: &reader)
      }
    ) throws -> E {
      let declared = try DeclaredEntity(E.self)
      let layout = RecordLayout(
        number: 1,
        attributes: declared.attributes.enumerated().map { place, attribute in
          RecordLayout.Attribute(
            number: UInt32(place + 1), type: attribute.storage.type,
            isOptional: attribute.storage.isOptional)
        })
      var writer = RecordWriter()
      writer.begin(layout, isWide: isWide)
      entity.encode(into: &writer)
      // The value is stored in a constant first, because the macro `#require` cannot take a
      // noncopyable value.
      let finished = writer.finish(layout, entity: declared.name)
      let content = try #require(finished)
      let bytes = Array(content) + [UInt8](repeating: 0, count: RecordLayout.checksumSize)
      let label = EntityLabel(declared.name)
      return try bytes._withBytes { bytes in
        defer { withExtendedLifetime(label) {} }
        var reader = RecordReader(
          try RecordView(bytes, layout: layout), entity: label, recordID: 7)
        return try read(&reader)
      }
    }

    @Test(arguments: [false, true]) func `every attribute type comes back from a record`(
      isWide: Bool
    ) throws {
      var full = Specimen.full
      let read = try stored(full, isWide: isWide)
      #expect(read.id == RecordID(rawValue: 7))
      full.id = read.id
      #expect(read == full)
    }

    @Test(arguments: [false, true]) func `null values come back from a record`(isWide: Bool) throws
    {
      var empty = Specimen.full
      empty.clear()
      let read = try stored(empty, isWide: isWide)
      empty.id = read.id
      #expect(read == empty)
    }

    @Test func `private and observed properties come back, and transient ones do not`() throws {
      var pod = Pod.make(name: "A")
      pod.stars = 5
      pod.keep("b")
      #expect(pod.starsChanges == 1)
      let read = try stored(pod, isWide: false)
      #expect(read.stars == 5)
      #expect(read.secretCount == 2)
      #expect(read.starsChanges == 0)
      #expect([read.first, read.second] == [1, 2])
      #expect(read.default)
      #expect(read.license == .bsd)
      #expect(read.updatedAt == pod.updatedAt)
      #expect(read.site == nil)
    }

    @Test func `the memberwise initializer takes every attribute in its place`() throws {
      var song = Song.make()
      let read = try stored(song, isWide: false)
      #expect(read.id == RecordID(rawValue: 7))
      song.id = read.id
      #expect(read == song)
      #expect(read.playCountChanges == 0)
    }

    @Test func `the initializer from a reader gives the same value as the memberwise one`() throws {
      let read = try stored(Song.make(), isWide: false) { (reader) throws(StoreError) in
        try Song(from: &reader)
      }
      #expect(read == (try stored(Song.make(), isWide: false)))
    }
  }

  extension Specimen {
    static var full: Specimen {
      Specimen(
        bool: true, int: .min, int8: .min, int16: .max, int32: -1, int64: .max, uint: .max,
        uint8: 255, uint16: 1, uint32: .max, uint64: .max, float: 1.5, double: -0.1,
        string: "cafe\u{301}\0", data: Data([0, 255]), date: Date(timeIntervalSince1970: 0.25),
        uuid: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
        url: URL(filePath: "/a b"), decimal: Decimal(12345) / 100, kind: .mineral, grade: .high,
        json: .array([.string("a"), .null]), place: Place(latitude: 1.25, names: ["x", ""]),
        list: [1, -2], table: ["a": [Date(timeIntervalSince1970: 1)], "": []], optionalBool: false,
        optionalInt: 0, optionalUInt64: 1, optionalFloat: .infinity, optionalDouble: 0,
        optionalString: "", optionalData: Data(), optionalDate: .distantFuture,
        optionalUUID: UUID(), optionalURL: URL(string: "https://example.org/a"),
        optionalDecimal: -1, optionalKind: .rock, optionalGrade: .low,
        optionalJSON: .object([:]), optionalPlace: Place(latitude: 0, names: []),
        optionalList: [], optionalTable: ["z": 1, "a": 2])
    }

    mutating func clear() {
      optionalBool = nil
      optionalInt = nil
      optionalUInt64 = nil
      optionalFloat = nil
      optionalDouble = nil
      optionalString = nil
      optionalData = nil
      optionalDate = nil
      optionalUUID = nil
      optionalURL = nil
      optionalDecimal = nil
      optionalKind = nil
      optionalGrade = nil
      optionalJSON = nil
      optionalPlace = nil
      optionalList = nil
      optionalTable = nil
    }
  }
#endif
