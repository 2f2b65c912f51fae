import ArgumentParser
import EntityStore
import LMDB
import LodestoreBytes
import LodestoreFormat
import LodestorePages

/// `kvdump keys`: keys and bodies as bytes, for stores whose content cannot be interpreted.
struct KeysCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys", abstract: "Show the trees, or the keys and bodies of one, as bytes.",
    discussion: """
      Example: kvdump keys catalog.lodestore index.2.1 --prefix '02 41 46'

      At most the first mebibyte of a body is shown; … follows if there is more.
      """)

  /// The maximum number of bytes shown of a body.
  ///
  /// The limit bounds memory use, because several copies of the body's digits are in memory.
  private static let longestBody = 1 << 20

  @OptionGroup var store: StoreArgument

  @Argument(help: "The tree; without it, all trees are listed.") var tree: String?

  @Option(help: .value("Start at this key, in hexadecimal.", "bytes")) var from: HexBytes?

  @Option(help: .value("End before this key, in hexadecimal.", "bytes")) var to: HexBytes?

  @Option(help: .value("Show only keys with this prefix, in hexadecimal.", "bytes"))
  var prefix: HexBytes?

  @Flag(help: "Show keys from the high end to the low end.") var reverse = false

  @OptionGroup(title: "Selection") var rows: RowOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    try refuse(
      if: prefix != nil && (from != nil || to != nil),
      "--prefix: already says where to start and end; leave --from and --to")
  }

  func run(on console: Console) async throws -> ExitStatus {
    try ReadStore.withEnvironment(store.path, on: console) { environment in
      let names = try environment.read { try $0.treeNames() }
      guard names.contains(TreeName.header.text) else {
        throw CommandFailure.notAStore(
          store.path, reason: "an LMDB file without a tree 'lodestore'")
      }
      if let tree {
        guard names.contains(tree), let opened = try open(tree, environment) else {
          throw UnknownName(kind: .tree, name: tree, known: names)
        }
        try writePairs(of: opened, in: environment, on: console)
      } else {
        try writeTrees(names, in: environment, on: console)
      }
    }
    return .success
  }

  private func open(_ name: String, _ environment: Environment) throws -> Tree? {
    let isRecords = if case .records = TreeName(name) { true } else { false }
    do {
      return try environment.openExistingTree(name, hasIntegerKeys: isRecords)
    } catch {
      // A tree of a later version may have either kind of keys.
      guard TreeName(name) == nil, error.name == "MDB_INCOMPATIBLE" else { throw error }
      return try environment.openExistingTree(name, hasIntegerKeys: true)
    }
  }

  /// The readable part of the catalogue.
  private func entities(in catalogue: Tree?, _ transaction: Transaction) -> [EntityDescription] {
    guard let catalogue else { return [] }
    var entities: [EntityDescription] = []
    try? transaction.forEachPair(of: catalogue) { key, body in
      guard let number = CatalogueKey.entityNumber(key),
        let content = try? Checksum.unsealed(key: key, body: body),
        let document = try? Document(decoding: content),
        let entity = try? EntityDescription(number: number, document: document)
      else { return }
      entities.append(entity)
    }
    return entities
  }

  private func writeTrees(
    _ names: [String], in environment: Environment, on console: Console
  ) throws {
    let catalogue = try open(TreeName.catalogue.text, environment)
    let trees = try names.compactMap { try open($0, environment) }
    try environment.read { transaction in
      let entities = entities(in: catalogue, transaction)
      let rows = try trees.map { tree -> [Cell] in
        let facts = try transaction.statistics(of: tree)
        let content = RawTree(tree, entities: entities).content
        return [
          .text(tree.name), .count(facts.entries), .count(facts.depth),
          content.map(Cell.text) ?? .null,
        ]
      }
      try console.write(rows, of: ["tree", "entries", "depth", "content"])
    }
  }

  private func writePairs(of tree: Tree, in environment: Environment, on console: Console) throws {
    let catalogue = try open(TreeName.catalogue.text, environment)
    try environment.read { transaction in
      let raw = RawTree(tree, entities: entities(in: catalogue, transaction))
      let shown = ShownRows(["key", "body", "decoded"], rows, on: console)
      var cutCount = 0
      func visit(_ key: ByteView, _ body: ByteView) throws -> Bool {
        try shown.show {
          let isCut = body.count > Self.longestBody
          if isCut { cutCount += 1 }
          return [
            .text(Finding.hexadecimal(key)),
            .text(Finding.hexadecimal(body.prefix(Self.longestBody)) + (isCut ? "…" : "")),
            raw.decoded(key, body, isLong: isCut).map(Cell.text) ?? .null,
          ]
        }
      }
      let cursor = try Cursor(tree, in: transaction)
      if raw.hasIntegerKeys {
        try walkRecords(cursor, visit)
      } else {
        try cursor.walk(range, backwards: reverse, visit)
      }
      if cutCount > 0 {
        let noun = cutCount == 1 ? "body is" : "bodies are"
        console.note("\(NumberText.grouped(cutCount)) \(noun) longer than 1 MiB, and cut there")
      }
      let isWhole = from == nil && to == nil && prefix == nil
      try shown.finish(total: isWhole ? try transaction.count(of: tree) : nil, noun: "pairs")
    }
  }

  private var range: KeyRange {
    if let prefix { return .prefix(prefix.bytes) }
    return KeyRange(
      lower: from.map { .included($0.bytes) } ?? .unbounded,
      upper: to.map { .excluded($0.bytes) } ?? .unbounded)
  }

  /// Visits integer keys in numeric order, which is not the order of their bytes.
  private func walkRecords(
    _ cursor: Cursor,
    _ visit: (ByteView, ByteView) throws -> Bool
  ) throws {
    let lower = try number(prefix) ?? number(from) ?? 0
    let upper = try number(prefix).map { $0 &+ 1 } ?? number(to) ?? .max
    var found = try reverse ? cursor.last() : cursor.seek(atOrAfter: lower)
    if reverse, to != nil || prefix != nil {
      found = try cursor.seek(atOrAfter: upper) ? cursor.previous() : cursor.last()
    }
    while found {
      let key = cursor.integerKey
      guard reverse ? key >= lower : key < upper else { return }
      guard try visit(cursor.key, cursor.value) else { return }
      found = try reverse ? cursor.previous() : cursor.next()
    }
  }

  private func number(_ key: HexBytes?) throws -> UInt64? {
    guard let bytes = key?.bytes else { return nil }
    guard bytes.count == 8 else {
      throw CommandFailure.badArgument(
        Finding.hexadecimal(bytes), reason: "has \(bytes.count) bytes, keys of this tree have 8",
        nextStep: "write a record id as 8 bytes, the lowest first")
    }
    return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
