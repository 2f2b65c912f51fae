#if Macros
  import Lodestore
  import Testing

  @Suite struct EntityViewTests {
    @Test func `attributes that the macro wrote are those of the schema`() throws {
      let schema = Specimen.schema.attributes
      let attributes = Mirror(reflecting: Specimen.attributes).children.map { $0.label }
      #expect(attributes == ["id"] + schema.map(\.name))
      // A private property has none, and counts.
      let pod = Mirror(reflecting: Pod.attributes).children.map { $0.label }
      #expect(pod == ["id"] + Pod.schema.attributes.map(\.name).filter { $0 != "secret" })
    }

    @Test func `view reads attributes by their names`() throws {
      let store = try Store.inMemory(entities: [Pod.self])
      try store.write { _ = try $0.insert(Pod.make(name: "AFNetworking")) }
      try store.read { snapshot in
        var count = 0
        try snapshot.forEachView(Pod.all) { view in
          let (isName, hasSite) = (view.name == "AFNetworking", view.site != nil)
          #expect(isName && !hasSite && view.first == 1 && view.second == 2 && view.default)
          let (license, date) = (try view.license, view.updatedAt)
          #expect(license == .bsd && date.timeIntervalSinceReferenceDate == 3)
          let secretCount = try view.decoded().secretCount
          #expect(secretCount == 1)
          count += 1
        }
        #expect(count == 1)
      }
      store.close()
    }
  }
#endif
