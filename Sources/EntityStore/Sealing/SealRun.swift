internal import LMDB
internal import LodestoreFormat
internal import LodestorePages

/// Copies one commit into a sealed file, or into an unsealed store; see Format.md, "Sealed files".
///
/// Every checksum and digest of the content is verified, so damage is never sealed.
struct SealRun {
  private let core: StoreCore
  private let environment: Environment
  /// Whether records are copied byte for byte, with values of removed attributes.
  private let isExact: Bool
  private let step: (_ done: Int, _ total: Int) -> Bool

  init(
    _ core: StoreCore, isExact: Bool = false,
    step: @escaping (_ done: Int, _ total: Int) -> Bool
  ) {
    self.core = core
    environment = core.environment
    self.isExact = isExact
    self.step = step
  }

  /// Writes the file; returns the seal with counts, fingerprint and digest.
  func write(
    to path: String, _ seal: SealDescription
  ) throws -> (SealDescription, PageFileWriter.Written) {
    var described = seal
    let written = try SealedFile.make(at: path, of: environment) { writer in
      if let written = try write(seal, into: &writer) { described = written }
    }
    return (described, written)
  }

  /// Writes the file from an open transaction, which reads through the handles of `trees`.
  func write(
    to path: String, _ seal: SealDescription, reading transaction: Transaction,
    _ trees: [String: Tree]
  ) throws -> (SealDescription, PageFileWriter.Written) {
    var described = seal
    let written = try SealedFile.make(at: path, of: environment) { writer in
      if let copied = try copy(transaction, trees, seal, into: &writer) { described = copied }
    }
    return (described, written)
  }

  /// Writes an unsealed store with this content, which can be changed.
  func writeUnsealed(to path: String) throws {
    _ = try SealedFile.make(at: path, of: environment, isSealed: false) { writer in
      _ = try write(nil, into: &writer)
    }
  }

  /// Reads all trees at one commit, and copies them to `writer`.
  private func write(
    _ seal: SealDescription?, into writer: inout PageFileWriter
  ) throws -> SealDescription? {
    var trees: [String: Tree] = [:]
    while true {
      try openTrees(&trees)
      let opened = trees
      let result: SealDescription?? = try environment.read { transaction in
        guard try transaction.namedTrees().allSatisfy({ opened[$0.name] != nil }) else {
          return .none
        }
        return .some(try copy(transaction, opened, seal, into: &writer))
      }
      if let result { return result }
    }
  }

  /// Adds the handles of all trees of the newest commit.
  ///
  /// Handles must be opened before the transaction that reads through them.
  func openTrees(_ trees: inout [String: Tree]) throws {
    for name in try environment.read({ try $0.treeNames() }) where trees[name] == nil {
      guard let known = TreeName(name) else { throw StoreError.unknownPart("the tree '\(name)'") }
      trees[name] = try environment.openExistingTree(name, hasIntegerKeys: known.hasIntegerKeys)
    }
  }

  private func copy(
    _ transaction: Transaction, _ trees: [String: Tree], _ seal: SealDescription?,
    into writer: inout PageFileWriter
  ) throws -> SealDescription? {
    let total = try transaction.namedTrees().reduce(0) { $0 + Int(clamping: $1.entryCount) }
    var copy = try SealCopy(
      transaction: transaction, trees: trees, header: core.trees.header, writer: writer,
      total: total, isExact: isExact, step: step)
    let description = try copy.run(core.trees, seal)
    writer = copy.writer
    return description
  }
}
