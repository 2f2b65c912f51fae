import LodestoreFormat
import Testing

@testable import LodestoreReplicas

@Suite("The keeper of a lease")
struct LeaseKeeperTests {
  private let folder: StorageFolder
  private let real: FolderStorage

  init() throws {
    folder = try StorageFolder()
    real = try FolderStorage(path: folder.path)
  }

  /// A storage that accepts the condition `If-Match` and ignores it, as some services do.
  private struct IgnoringStorage: ObjectStorage {
    let real: FolderStorage
    var place: String { real.place }

    func get(
      _ key: ObjectKey, range: Range<UInt64>?, byteLimit: Int
    ) async throws(StorageError) -> StoredObject {
      try await real.get(key, range: range, byteLimit: byteLimit)
    }

    func put(
      _ content: ObjectContent, at key: ObjectKey, if condition: PutCondition
    ) async throws(StorageError) -> ObjectTag {
      if case .matches = condition { return try await real.put(content, at: key, if: .none) }
      return try await real.put(content, at: key, if: condition)
    }

    func head(_ key: ObjectKey) async throws(StorageError) -> ObjectHead {
      try await real.head(key)
    }

    func list(
      prefix: String, after: String?, limit: Int
    ) async throws(StorageError) -> ObjectPage {
      try await real.list(prefix: prefix, after: after, limit: limit)
    }

    func delete(_ key: ObjectKey) async throws(StorageError) { try await real.delete(key) }
  }

  private func storage(_ ignoresTags: Bool) -> MeteredStorage {
    MeteredStorage(ignoresTags ? IgnoringStorage(real: real) : real)
  }

  private func lease(_ keeper: LeaseKeeper, _ epoch: UInt64, _ until: Double) -> Lease {
    Lease(
      holder: "m", epoch: epoch, until: until, milliseconds: 90_000, session: keeper.session)
  }

  private func stored() async throws -> Lease? {
    try await LeaseKeeper.find(on: MeteredStorage(real))?.lease
  }

  @Test(arguments: [false, true])
  func `a later epoch keeps its lease, and an earlier one loses it`(
    ignoresTags: Bool
  ) async throws {
    let storage = storage(ignoresTags)
    var one = LeaseKeeper(session: .random)
    var two = LeaseKeeper(session: .random)
    #expect(try await one.renew(lease(one, 1, 1), on: storage) == .renewed)
    #expect(one.support == (ignoresTags ? .ignored : .checked))
    #expect(try await one.renew(lease(one, 1, 2), on: storage) == .renewed)
    let later = lease(two, 2, 3)
    #expect(try await two.renew(later, on: storage) == .renewed)
    #expect(try await one.renew(lease(one, 1, 4), on: storage) == .taken(later))
    #expect(try await stored() == later)
    // The first writer has found no fence in the log.
    one.ignored = later
    #expect(try await one.renew(lease(one, 1, 5), on: storage) == .renewed)
    #expect(try await stored()?.session == one.session)
    // A renewal of that lease counts again.
    let renewed = lease(two, 2, 6)
    #expect(try await two.renew(renewed, on: storage) == .renewed)
    #expect(try await one.renew(lease(one, 1, 7), on: storage) == .taken(renewed))
  }

  @Test(arguments: [false, true])
  func `a writer removes its lease and an earlier one, and no later one`(
    ignoresTags: Bool
  ) async throws {
    let storage = storage(ignoresTags)
    var one = LeaseKeeper(session: .random)
    var two = LeaseKeeper(session: .random)
    _ = try await one.renew(lease(one, 1, 1), on: storage)
    _ = try await two.renew(lease(two, 2, 1), on: storage)
    await one.release(epoch: 1, on: storage)
    #expect(try await stored()?.session == two.session)
    await two.release(epoch: 2, on: storage)
    #expect(try await stored() == nil)
    _ = try await one.renew(lease(one, 1, 1), on: storage)
    await two.release(epoch: 2, on: storage)
    #expect(try await stored() == nil)
    // A renewal creates the lease again.
    #expect(try await one.renew(lease(one, 1, 2), on: storage) == .renewed)
  }

  @Test(arguments: StorageServer.Product.trusted)
  func `leases are renewed and claimed on servers`(on product: StorageServer.Product) async throws {
    guard let server = try StorageServer(product) else { return }
    defer { withExtendedLifetime(server) {} }
    let storage = MeteredStorage(try server.storage("lease"))
    var one = LeaseKeeper(session: .random)
    var two = LeaseKeeper(session: .random)
    for until in 1...3 {
      #expect(try await one.renew(lease(one, 1, Double(until)), on: storage) == .renewed)
    }
    let seen = try await LeaseKeeper.find(on: storage)?.bytes
    let later = lease(two, 2, 4)
    #expect(try await two.claim(later, insteadOf: seen, on: storage))
    #expect(try await !one.claim(lease(one, 3, 5), insteadOf: seen, on: storage))
    #expect(try await one.renew(lease(one, 1, 5), on: storage) == .taken(later))
    await two.release(epoch: 2, on: storage)
    #expect(try await one.renew(lease(one, 1, 6), on: storage) == .renewed)
    #expect(one.support == .checked)
  }

  @Test func `of two claims in place of one lease, one is accepted`() async throws {
    let storage = storage(false)
    var writer = LeaseKeeper(session: .random)
    _ = try await writer.renew(lease(writer, 1, 1), on: storage)
    let seen = try await LeaseKeeper.find(on: storage)?.bytes
    var one = LeaseKeeper(session: .random)
    var two = LeaseKeeper(session: .random)
    #expect(try await one.claim(lease(one, 2, 2), insteadOf: seen, on: storage))
    #expect(try await !two.claim(lease(two, 2, 2), insteadOf: seen, on: storage))
    #expect(try await stored()?.session == one.session)
  }
}
