import LMDB
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct CreationTests {
  @Test func `a failed creation leaves nothing`() throws {
    struct Stop: Error {}
    let directory = try TemporaryDirectory()
    #expect(throws: Stop.self) {
      try EnvironmentRegistry.open(directory.file("store"), options: EnvironmentOptions()) { _ in
        throw Stop()
      }
    }
    #expect(directory.names.isEmpty)
  }

  @Test func `creating inside a creation is allowed`() throws {
    let directory = try TemporaryDirectory()
    let outer = try EnvironmentRegistry.open(
      directory.file("outer"), options: EnvironmentOptions()
    ) { _ in
      EnvironmentRegistry.close(try openEnvironment(directory.file("inner")))
    }
    EnvironmentRegistry.close(outer)
  }

  @Test func `processes that create at once end with one file`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("store")
    await withTaskGroup(of: Void.self) { group in
      for creator in 0..<8 {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [path = path as String, creator = creator as Int] in
            let environment = try openEnvironment(path)
            try put([key(creator)], into: try openedTree(of: environment), of: environment)
            EnvironmentRegistry.close(environment)
          }
        }
      }
    }
    let environment = try openEnvironment(path) { $0.access = .readWrite(create: false) }
    defer { EnvironmentRegistry.close(environment) }
    let tree = try openedTree(of: environment)
    #expect(try environment.read { try $0.count(of: tree) } == 8)
    #expect(directory.names == ["store", "store-lock"])
  }
}
