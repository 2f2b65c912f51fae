import Foundation
import Testing

@testable import EntityStore

@Suite struct `The store against a dictionary` {
  /// `LODESTORE_MODEL_OPS` asks for a longer run.
  @Test func `random operations leave both the same, through reopening and schema changes`()
    throws
  {
    let wanted = SeededNumbers.environmentNumber("LODESTORE_MODEL_OPS") ?? 20_000
    let start = ContinuousClock.now
    let folder = try TemporaryFolder()
    var model = StoreModel()
    var numbers = SeededNumbers(salt: 1)
    var operations = 0
    while operations < wanted {
      let count = min(wanted - operations, 1500)
      operations += try run(
        FirstItem.self, count, &model, &numbers, folder.storePath, isSynced: operations == 0)
      model.resetExtra()
      operations += try run(SecondItem.self, count, &model, &numbers, folder.storePath)
      model.resetExtra()
    }
    print("\(operations) operations against the model in \(ContinuousClock.now - start)")
  }

  /// About `count` operations on one version of the entity, closing and reopening now and then.
  private func run<Item: ModelItem>(
    _: Item.Type, _ count: Int, _ model: inout StoreModel, _ numbers: inout SeededNumbers,
    _ path: String, isSynced: Bool = false
  ) throws -> Int {
    var options = StoreOptions()
    options.durability = isSynced ? .full : .mayLoseLastCommit
    options.verifiesChecksums = true
    var run = ModelRun<Item>(model: model, numbers: numbers)
    var isFirst = true
    while run.operations < count {
      let store = try Store(at: path, entities: [Item.self], options: options)
      if isFirst { try store.read { try run.compareContents($0) } }
      isFirst = false
      repeat {
        for _ in 0..<20 where run.operations < count { try run.runTransaction(on: store) }
        try store.read { try run.compareContents($0) }
        try expectSound(store)
      } while run.operations < count && !run.numbers.oneIn(5)
      store.close()
      try expectSound(path)
    }
    (model, numbers) = (run.model, run.numbers)
    return run.operations
  }
}
