internal import LMDB
internal import LodestoreFormat

extension StoreCore {
  /// Tells in the history that records of these entities may have changed of which nothing was told: the
  /// history of the entity begins here, or a stage has changed it.
  func tellRestarts(of numbers: Set<EntityNumber>, in transaction: Transaction) throws {
    let core = try writing(transaction)
    let entities = core.schema.entities.filter {
      numbers.contains($0.number) && $0.description.history != nil
    }
    guard !entities.isEmpty else { return }
    let log = try HistoryLog(writing: core)
    try log.append(
      number: try log.lastNumber() + 1,
      origin: WriteOrigin(author: options.author, context: options.contextName),
      time: core.time,
      changes: entities.map {
        HistoryPart.Change(entity: $0.number, kind: .restarted, ids: IDRuns())
      }, links: [])
  }
}

extension DeclaredEntity {
  /// - Parameter option: what holds where the declaration says nothing.
  func keepingHistory(_ option: StoreOptions.History?) -> DeclaredEntity {
    guard history == nil, let option else { return self }
    var result = self
    result.history =
      switch option {
      case .off: .off
      case .changes: .kept(images: false, preserved: [])
      case .images: .kept(images: true, preserved: [])
      }
    return result
  }
}
