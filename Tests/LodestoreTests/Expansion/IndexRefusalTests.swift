#if Macros
  import Testing

  @Suite struct IndexRefusalTests {
    /// The source of an entity with `index` in the place of its index.
    private func pod(_ index: String) -> String {
      """
      @Entity struct Pod {
        \(index)
        var name: String
        var version: String
        var tags: [String]
        var authors: JSONValue?
        @Transient var isOpen = false
        var title: String { name }
        static let limit = 1
      }
      """
    }

    @Test(
      arguments: [
        ("nmae", "name"), ("Name", "name"), ("versions", "version"), ("verison", "version"),
      ]) func `a misspelled path gets the nearest property as a fix`(written: String, meant: String)
      throws
    {
      try expectRefusal(
        of: pod("#Index<Pod>([\\.\(written)])"), at: "\\.\(written)",
        "cannot index '\(written)': 'Pod' has no stored property of that name; did you mean "
          + "'\(meant)'?",
        fixes: [("replace it by '\(meant)'", pod("#Index<Pod>([\\.\(meant)])"))])
    }

    @Test func `an unknown path without a similar property gets its removal as a fix`() throws {
      try expectRefusal(
        of: pod("#Unique<Pod>([\\.name, \\.downloads])"), at: "\\.downloads",
        "cannot index 'downloads': 'Pod' has no stored property of that name; name a stored "
          + "property",
        fixes: [("remove the key path", pod("#Unique<Pod>([\\.name])"))])
    }

    @Test(arguments: [("isOpen", "@Transient"), ("title", "computed"), ("limit", "static")])
    func `a path to a property that is not stored gets its removal as a fix`(
      name: String, kind: String
    ) throws {
      try expectRefusal(
        of: pod("#Index<Pod>([\\.\(name), \\.name])"), at: "\\.\(name)",
        "cannot index '\(name)': it is \(kind) and not stored; name a stored property",
        fixes: [("remove the key path", pod("#Index<Pod>([\\.name])"))])
    }

    @Test func `a path to the id gets its removal as a fix`() throws {
      try expectRefusal(
        of: pod("#Index<Pod>([\\.id, \\.name])"), at: "\\.id",
        "cannot index 'id': records are found by id without an index; remove it",
        fixes: [("remove the key path", pod("#Index<Pod>([\\.name])"))])
    }

    @Test(arguments: [("tags", "an array"), ("authors", "a JSONValue")])
    func `a path to a collection next to other paths gets its removal as a fix`(
      name: String, kind: String
    )
      throws
    {
      try expectRefusal(
        of: pod("#Index<Pod>([\\.name, \\.\(name)])"), at: "\\.\(name)",
        "cannot index '\(name)' so: it is \(kind), whose elements have an #Index of their own; remove "
          + "it here",
        fixes: [("remove the key path", pod("#Index<Pod>([\\.name])"))])
    }

    @Test func `a single path to a collection stays, and a path without an order is removed`()
      throws
    {
      let answer = try expand(pod("#Index<Pod>([\\.tags], [\\.authors])"))
      #expect(answer.errors.isEmpty)
      #expect(answer.expanded.contains("indexes: [[\\.tags], [\\.authors]]"), "\(answer.expanded)")
    }

    @Test func `an empty list of paths gets its removal as a fix`() throws {
      try expectRefusal(
        of: pod("#Index<Pod>([\\.name], [])"), at: "[])",
        "cannot make an index of nothing: its list is empty; name an attribute",
        fixes: [("remove the index", pod("#Index<Pod>([\\.name])"))])
      try expectRefusal(
        of: pod("#Index<Pod>([])"), at: "[])",
        "cannot make an index of nothing: its list is empty; name an attribute")
      try expectRefusal(
        of: pod("#Index<Pod>()"), at: "#",
        "cannot make an index of nothing: its list is empty; name an attribute")
    }

    @Test func `a repeated path gets its removal as a fix`() throws {
      try expectRefusal(
        of: pod("#Index<Pod>([\\.name, \\.version, \\Pod.name])"), at: "\\Pod.name",
        "cannot index 'name' twice in one index; remove it",
        fixes: [("remove the key path", pod("#Index<Pod>([\\.name, \\.version])"))])
    }

    @Test func `a repeated index gets its removal as a fix`() throws {
      try expectRefusal(
        of: pod("#Unique<Pod>([\\.name, \\.version], [\\.name], [\\Self.name, \\.version])"),
        at: "[\\Self.name",
        "cannot declare the index on 'name', 'version' twice; remove one",
        fixes: [("remove the index", pod("#Unique<Pod>([\\.name, \\.version], [\\.name])"))])
    }

    @Test(arguments: ["\\.name.count", "\\.tags[0]", "\\.authors?.first", "\\.name.utf8.count"])
    func `a nested path is refused`(path: String) throws {
      try expectRefusal(
        of: pod("#Index<Pod>([\(path)])"), at: path,
        "cannot index '\(path)': a nested value is stored inside of its attribute; make it an "
          + "attribute of its own, by @Derived(.member(…)) for instance")
    }

    @Test(arguments: ["?", "!"]) func `an optional chain gets its attribute as a fix`(mark: String)
      throws
    {
      try expectRefusal(
        of: pod("#Index<Pod>([\\.name\(mark)])"), at: "\\.name",
        "cannot index '\\.name\(mark)': an optional attribute is indexed whole, with null first; "
          + "remove the '?' or '!'",
        fixes: [("replace it by '\\.name'", pod("#Index<Pod>([\\.name])"))])
    }

    @Test func `an index of another entity gets this entity as a fix`() throws {
      try expectRefusal(
        of: pod("#Index<Film>([\\.name])"), at: "Film",
        "cannot index 'Film' inside 'Pod': an index belongs to the struct it stands in; write 'Pod'",
        fixes: [("replace it by 'Pod'", pod("#Index<Pod>([\\.name])"))])
      try expectRefusal(
        of: pod("#Index([\\Film.name])"), at: "Film",
        "cannot index 'Film' inside 'Pod': an index belongs to the struct it stands in; write 'Pod'",
        fixes: [("replace it by 'Pod'", pod("#Index([\\Pod.name])"))])
    }

    @Test(arguments: ["paths", "[path]", "[\\.self]", "[\\.[0]]"])
    func `an argument that is no list of paths is refused`(list: String) throws {
      let answer = try expand(pod("#Index<Pod>(\(list))"))
      #expect(answer.errors.count == 1)
      #expect(answer.errors.first?.hasPrefix("cannot ") == true)
    }

    @Test func `an index in a condition is refused`() throws {
      try expectRefusal(
        of: pod("#if DEBUG\n#Index<Pod>([\\.name])\n#endif"), at: "#Index",
        "cannot read #Index inside '#if': @Entity does not see which branch is compiled; move it "
          + "out")
    }

    @Test func `the qualified name of the struct is accepted`() throws {
      let answer = try expand(
        "enum Model { @Entity struct Pod { #Index<Model.Pod>([\\.a]); var a: Int } }")
      #expect(answer.errors == [])
      #expect(answer.expanded.contains("indexes: [[\\.a]])"))
    }
  }
#endif
