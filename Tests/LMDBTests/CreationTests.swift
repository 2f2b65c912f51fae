import LMDB
import LodestoreSystem
import Testing

@Suite struct CreationTests {
  @Test func `a failed creation leaves no file`() throws {
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

  @Test func `a new file loses its temporary name before any other step`()
    throws
  {
    let directory = try TemporaryDirectory()
    let file = try TemporaryFile(for: directory.file("new"), mode: 0o600)
    #expect(TemporaryFile.move(file.path, toNew: directory.file("new")) == 0)
    // A process that is killed at this point leaves exactly this file.
    #expect(directory.names == ["new"])
  }

  @Test func `a creation does not replace a file or a dangling link of that name`() throws {
    let directory = try TemporaryDirectory()
    let other = try TemporaryFile(for: directory.file("file"), mode: 0o600)
    #expect(TemporaryFile.move(other.path, toNew: directory.file("file")) == 0)
    #expect(symlink("nowhere", directory.file("link")) == 0)
    let file = try TemporaryFile(for: directory.file("new"), mode: 0o600)
    for name in ["file", "link"] {
      #expect(TemporaryFile.move(file.path, toNew: directory.file(name)) == EEXIST)
    }
    #expect(directory.names.count == 3)
  }

  /// On a file system that names files by links, a killed process can leave this state.
  ///
  /// A process loses its locks on a file when it closes any descriptor of it.
  @Test func `the other name of a lock file in use is removed without losing its locks`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let path = directory.file("store")
      EnvironmentRegistry.close(try openEnvironment(path))
      guard link(path + "-lock", directory.file(".lodestore.1.tmp")) == 0 else { fail("no link") }
      let environment = try openEnvironment(path)
      try environment.copy(to: directory.file("copy"), compacting: false)
      if directory.names != ["store", "store-lock", "copy"] { fail("\(directory.names)") }
      // A request for a lock of an open file description (`F_OFD_GETLK`) also finds locks of this
      // process. The request must find LMDB's lock on the file.
      let file = open(path + "-lock", O_RDWR | O_CLOEXEC)
      var region = flock()
      region.l_type = Int16(F_WRLCK)
      region.l_whence = Int16(SEEK_SET)
      region.l_len = 1
      #if canImport(Darwin)
        let askOfOpenFile: Int32 = 92
      #else
        let askOfOpenFile: Int32 = 36
      #endif
      guard fcntl(file, askOfOpenFile, &region) == 0 else { fail("\(errno)") }
      if region.l_type == Int16(F_UNLCK) { fail("the lock of LMDB is lost") }
    }
  }

  @Test(arguments: [false, true])
  func `a file whose directory cannot be synced is not reported as created`(isCopy: Bool) async {
    await #expect(processExitsWith: .success) { [isCopy = isCopy as Bool] in
      let directory = try TemporaryDirectory()
      // Root may open any directory.
      if geteuid() == 0 {
        let other: uid_t = 65_534
        guard chown(directory.path, other, other) == 0, setgid(other) == 0, setuid(other) == 0
        else { fail("still root") }
      }
      let original = isCopy ? try openEnvironment(directory.file("store")) : nil
      // A directory that must not be opened cannot be synced.
      chmod(directory.path, 0o300)
      let refusal = name {
        if let original {
          try original.copy(to: directory.file("copy"), compacting: false)
        } else {
          _ = try openEnvironment(directory.file("store"))
        }
      }
      chmod(directory.path, 0o700)
      guard refusal == "EACCES" else { fail(refusal ?? "no error") }
      if let original { EnvironmentRegistry.close(original) }
    }
  }
}
