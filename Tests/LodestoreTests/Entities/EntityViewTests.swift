#if Macros
  import Lodestore
  import Testing

  @Suite struct EntityViewTests {
    @Test func `the attributes that the macro wrote are those of the schema`() throws {
      // The macro writes no attribute for a private property, but the property counts in the
      // record's layout.
      let condition = Condition<Pod> {
        $0.name == "a"
        $0.version == "b"
        $0.stars == 1
        $0.default
      }
      #expect(
        "\(condition)" == "name == \"a\" AND version == \"b\" AND stars == 1 AND default == TRUE")
      #expect("\(Condition<Specimen> { $0.optionalGrade == nil })" == "optionalGrade == NULL")
    }

    @Test func `a view reads attributes by their names`() throws {
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
