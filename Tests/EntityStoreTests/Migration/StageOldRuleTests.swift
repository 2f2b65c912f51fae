import EntityStore
import Testing

private protocol CapVersion: Sendable {
  static var constraints: [AttributeConstraint] { get }
  static var rule: String { get }
}

/// A cap with a name and a height, whose rules depend on the version.
private struct Cap<Version: CapVersion>: Entity {
  var id = RecordID<Cap>()
  var name: String
  var height: Int

  init(_ name: String, _ height: Int) {
    self.name = name
    self.height = height
  }

  static var schema: EntitySchema<Cap> {
    EntitySchema(
      "Cap",
      attributes: [
        .init("name", \.name, constraints: Version.constraints), .init("height", \.height),
      ], rules: [RecordRule("a cap is not too high", format: Version.rule)])
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    height = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(height)
  }
}

private enum Low: CapVersion {
  static let constraints: [AttributeConstraint] = [.length(...3)]
  static let rule = "height <= 10"
}

private enum High: CapVersion {
  static let constraints: [AttributeConstraint] = []
  static let rule = "height <= 100"
}

@Suite struct `Rules that the file had before a stage` {
  /// The names of the caps after `stage`, on a file with the caps a, a and b of height 5.
  private func caps(_ stage: MigrationStage) throws -> [String] {
    try withTemporaryPath { path throws in
      let old = try Store(at: path, entities: [Cap<Low>.self])
      try old.insert([Cap<Low>("a", 5), Cap<Low>("a", 5), Cap<Low>("b", 5)])
      old.close()
      let store = try Store(at: path, entities: [Cap<High>.self], migrating: [stage])
      defer { store.close() }
      return try store.fetch(Cap<High>.all).map { "\($0.name) \($0.height)" }
    }
  }

  @Test func `steps of a stage do not check the former rules of the file`() throws {
    let custom = MigrationStep.custom("higher caps") { tx in
      try tx.update("Cap", 3) {
        $0["name"] = "longer"
        $0["height"] = 50
      }
      _ = try tx.insert("Cap") {
        $0["name"] = "new one"
        $0["height"] = 60
      }
    }
    let merged = MigrationStep.deduplicate(
      "Cap", by: "name", merging: .custom { kept, _ in kept["height"] = 70 })
    let mapped = MigrationStep.map("Cap") { cap in
      if cap["name", as: String.self] == "new one" { cap["height"] = 80 }
    }
    let customized = try caps(MigrationStage(to: 1, custom))
    #expect(customized == ["a 5", "a 5", "longer 50", "new one 60"])
    #expect(try caps(MigrationStage(to: 1, merged)) == ["a 70", "b 5"])
    let both = try caps(MigrationStage(to: 1, custom, mapped))
    #expect(both == ["a 5", "a 5", "longer 50", "new one 80"])
  }

  @Test func `all steps check the rules of the declared types`() throws {
    let steps: [MigrationStep] = [
      .custom("too high") { tx in try tx.update("Cap", 1) { $0["height"] = 500 } },
      .deduplicate("Cap", by: "name", merging: .custom { kept, _ in kept["height"] = 500 }),
      .map("Cap") { if $0.id == 1 { $0["height"] = 500 } },
    ]
    for step in steps {
      let error = try storeError(.incompatibleSchema) { try caps(MigrationStage(to: 1, step)) }
      #expect(error.message.contains("after the stages"), "\(error.message)")
      #expect(error.violations.map(\.rule) == ["a cap is not too high"])
      #expect(error.recordID == 1)
    }
  }
}
