import LodestoreBytes
import LodestoreSystem
import Synchronization
import Testing

@testable import LMDB

/// The opening of sealed files: which checks are made, which are remembered, and which locks are
/// held.
@Suite("The opening of a sealed file")
struct SealedOpeningTests {
  /// Makes a sealed file with one tree, old enough that its times differ from later ones.
  private func seal(_ directory: TemporaryDirectory, _ name: String = "sealed") throws -> String {
    let source = try openEnvironment(directory.file("source"))
    defer { EnvironmentRegistry.close(source) }
    let path = directory.file(name)
    _ = try SealedFile.make(at: path, of: source) { writer in
      try writer.beginTree("t")
      try key(1)._withBytes { try writer.add($0, $0) }
    }
    usleep(40_000)
    return path
  }

  /// Opens and closes a file; returns the number of times that its pages were checked.
  private func checks(_ path: String, cache: String?) throws -> Int {
    let count = Mutex(0)
    let options = EnvironmentOptions { options in
      options.trust = .verifyFirst
      options.checkedFilesDirectory = cache
      options.checkPages = { _, _, _ in count.withLock { $0 += 1 } }
    }
    let environment = try EnvironmentRegistry.open(path, options: options) { _ in }
    #expect(environment.isSealed && !environment.hasLockFile)
    let tree = try openedTree(of: environment)
    let pairs = try environment.read { try $0.count(of: tree) }
    #expect(pairs == 1)
    EnvironmentRegistry.close(environment)
    return count.withLock { $0 }
  }

  @Test func `a sealed file has the mark of its seal, whatever its identity and times are`() throws
  {
    let directory = try TemporaryDirectory()
    let path = try seal(directory)
    func mark(_ path: String) throws -> [UInt8] {
      let file = open(path, O_RDONLY)
      defer { close(file) }
      let size = Int64(contents(of: path).count)
      return try #require(CheckedFiles.mark([1, 2, 3], file, size: size))
    }
    let first = try mark(path)
    for offset in [300, contents(of: path).count - 1] {
      var bytes = contents(of: path)
      bytes[offset] ^= 1
      let other = directory.file("other")
      write(bytes, to: other)
      #expect(try mark(other) != first)
    }
    #expect(try mark(path) == first)
  }

  @Test func `a sealed file is remembered only if the user owns the cache`() throws {
    let directory = try TemporaryDirectory()
    for place in [directory.file("."), directory.file("a/b")] {
      #expect(CheckedFiles.isOwned(place, by: geteuid()))
      #expect(!CheckedFiles.isOwned(place, by: geteuid() + 1))
    }
    #expect(!CheckedFiles.isOwned("relative/x", by: geteuid() + 1))
  }

  @Test func `a sealed file has its pages checked once for each machine`() throws {
    let directory = try TemporaryDirectory()
    let cache = try TemporaryDirectory()
    let path = try seal(directory)
    #expect(try checks(path, cache: cache.path) == 1)
    #expect(try checks(path, cache: cache.path) == 0)
    #expect(cache.names == ["checked-pages"])
    #expect(size(of: cache.file("checked-pages")) == 32)
    // Another cache has no entries, and a cache that other users may write is not trusted.
    let other = try TemporaryDirectory()
    #expect(try checks(path, cache: other.path) == 1)
    chmod(cache.file("checked-pages"), 0o622)
    #expect(try checks(path, cache: cache.path) == 1)
    chmod(cache.file("checked-pages"), 0o600)
    #expect(try checks(path, cache: cache.path) == 0)
  }

  @Test func `a changed sealed file has its pages checked again`() throws {
    let directory = try TemporaryDirectory()
    let cache = try TemporaryDirectory()
    let path = try seal(directory)
    #expect(try checks(path, cache: cache.path) == 1)
    let bytes = contents(of: path)
    // The file is rewritten with the same bytes, which changes its time, so it is checked again.
    chmod(path, 0o600)
    write(bytes, to: path, flags: 0)
    usleep(40_000)
    #expect(try checks(path, cache: cache.path) == 1)
    #expect(try checks(path, cache: cache.path) == 0)
    let copy = directory.file("copy")
    write(bytes, to: copy)
    usleep(40_000)
    #expect(try checks(copy, cache: cache.path) == 1)
    // A file that has just changed could change again within the same time step, so it gets no mark
    // yet.
    chmod(copy, 0o644)
    #expect(try checks(copy, cache: cache.path) == 1)
    usleep(40_000)
    #expect(try checks(copy, cache: cache.path) == 1)
    #expect(try checks(copy, cache: cache.path) == 0)
  }

  @Test func `a sealed file without a place for a note has its pages checked each time`() throws {
    let directory = try TemporaryDirectory()
    let path = try seal(directory)
    write([1], to: directory.file("file"))
    for _ in 0..<2 { #expect(try checks(path, cache: directory.file("file") + "/cache") == 1) }
    let nested = directory.file("cache/a")
    #expect(try checks(path, cache: nested) == 1)
    #expect(try checks(path, cache: nested) == 0)
    unlink(nested + "/checked-pages")
    rmdir(nested)
    rmdir(directory.file("cache"))
  }

  @Test func `a sealed file holds a shared lock while it is open`() throws {
    let directory = try TemporaryDirectory()
    let path = try seal(directory)
    let options = EnvironmentOptions { $0.access = .readWrite(create: true) }
    let first = try EnvironmentRegistry.open(path, options: options) { _ in }
    let second = try EnvironmentRegistry.open(path, options: options) { _ in }
    #expect(first === second)
    let file = open(path, O_RDONLY)
    defer { close(file) }
    #expect(flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    #expect(flock(file, LOCK_SH | LOCK_NB) == 0)
    flock(file, LOCK_UN)
    EnvironmentRegistry.close(first)
    #expect(flock(file, LOCK_EX | LOCK_NB) != 0)
    EnvironmentRegistry.close(second)
    #expect(flock(file, LOCK_EX | LOCK_NB) == 0)
  }

  @Test func `opening a sealed file takes the file that has the name after the lock`() throws {
    let directory = try TemporaryDirectory()
    let path = try seal(directory)
    let next = try seal(directory, "next")
    let file = open(path, O_RDONLY)
    #expect(flock(file, LOCK_EX | LOCK_NB) == 0)
    let replaced = Atomic<Bool>(false)
    try withThread {
      usleep(60_000)
      replaced.store(true, ordering: .releasing)
      rename(next, path)
      close(file)
    } whileRunning: {
      let count = try checks(path, cache: directory.path)
      #expect(count == 1)
      let isReplaced = replaced.load(ordering: .acquiring)
      #expect(isReplaced)
    }
  }

  @Test func `a file of one mark is an ordinary store`() throws {
    let directory = try TemporaryDirectory()
    let path = try seal(directory)
    var bytes = contents(of: path)
    bytes[PageFileWriter.pageSize + SealMark.offset] ^= 1
    let other = directory.file("other")
    write(bytes, to: other)
    guard PageFormat.ofEngine == .lmdb09 else { return }
    let environment = try EnvironmentRegistry.open(
      other, options: EnvironmentOptions { $0.access = .readOnly }
    ) { _ in }
    #expect(!environment.isSealed)
    EnvironmentRegistry.close(environment)
  }
}

/// Runs a closure on another thread while `body` runs, and waits for its end.
private func withThread(
  _ work: @escaping @Sendable () -> Void, whileRunning body: () throws -> Void
) throws {
  let thread = try #require(startedThread(work))
  defer { pthread_join(thread, nil) }
  try body()
}
