import LMDB
import LodestoreFormat
package import LodestorePages

/// Opens a store for reading, without the entity layer.
package enum StoreFileAccess {
  /// Opens the file for reading, runs `body` and closes the file.
  package static func withEnvironment<R>(
    at path: String, commit: PageChecker.Commit = .newest, _ body: (Environment) throws -> R
  ) throws -> R {
    var options = EnvironmentOptions()
    options.access = .readOnly
    options.allowsUnlockedReading = true
    // Every command that reads sets this option; see `ReadStore`.
    options.allowsAnyFileSystem = true
    let environment =
      switch commit {
      case .newest: try EnvironmentRegistry.open(path, options: options) { _ in }
      case .previous: try EnvironmentRegistry.openPrevious(path, options: options)
      }
    defer { EnvironmentRegistry.close(environment) }
    return try body(environment)
  }

  /// Runs `body` with a read transaction and all trees of its snapshot.
  ///
  /// LMDB requires handles that were opened before the transaction that uses them. The names are
  /// therefore read first, and again if another process created a tree in between. A tree that
  /// cannot be opened is a finding in the list passed to `body`.
  package static func withTrees<R>(
    of environment: Environment, limit: Int,
    _ body: ([String: Tree], Transaction, FindingList) throws -> R
  ) throws -> R {
    var findings = FindingList(limit: limit)
    var trees: [String: Tree] = [:]
    var unopened: Set<String> = []
    while true {
      for name in try environment.read({ try $0.treeNames() })
      where trees[name] == nil && !unopened.contains(name) {
        do {
          trees[name] = try environment.openExistingTree(
            name, hasIntegerKeys: TreeName(name)?.hasIntegerKeys ?? false)
        } catch let error where error.isShortage {
          throw error
        } catch {
          // Trees of later versions are not checked by this version.
          if TreeName(name) != nil {
            findings.add(.engine, .treeFlags, tree: name, "\(error)")
          }
        }
        if trees[name] == nil { unopened.insert(name) }
      }
      let result: R? = try environment.read { transaction in
        let names = try transaction.treeNames()
        guard names.allSatisfy({ trees[$0] != nil || unopened.contains($0) }) else { return nil }
        // Another process has dropped the trees that are missing now.
        return try body(trees.filter { names.contains($0.key) }, transaction, findings)
      }
      if let result { return result }
    }
  }
}
