#if Datasets
  import EntityStore
  import LodestoreFormat

  @testable import LodestoreReplicas

  /// The program of a process: a writer, a follower, a standby, a restore or a takeover.
  extension HistoryLife {
    /// Whether the folder has a store that may be a writer's.
    var hasStore: Bool { HistoryFiles.exists(storePath) }

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
        if history.isSettling, failures > 200, !isDead {
          history.fail("\(name) does not come to rest")
        }
        try? await rest(0.1...5)
      }
    }

    private func act() async throws {
      if hasStore { return try await write(storePath) }
      if HistoryFiles.exists(copyPath) {
        if !history.isSettling, history.below(4) == 0 { return try await standBy() }
        return try await follow()
      }
      if history.isSettling { return }
      if history.bucket.objects[ReplicaName.info.text] == nil {
        if machine.number == 0 { try await write(storePath) }
        return
      }
      switch history.below(6) {
      case 0, 1: try await takeOver(at: storePath)
      case 2: try await restoreOnce()
      default: try await follow()
      }
    }

    /// Reacts to an error as the people who run the machine do.
    private func react(to error: ReplicaError) {
      if isDead { return }
      history.note("\(name): \(error.code) \(error.message)")
      switch error.code {
      case .storage, .busy, .noBase, .stopped: return
      case .notKept:
        // The copy of a follower cannot take over, so that a new one is needed.
        return becomeEmpty()
      case .fenced: history.count(.fenced)
      case .behind, .diverged:
        history.count(.refused)
        if history.isHonest, !machine.isRolledBack, !machine.hasPurged {
          history.fail("\(name): \(error.code) \(error.message)")
        }
      default:
        if history.isHonest { history.fail("\(name): \(error.code) \(error.message)") }
      }
      history.hasReport = true
      becomeEmpty()
    }

    private func becomeEmpty() {
      for end in ["", "-lock"] { HistoryFiles.remove(storePath + end) }
      HistoryFiles.remove(copyPath)
      (machine.isRolledBack, machine.hasPurged) = (false, false)
      machine.backup = nil
    }

    /// Checks that a store has all writes that were reported as replicated at an earlier time.
    private func check(_ store: Store, has earlier: Set<Int>, _ what: String) throws {
      guard !isDead else { return }
      let lost = earlier.subtracting(try HistoryContent.serials(of: store))
      if let first = lost.min(), history.keepsConditions {
        history.fail("\(what) lacks write \(first), which was reported as replicated before")
      }
    }

    // MARK: Followers

    private func followerOptions() -> ReplicaFollowerOptions {
      var options = ReplicaFollowerOptions()
      options.pollInterval = .seconds(history.random(in: 0.2...8))
      if history.below(3) == 0 { options.id = "machine-\(machine.number)" }
      options.setStepHook { [self] in history.step($0.rawValue, of: self) }
      options.onStatus = { [self] status in
        guard let error = status.lastFailure, !isDead else { return }
        if error.code == .diverged || error.code == .damaged {
          if history.isHonest { history.fail("the copy of \(name): \(error.message)") }
          history.hasReport = true
        }
      }
      return options
    }

    private func follow() async throws {
      let follower: ReplicaFollower
      do {
        follower = try await Replica.follower(
          at: copyPath, of: storage, entities: [Note.self], options: followerOptions())
      } catch let error as ReplicaError where error.code == .unsuitableStore {
        // A takeover has made the copy a writer's store before the process ended.
        guard let path = try FollowerFolder(copyPath).current else { throw error }
        return try await write(path)
      }
      do {
        repeat {
          // Some followers read seldom, so that they find merged slots.
          if !history.isSettling { try await rest(0.1...(history.below(4) == 0 ? 60 : 12)) }
          let earlier = history.acknowledged
          try await follower.catchUp()
          try history.observe(follower.store, "the copy of \(name)")
          try check(follower.store, has: earlier, "the copy of \(name)")
        } while !history.isSettling && history.below(6) > 0
      } catch {
        await end(follower)
        throw error
      }
      await end(follower)
      if history.isSettling, let path = try FollowerFolder(copyPath).current {
        history.verify(path, "the copy of \(name)")
      }
      if !history.isSettling, history.below(4) == 0 { try await takeOver(at: copyPath) }
    }

    private func end(_ follower: ReplicaFollower) async {
      history.count(.swaps, follower.status.replacements)
      await follower.stop()
      follower.store.close()
    }

    /// Follows until the writer has ended and this machine has taken over, or for some time.
    private func standBy() async throws {
      var options = ReplicaStandbyOptions()
      options.follower = followerOptions()
      options.leasePollInterval = .seconds(history.random(in: 0.5...5))
      options.assumedLease = history.below(2) == 0 ? .seconds(20) : nil
      options.name = name
      options.storeOptions = Note.options
      let earlier = history.acknowledged
      let standby: ReplicaStandby
      do {
        standby = try await Replica.standby(
          at: copyPath, of: storage, entities: [Note.self], options: options)
      } catch let error as ReplicaError where error.code == .unsuitableStore {
        guard let path = try FollowerFolder(copyPath).current else { throw error }
        return try await write(path)
      }
      let limit = history.random(in: 5...100)
      do {
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { [self] in
            let store = try await standby.waitToTakeOver()
            defer { store.close() }
            // A store that has taken over in an earlier process may have been fenced since.
            guard standby.status.takeover != nil else { return }
            history.count(.standbys)
            history.note("\(name) has taken over as a standby")
            try check(store, has: earlier, "the standby's store")
          }
          group.addTask { [self] in try await sleep(.seconds(limit)) }
          defer { group.cancelAll() }
          try await group.next()
        }
      } catch {
        await standby.stop()
        throw error
      }
      await standby.stop()
    }

    // MARK: Takeovers and restores

    private func takeOver(at path: String) async throws {
      let earlier = history.acknowledged
      let report = try await Replica.takeOver(storage, at: path, options: restoreOptions())
      history.note("\(name) has taken over in slot \(report.slot)")
      history.count(.takeovers)
      let store = try Store(at: report.path, entities: [Note.self], options: Note.options)
      defer { store.close() }
      try check(store, has: earlier, "the store of a takeover")
      if !isDead { try history.record(store) }
    }

    func restoreOptions() -> ReplicaRestoreOptions {
      var options = ReplicaRestoreOptions()
      options.ignoresLease = history.below(2) == 0
      options.name = name
      options.setStepHook { [self] in history.step($0.rawValue, of: self) }
      return options
    }

    private func restoreOnce() async throws {
      let path = "\(folder)/restored-\(number)-\(history.lastSerial).lodestore"
      defer { for end in ["", "-lock"] { HistoryFiles.remove(path + end) } }
      let earlier = history.acknowledged
      try await Replica.restore(storage, at: path, options: restoreOptions())
      history.count(.restores)
      let store = try Store(at: path, entities: [Note.self], options: .readOnly)
      defer { store.close() }
      try check(store, has: earlier, "the restored store")
      try history.observe(store, "the restored store of \(name)")
    }
  }
#endif
