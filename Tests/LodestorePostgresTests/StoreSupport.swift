#if Postgres
  import EntityStore
  import Foundation
  import LodestoreBytes
  import LodestoreFormat
  import Testing

  @testable import LodestorePostgres

  /// Runs `body` with the path of a store in a new folder, which is removed afterwards.
  func withStorePath(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.appendingPathComponent("a.lodestore").path)
  }

  /// Runs `body` with a new store.
  func withStore(
    _ entities: [any Entity.Type] = [], _ body: (Store) async throws -> Void
  ) async throws {
    try await withStorePath { path in
      let store = try Store(at: path, entities: entities)
      defer { store.close() }
      try await body(store)
    }
  }

  /// A source that connects again at once.
  func source(_ server: PostgresServer, _ tables: String...) -> PostgresSource {
    source(server, tables.map { PostgresTable($0) })
  }

  func source(_ server: PostgresServer, _ tables: [PostgresTable]) -> PostgresSource {
    var source = PostgresSource(server.parameters, slot: "cache", tables: tables)
    source.options.firstWait = .milliseconds(50)
    return source
  }

  /// The texts of the values of each record, in the order of their texts.
  func rows(_ store: Store, _ name: String) throws -> [String] {
    try store.read { transaction in
      let snapshot = transaction.dynamicSnapshot
      let entity = try #require(snapshot.entity(named: name))
      var rows: [String] = []
      try snapshot.forEachRecord(of: entity) { record in
        let reader = try record.reader()
        let values = try entity.description.declaredAttributes.map { attribute in
          text(try reader.value(of: attribute))
        }
        rows.append(values.joined(separator: " "))
        return true
      }
      return rows.sorted()
    }
  }

  private func text(_ value: Value) -> String {
    switch value {
    case .null: "-"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .double(let value): "\(value)"
    case .date(let value): "date:\(value)"
    case .uuid(let value): UUIDText.text(value.high, value.low)
    case .decimal(let value):
      PostgresNumeric(
        isNegative: value.isNegative, isNaN: value.isNaN, exponent: Int(value.exponent),
        significand: value.significand
      ).text
    case .string(let value): value.count > 20 ? "\(value.count) characters" : value
    case .data(let value): "\(value)"
    case .document:
      (try? PostgresValue(value, for: .jsonb)).map { json in
        if case .json(let text) = json { text } else { "?" }
      } ?? "?"
    }
  }

  /// Waits until a condition holds, for at most two minutes.
  func wait(until condition: () throws -> Bool) async throws {
    let limit = Date(timeIntervalSinceNow: 120)
    while try !condition() {
      try #require(Date() < limit, "the condition did not hold within two minutes")
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  /// The error that ends a follower.
  func failure(of follower: PostgresFollower) async -> PostgresError? {
    await #expect(throws: PostgresError.self) { try await follower.finished() }
  }
#endif
