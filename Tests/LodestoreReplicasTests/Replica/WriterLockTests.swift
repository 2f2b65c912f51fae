#if Datasets
  import EntityStore
  import LodestoreSystem
  import Testing

  @testable import LodestoreReplicas

  /// The lock that keeps a second writer of a machine from a store's file.
  @Suite("The lock of a writer") struct WriterLockTests {
    @Test func `A second writer of a file is refused until the first one ends`() throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      defer { store.close() }
      var lock: WriterLock? = try WriterLock(store)
      let refusal = #expect(throws: ReplicaError.self) { try WriterLock(store) }
      #expect(refusal?.code == .busy)
      #expect(lock != nil)
      lock = nil
      _ = try WriterLock(store)
    }

    /// A child has all descriptors of its parent until its program starts.
    @Test func `A stopped writer leaves no lock to a program that is being started`() async {
      await #expect(processExitsWith: .success) {
        let fixture = try ReplicaFixture()
        let store = try fixture.store()
        var lock: WriterLock? = try WriterLock(store)
        // Swift hides the call, as a child with one of many threads can do little.
        let symbol = try #require(dlsym(dlopen(nil, RTLD_NOW), "fork"))
        let fork = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
        let child = fork()
        if child == 0 {
          while true { pause() }
        }
        defer {
          kill(child, SIGKILL)
          waitpid(child, nil, 0)
        }
        #expect(lock != nil)
        lock = nil
        _ = try WriterLock(store)
        store.close()
      }
    }
  }
#endif
