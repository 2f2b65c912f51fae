// Deprecated names of version 0.1.0 of the library.

public import LodestoreEssentials

extension Store {
  /// The former name of `updates(_:)`.
  @available(*, deprecated, renamed: "updates(_:)")
  public func values<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> Value
  ) -> ValueUpdates<Value> { updates(body) }

  /// The former name of `updates(_:)` for values that can be compared.
  @available(*, deprecated, renamed: "updates(_:)")
  public func values<Value: Equatable & Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> Value
  ) -> ValueUpdates<Value> { updates(body) }

  /// The former name of ``schemaChanges(at:opening:migrating:)``.
  @available(*, deprecated, renamed: "schemaChanges(at:opening:migrating:)")
  public static func changes(
    at path: String, opening entities: [any Entity.Type], migrating stages: [MigrationStage] = []
  ) throws(StoreError) -> [SchemaChange] {
    try schemaChanges(at: path, opening: entities, migrating: stages)
  }

  /// The former name of `purgeConsumedHistory(andAllBefore:)`.
  @available(*, deprecated, renamed: "purgeConsumedHistory(andAllBefore:)")
  @discardableResult
  public func purgeConsumedHistory(orBefore date: Date?) throws -> Int {
    try purgeConsumedHistory(andAllBefore: date)
  }

  /// The former name of `purgeConsumedHistory(andAllBefore:)`.
  @available(*, deprecated, renamed: "purgeConsumedHistory(andAllBefore:)")
  @discardableResult
  public func purgeConsumedHistory(orBefore date: Date?) async throws -> Int {
    try await purgeConsumedHistory(andAllBefore: date)
  }
}

extension WriteTransaction {
  /// The former name of ``purgeConsumedHistory(andAllBefore:)``.
  @available(*, deprecated, renamed: "purgeConsumedHistory(andAllBefore:)")
  @discardableResult
  public func purgeConsumedHistory(orBefore date: Date?) throws -> Int {
    try purgeConsumedHistory(andAllBefore: date)
  }
}
