#if Datasets
  import EntityStore
  import LodestoreFormat

  @testable import LodestoreReplicas

  /// The program of a process: a writer, a follower, or a takeover, whichever its folder is for.
  extension HistoryLife {
    /// Whether the folder has a store that may be a writer's.
    var hasStore: Bool { HistoryFiles.exists(storePath) }

    private var name: String { "machine \(machine.number)" }

    func live() async {
      var failures = 0
      while !isDead {
        do {
          let isSettling = history.isSettling
          try await act()
          failures = 0
          if isSettling { return }
        } catch let error as ReplicaError {
          failures += 1
          react(to: error)
        } catch is CancellationError {
          failures += 1
        } catch {
          if !isDead { history.fail("\(name): \(error)") }
        }
        if history.isSettling, failures > 30, !isDead {
          history.fail("\(name) does not come to rest")
        }
        try? await sleep(.seconds(history.random(in: 0.1...5)))
      }
    }

    private func act() async throws {
      if hasStore { return try await write(storePath) }
      if HistoryFiles.exists(copyPath) { return try await follow() }
      if history.isSettling { return }
      if history.bucket.objects[ReplicaName.info.text] == nil {
        if machine.number == 0 { try await write(storePath) }
      } else if history.below(3) == 0 {
        try await takeOver(at: storePath)
      } else {
        try await follow()
      }
    }

    /// Reacts to an error as the people who run the machine do.
    private func react(to error: ReplicaError) {
      if isDead { return }
      history.note("\(name): \(error)")
      switch error.code {
      case .storage, .busy, .noBase, .stopped: return
      case .notKept:
        // The copy of a follower cannot take over, so that a new one is needed.
        return becomeEmpty()
      case .fenced: history.coverage.fenced += 1
      case .behind, .diverged:
        history.coverage.refused += 1
        if history.isHonest, !machine.isRolledBack { history.fail("\(name): \(error)") }
      default: if history.isHonest { history.fail("\(name): \(error)") }
      }
      history.hasReport = true
      becomeEmpty()
    }

    private func becomeEmpty() {
      for end in ["", "-lock"] { HistoryFiles.remove(storePath + end) }
      HistoryFiles.remove(copyPath)
      machine.isRolledBack = false
      machine.backup = nil
    }

    // MARK: A writer

    private func write(_ path: String) async throws {
      let store = try Store(at: path, entities: [Note.self], options: Note.options)
      defer { store.close() }
      try history.record(store)
      var serials = try HistoryContent.serials(of: store)
      if !history.isSettling, history.below(6) == 0 { try commit(store, &serials) }
      do {
        let writer = try await Replica.writer(store, to: bucket, options: writerOptions())
        for _ in 0..<3 + history.below(30) where !history.isSettling && !isDead {
          try await work(writer, &serials)
          if let end = writer.status.end { throw end }
        }
        try await writer.stop()
        history.acknowledged.formUnion(serials)
      } catch let error as ReplicaError {
        if error.code == .fenced, !isDead {
          _ = try Replica.exportDiverged(store, to: "\(folder)/diverged-\(history.lastSerial)")
        }
        throw error
      }
    }

    private func writerOptions() -> ReplicaWriterOptions {
      var options = ReplicaWriterOptions()
      options.durability = .replicated
      options.flushInterval = .milliseconds(5 + history.below(500))
      options.markInterval = .milliseconds(100 + history.below(8_000))
      options.leaseInterval = history.below(2) == 0 ? .seconds(30) : nil
      options.keepsStatesFor = [Duration.zero, .zero, .seconds(30), nil][history.below(4)]
      options.probesStorage = history.storage == .overwriting || history.below(4) == 0
      // Bases are written when the history says so, because sizes differ from run to run.
      options.leastLogForBase = .max
      (options.packLevel, options.baseLevel) = (1, 1)
      options.name = name
      options.setStepHook { [self] in history.step($0.rawValue, of: self) }
      return options
    }

    private func commit(_ store: Store, _ serials: inout [Int]) throws {
      let (serial, kind) = (newSerial(), history.below(5))
      try store.write { try HistoryContent.change(serial, kind, &$0) }
      serials.append(serial)
      try history.record(store)
    }

    private func newSerial() -> Int {
      history.lastSerial += 1
      return history.lastSerial
    }

    private func work(_ writer: ReplicaWriter, _ serials: inout [Int]) async throws {
      switch history.below(16) {
      case 0..<6: for _ in 0...history.below(3) { try commit(writer.store, &serials) }
      case 6..<9:
        let (serial, kind) = (newSerial(), history.below(5))
        try await writer.write { try HistoryContent.change(serial, kind, &$0) }
        serials.append(serial)
        history.acknowledged.formUnion(serials)
        if !isDead { try history.record(writer.store) }
      case 9..<11:
        let sent = serials
        try await writer.flush()
        history.acknowledged.formUnion(sent)
      case 11: try await writer.writeBase()
      case 12: try await writer.collect()
      default: try await sleep(.seconds(history.random(in: 0.01...6)))
      }
    }

    // MARK: A follower

    private func follow() async throws {
      var options = ReplicaFollowerOptions()
      options.pollInterval = .seconds(history.random(in: 0.2...8))
      if history.below(3) == 0 { options.id = "machine-\(machine.number)" }
      options.setStepHook { [self] in history.step($0.rawValue, of: self) }
      options.onStatus = { [self] status in
        guard let error = status.lastFailure, !isDead else { return }
        if error.code == .diverged || error.code == .damaged {
          if history.isHonest { history.fail("the copy of \(name): \(error)") }
          history.hasReport = true
        }
      }
      let follower: ReplicaFollower
      do {
        follower = try await Replica.follower(
          at: copyPath, of: bucket, entities: [Note.self], options: options)
      } catch let error as ReplicaError where error.code == .unsuitableStore {
        // A takeover has made the copy a writer's store before the process ended.
        guard let path = try FollowerFolder(copyPath).current else { throw error }
        return try await write(path)
      }
      do {
        repeat {
          if !history.isSettling { try await sleep(.seconds(history.random(in: 0.1...12))) }
          try await follower.catchUp()
          try history.observe(follower.store, "the copy of \(name)")
        } while !history.isSettling && history.below(6) > 0
      } catch {
        await end(follower)
        throw error
      }
      await end(follower)
      if !history.isSettling, history.below(4) == 0 { try await takeOver(at: copyPath) }
    }

    private func end(_ follower: ReplicaFollower) async {
      history.coverage.swaps += follower.status.swaps
      await follower.stop()
      follower.store.close()
    }

    private func takeOver(at path: String) async throws {
      var options = RestoreOptions()
      options.ignoresLease = history.below(2) == 0
      options.name = name
      let report = try await Replica.takeOver(bucket, at: path, options: options)
      history.note("\(name) has taken over in slot \(report.slot)")
      history.coverage.takeovers += 1
    }

    // MARK: The end

    /// Restores the replica, takes over, writes, and restores again.
    func judge() async {
      do {
        let restored = try await restore("restored")
        defer { restored.close() }
        let digests = try ReplicaFixture.digests(of: restored)
        try history.observe(restored, "the restored store")
        check(restored, try HistoryContent.serials(of: restored), digests)
        var options = RestoreOptions()
        options.ignoresLease = true
        let taken = try await Replica.takeOver(bucket, at: storePath, options: options)
        let store = try Store(at: taken.path, entities: [Note.self], options: Note.options)
        defer { store.close() }
        if try ReplicaFixture.digests(of: store) != digests {
          history.fail("the store of the last takeover is not the restored one")
        }
        let writer = try await Replica.writer(store, to: bucket, options: writerOptions())
        var serials: [Int] = []
        for _ in 0..<3 { try commit(store, &serials) }
        try await writer.stop()
        let again = try await restore("restored-again")
        defer { again.close() }
        if try ReplicaFixture.digests(of: again) != ReplicaFixture.digests(of: store) {
          history.fail("the second restored store is not the writer's")
        }
      } catch {
        if history.isHonest { history.fail("at the end: \(error)") }
        history.hasReport = true
      }
    }

    private func restore(_ file: String) async throws -> Store {
      let path = "\(folder)/\(file).lodestore"
      let report = try await Replica.restore(bucket, at: path)
      if history.isHonest {
        let last = history.oracle.last
        if report.slot != last?.slot {
          history.fail(
            "restored to slot \(report.slot) of \(last?.slot ?? 0): \(report.incomplete ?? "")")
        }
      }
      return try Store(at: path, entities: [Note.self], options: .readOnly)
    }

    private func check(_ store: Store, _ serials: [Int], _ digests: ReplayDigests) {
      if history.isHonest, let expected = history.oracle.lastDigests,
        digests.contentDigests != expected
      {
        history.fail("the restored store has other digests than the last entry")
      }
      let lost = history.acknowledged.subtracting(serials)
      if let first = lost.min(), history.isHonest || !history.hasReport {
        history.fail("write \(first) was reported as replicated, and is lost")
      }
    }
  }

  /// The records of the histories' stores.
  enum HistoryContent {
    /// Makes the changes of one write: a note that stays, and another change.
    static func change(_ serial: Int, _ kind: Int, _ tx: inout WriteTransaction) throws {
      try tx.insert(Note(title: "note \(serial)", number: serial))
      let first = try tx.fetch(Note.where { $0.number < 0 }.sorted(by: \.number).limit(1)).first
      switch kind {
      case 0: try tx.insert(Note(title: "change \(serial)", number: -serial))
      case 1:
        if var note = first {
          note.title += "+"
          try tx.update(note)
        }
      case 2: if let first { try tx.delete(Note.where { $0.number == first.number }) }
      case 3: try tx.put("\(serial)", for: "last", in: "settings")
      default: break
      }
    }

    /// The numbers of the notes that stay.
    static func serials(of store: Store) throws -> [Int] {
      try store.read { try $0.fetch(Note.where { $0.number > 0 }.sorted(by: \.number)) }
        .map(\.number)
    }
  }
#endif
