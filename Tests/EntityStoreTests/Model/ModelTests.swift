import Foundation
import Testing

@testable import EntityStore

@Suite struct `The store against a dictionary` {
  /// The state that passes from one version of the entity to the next.
  private struct Progress {
    var model = StoreModel()
    var tags = TagModel()
    var numbers = SeededNumbers(salt: 1)
    var freshKeys = 0
    var operations = 0
  }

  /// Runs one round of all versions by default.
  ///
  /// The variable `LODESTORE_MODEL_OPS` sets a higher number of operations.
  @Test func `random operations leave store and dictionary equal, through schema changes`()
    async throws
  {
    let wanted = SeededNumbers.environmentNumber("LODESTORE_MODEL_OPS") ?? 4_800
    let start = ContinuousClock.now
    let folder = try TemporaryFolder()
    var progress = Progress()
    while progress.operations < wanted {
      let count = min(wanted - progress.operations, 1500)
      // The first version lacks the attribute, so opening with it removes the attribute from the
      // file.
      progress.model.resetExtra()
      try await run(FirstVersion.self, count, &progress, folder.storePath)
      try await run(SecondVersion.self, count, &progress, folder.storePath)
      try await run(PartVersion.self, count, &progress, folder.storePath)
      try await run(SecondVersion.self, count / 4, &progress, folder.storePath)
    }
    print("\(progress.operations) operations against the model in \(ContinuousClock.now - start)")
  }

  /// The variable `LODESTORE_MODEL_BATCH` sets the number of records.
  ///
  /// With 300,000 there are more records than a delete collects at a time.
  @Test func `batches beyond one core and memory leave store and dictionary equal`() throws {
    let count = SeededNumbers.environmentNumber("LODESTORE_MODEL_BATCH") ?? 21_000
    var numbers = SeededNumbers(salt: 2)
    for (memory, interest, count) in [
      (1 << 16, nil, count),
      (512 << 20, ChangeInterest([.oldRecord, .newRecord, .attributes]), count / 8),
    ] {
      var options = StoreOptions()
      options.batchMemoryInBytes = memory
      try withTemporaryStore([ModelItem<SecondVersion>.self, ModelTag.self], options: options) {
        store in
        var run = ModelRun<SecondVersion>(
          model: StoreModel(), tags: TagModel(), numbers: numbers, freshKeys: 0)
        run.recording = interest.map { ChangeRecording($0) }
        run.recording?.listen(to: store)
        for _ in 0..<10 { try run.runTransaction(on: store) }
        try run.runLargeTransaction(on: store, count: count)
        for _ in 0..<10 { try run.runTransaction(on: store) }
        try store.read { try run.compareContents($0) }
        numbers = run.numbers
      }
    }
  }

  /// Makes about `count` operations on one version of the entity, and sometimes closes and reopens
  /// the store.
  private func run<Version: ModelVersion>(
    _: Version.Type, _ count: Int, _ progress: inout Progress, _ path: String
  ) async throws {
    var run = ModelRun<Version>(
      model: progress.model, tags: progress.tags, numbers: progress.numbers,
      freshKeys: progress.freshKeys)
    var isFirst = true
    while run.operations < count {
      let options = randomOptions(&run.numbers, isSynced: progress.operations == 0)
      let store = try Store(
        at: path, entities: [ModelItem<Version>.self, ModelTag.self], options: options)
      run.recording = randomInterest(&run.numbers).map { ChangeRecording($0) }
      run.recording?.listen(to: store)
      if isFirst { try store.compare(with: run) }
      isFirst = false
      repeat {
        for _ in 0..<20 where run.operations < count { try run.runTransaction(on: store) }
        try await run.runStep(on: store)
        try store.compare(with: run)
        try expectSound(store)
      } while run.operations < count && !run.numbers.oneIn(5)
      store.close()
      try expectSound(path)
    }
    progress.model = run.model
    progress.tags = run.tags
    progress.numbers = run.numbers
    progress.freshKeys = run.usedKeys
    progress.operations += run.operations
  }

  private func randomOptions(_ numbers: inout SeededNumbers, isSynced: Bool) -> StoreOptions {
    var options = StoreOptions()
    options.durability = isSynced ? .full : .mayLoseLastCommit
    options.verifiesChecksums = numbers.oneIn(2)
    // With little memory, merges run in parts and index entries go into scratch files.
    options.batchMemoryInBytes = [512 << 20, 1 << 12, 1 << 15][numbers.below(3)]
    // Writes run again when the map has grown.
    if numbers.oneIn(3) { options.mapSizeInBytes = 1 << 20 }
    return options
  }

  /// The store uses different code without a sink, with a sink, and with a sink that needs bytes.
  private func randomInterest(_ numbers: inout SeededNumbers) -> ChangeInterest? {
    let interests: [ChangeInterest?] = [
      nil, [], .attributes, .eachRemoval, [.newRecord],
      [.oldRecord, .newRecord, .attributes, .eachRemoval],
    ]
    return interests[numbers.below(interests.count)]
  }
}

extension Store {
  /// Compares the whole content of the store with the model of the run.
  fileprivate func compare<Version>(with run: ModelRun<Version>) throws {
    try read { try run.compareContents($0) }
  }
}
