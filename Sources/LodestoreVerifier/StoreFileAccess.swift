import LMDB
import LodestoreFormat
package import LodestorePages

/// Opens a store for reading, without the entity layer.
package enum StoreFileAccess {
  /// Runs `body` with the file opened for reading, and closes it.
  package static func withEnvironment<R>(
    at path: String, commit: PageChecker.Commit = .newest, _ body: (Environment) throws -> R
  ) throws -> R {
    var options = EnvironmentOptions()
    options.access = .readOnly
    options.allowsUnlockedReading = true
    // As for every command that reads: see `ReadStore`.
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
  /// LMDB wants handles made before the transaction that uses them, so the names are read first,
  /// and again when another process made a tree in between. A tree that cannot be opened is a
  /// finding in the list that `body` gets.
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
          // What later versions keep in a tree is not for this one to judge.
          if TreeName(name) != nil {
            findings.add(Finding(.engine, .treeFlags, tree: name, "\(error)"))
          }
        }
        if trees[name] == nil { unopened.insert(name) }
      }
      let result: R? = try environment.read { transaction in
        let names = try transaction.treeNames()
        guard names.allSatisfy({ trees[$0] != nil || unopened.contains($0) }) else { return nil }
        // Trees that are gone by now were dropped by another process.
        return try body(trees.filter { names.contains($0.key) }, transaction, findings)
      }
      if let result { return result }
    }
  }
}
