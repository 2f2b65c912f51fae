import EntityStore
import Testing

// Trees have totals, which are sums of the totals of branches, which are sums over leaves.

private struct Tree: Entity {
  var id = RecordID<Tree>()
  var name: String
  private(set) var total = 0
  init(_ name: String) { self.name = name }
  static let branches = ToMany<Tree, Branch>(inverse: \.tree)
  static let schema = EntitySchema<Tree>(
    "Tree",
    attributes: [.init("name", \.name), .derived("total", \.total, .sum(branches, \.total))],
    relationships: [.init("branches", branches)])
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    total = try reader.read()
  }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

private struct Branch: Entity {
  var id = RecordID<Branch>()
  var tree: RecordID<Tree>?
  private(set) var total = 0
  init(_ tree: RecordID<Tree>?) { self.tree = tree }
  static let leaves = ToMany<Branch, Leaf>(inverse: \.branch)
  static let schema = EntitySchema<Branch>(
    "Branch",
    attributes: [.toOne("tree", \.tree), .derived("total", \.total, .sum(leaves, \.points))],
    relationships: [.init("leaves", leaves)])
  init(from reader: inout RecordReader) throws(StoreError) {
    tree = try reader.read()
    total = try reader.read()
  }
  func encode(into writer: inout RecordWriter) { writer.write(tree) }
}

private struct Leaf: Entity {
  var id = RecordID<Leaf>()
  var points: Int
  var branch: RecordID<Branch>?
  init(_ points: Int, _ branch: RecordID<Branch>?) {
    self.points = points
    self.branch = branch
  }
  static let schema = EntitySchema<Leaf>(
    "Leaf", attributes: [.init("points", \.points), .toOne("branch", \.branch)])
  init(from reader: inout RecordReader) throws(StoreError) {
    points = try reader.read()
    branch = try reader.read()
  }
  func encode(into writer: inout RecordWriter) {
    writer.write(points)
    writer.write(branch)
  }
}

// Texts with the words that a function finds in them.

private struct PlainText: Entity {
  var id = RecordID<PlainText>()
  var text: String
  init(_ text: String) { self.text = text }
  static let schema = EntitySchema<PlainText>("Doc", attributes: [.init("text", \.text)])
  init(from reader: inout RecordReader) throws(StoreError) { text = try reader.read() }
  func encode(into writer: inout RecordWriter) { writer.write(text) }
}

private struct RequiredWords: Entity {
  var id = RecordID<RequiredWords>()
  var text: String
  private(set) var words = JSONValue.null
  init(_ text: String) { self.text = text }
  static let schema = EntitySchema<RequiredWords>(
    "Doc",
    attributes: [
      .init("text", \.text),
      .derived(
        "words", \.words,
        .function(version: 1) { .array($0.text.split(separator: " ").map { .string(String($0)) }) }),
    ], elementIndexes: [.init(\.words)])
  init(from reader: inout RecordReader) throws(StoreError) {
    text = try reader.read()
    words = try reader.read()
  }
  func encode(into writer: inout RecordWriter) { writer.write(text) }
}

private struct OptionalWords: Entity {
  var id = RecordID<OptionalWords>()
  var text: String
  private(set) var words: JSONValue?
  init(_ text: String) { self.text = text }
  static let schema = EntitySchema<OptionalWords>(
    "Doc",
    attributes: [
      .init("text", \.text),
      .derived(
        "words", \.words,
        .function(version: 1) { .array($0.text.split(separator: " ").map { .string(String($0)) }) }),
    ], elementIndexes: [.init(\.words)])
  init(from reader: inout RecordReader) throws(StoreError) {
    text = try reader.read()
    words = try reader.read()
  }
  func encode(into writer: inout RecordWriter) { writer.write(text) }
}

/// A label that a function makes, and an index over it that some forms have.
private protocol LabelForm: Sendable {
  static var version: UInt32 { get }
  static var isIndexed: Bool { get }
}

private enum FirstForm: LabelForm {
  static let version: UInt32 = 1
  static let isIndexed = false
}

private enum FirstIndexedForm: LabelForm {
  static let version: UInt32 = 1
  static let isIndexed = true
}

private enum SecondIndexedForm: LabelForm {
  static let version: UInt32 = 2
  static let isIndexed = true
}

private struct Labelled<Form: LabelForm>: Entity {
  var id = RecordID<Labelled>()
  var name: String
  private(set) var label = ""
  init(_ name: String) { self.name = name }
  static var schema: EntitySchema<Labelled> {
    EntitySchema(
      "Labelled",
      attributes: [
        .init("name", \.name),
        .derived(
          "label", \.label, .function(version: Form.version) { "v\(Form.version) \($0.name)" }),
      ], indexes: Form.isIndexed ? [[\.label]] : [])
  }
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    label = try reader.read()
  }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

/// An entity with the label of another record.
private struct Wearer<Form: LabelForm>: Entity {
  var id = RecordID<Wearer>()
  var wears: RecordID<Labelled<Form>>?
  private(set) var label: String?
  init(_ wears: RecordID<Labelled<Form>>?) { self.wears = wears }
  static var schema: EntitySchema<Wearer> {
    EntitySchema(
      "Wearer",
      attributes: [.toOne("wears", \.wears), .derived("label", \.label, .copy(\.wears, \.label))])
  }
  init(from reader: inout RecordReader) throws(StoreError) {
    wears = try reader.read()
    label = try reader.read()
  }
  func encode(into writer: inout RecordWriter) { writer.write(wears) }
}

@Suite struct `What is derived anew when a store is opened` {
  @Test func `attributes over derived ones that a stage changes are derived again`() throws {
    try withTemporaryPath { path throws in
      let types: [any Entity.Type] = [Tree.self, Branch.self, Leaf.self]
      let store = try Store(at: path, entities: types)
      try store.write { tx throws in
        let tree = try tx.insert(Tree("t")).id
        let branch = try tx.insert(Branch(tree)).id
        try tx.insert([Leaf(1, branch), Leaf(2, branch)])
      }
      #expect(try store.fetch(Tree.all).map(\.total) == [3])
      store.close()
      let stage = MigrationStage(
        to: 1, .map("Leaf") { $0["points"] = ($0["points", as: Int.self] ?? 0) * 10 })
      let after = try Store(at: path, entities: types, migrating: [stage])
      defer { after.close() }
      #expect(try after.fetch(Branch.all).map(\.total) == [30])
      #expect(try after.fetch(Tree.all).map(\.total) == [30])
    }
  }

  @Test func `copies of an attribute whose function has a new version are derived again`() throws {
    try withTemporaryPath { path throws in
      let store = try Store(
        at: path, entities: [Labelled<FirstForm>.self, Wearer<FirstForm>.self])
      try store.write { tx throws in
        let one = try tx.insert(Labelled<FirstForm>("a")).id
        try tx.insert(Wearer<FirstForm>(one))
      }
      #expect(try store.fetch(Wearer<FirstForm>.all).map(\.label) == ["v1 a"])
      store.close()
      let after = try Store(
        at: path, entities: [Labelled<SecondIndexedForm>.self, Wearer<SecondIndexedForm>.self])
      defer { after.close() }
      #expect(try after.fetch(Labelled<SecondIndexedForm>.all).map(\.label) == ["v2 a"])
      #expect(try after.fetch(Wearer<SecondIndexedForm>.all).map(\.label) == ["v2 a"])
    }
  }

  @Test func `attributes that are derived again have entries in a new index over elements`() throws
  {
    try withTemporaryPath { path throws in
      let store = try Store(at: path, entities: [PlainText.self])
      try store.insert([PlainText("a b"), PlainText("b c")])
      store.close()
      let after = try Store(at: path, entities: [OptionalWords.self])
      defer { after.close() }
      #expect(try after.fetch(OptionalWords.all).map(\.words) == [["a", "b"], ["b", "c"]])
      #expect(try after.count(OptionalWords.where(format: "ANY words == 'b'")) == 2)
    }
  }

  @Test func `attributes derived again by a stage have entries in an index over elements`() throws {
    try withTemporaryPath { path throws in
      let store = try Store(at: path, entities: [OptionalWords.self])
      try store.insert([OptionalWords("a b"), OptionalWords("b c")])
      #expect(try store.count(OptionalWords.where(format: "ANY words == 'b'")) == 2)
      store.close()
      let stage = MigrationStage(to: 1, .map("Doc") { $0["text"] = "x y" })
      let after = try Store(at: path, entities: [OptionalWords.self], migrating: [stage])
      defer { after.close() }
      #expect(try after.count(OptionalWords.where(format: "ANY words == 'b'")) == 0)
      #expect(try after.count(OptionalWords.where(format: "ANY words == 'x'")) == 2)
    }
  }

  @Test func `an attribute that is derived again may be required JSON`() throws {
    try withTemporaryPath { path throws in
      let store = try Store(at: path, entities: [PlainText.self])
      try store.insert([PlainText("a b"), PlainText("b c")])
      store.close()
      let after = try Store(at: path, entities: [RequiredWords.self])
      defer { after.close() }
      #expect(try after.fetch(RequiredWords.all).map(\.words) == [["a", "b"], ["b", "c"]])
      #expect(try after.count(RequiredWords.where(format: "ANY words == 'b'")) == 2)
    }
  }

  @Test func `an index over an attribute that is derived again is built from the beginning`()
    async throws
  {
    let folder = try TemporaryFolder()
    let plain = try Store(at: folder.storePath, entities: [Labelled<FirstForm>.self])
    try await plain.insert((0..<25_000).map { Labelled<FirstForm>("n\($0)") })
    plain.close()
    var options = StoreOptions()
    options.buildsIndexesInUse = true
    let half = try Store(
      at: folder.storePath, entities: [Labelled<FirstIndexedForm>.self], options: options)
    while try half.indexBuilds().first.map({ $0.progress.completed == 0 }) ?? false {}
    half.close()
    let after = try Store(
      at: folder.storePath, entities: [Labelled<SecondIndexedForm>.self], options: options)
    try await after.waitForIndexes()
    typealias New = Labelled<SecondIndexedForm>
    #expect(try await after.count(New.where(format: "label == 'v1 n5'")) == 0)
    #expect(try await after.count(New.where(format: "label == 'v2 n5'").requiringIndex()) == 1)
    after.close()
    try expectSound(folder.storePath)
  }
}
