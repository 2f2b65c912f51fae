internal import LMDB
internal import LodestoreFormat
internal import LodestorePages

/// Copies one commit into a sealed file, or into an unsealed store; see Format.md, "Sealed files".
///
/// Every checksum and digest of the content is verified, so damage is never sealed.
struct SealRun {
  private let core: StoreCore
  private let environment: Environment
  private let step: (_ done: Int, _ total: Int) -> Bool

  init(_ core: StoreCore, step: @escaping (_ done: Int, _ total: Int) -> Bool) {
    self.core = core
    environment = core.environment
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
      // Handles must be opened before the transaction that reads through them.
      for name in try environment.read({ try $0.treeNames() }) where trees[name] == nil {
        guard let known = TreeName(name) else { throw StoreError.unknownPart("the tree '\(name)'") }
        trees[name] = try environment.openExistingTree(
          name, hasIntegerKeys: known.hasIntegerKeys)
      }
      let opened = trees
      let result: SealDescription?? = try environment.read { transaction in
        let names = try transaction.namedTrees()
        guard names.allSatisfy({ opened[$0.name] != nil }) else { return .none }
        var copy = try SealCopy(
          transaction: transaction, trees: opened, header: core.trees.header, writer: writer,
          total: names.reduce(0) { $0 + Int(clamping: $1.entryCount) }, step: step)
        let description = try copy.run(core.trees, seal)
        writer = copy.writer
        return .some(description)
      }
      if let result { return result }
    }
  }
}
