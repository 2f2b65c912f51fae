#if Datasets
  @testable import LodestoreReplicas

  /// The faults of machines and of the network.
  extension StoreHistory {
    // MARK: Machines

    func drawFault(of life: HistoryLife) {
      guard !life.isDead, !life.isOver else { return }
      switch below(3_000 * calm) {
      case 0, 1: kill(life)
      case 2, 3: freeze(life)
      case 4: life.cutUntil = time + Int64(random(in: 1...60) * 1e9)
      case 5..<10: backUp(life)
      case 10 where storage == .overwritingLater: bucket.overwrites = true
      case 11 where storage == .overwritingLater: bucket.overwrites = false
      default: break
      }
    }

    private func freeze(_ life: HistoryLife) {
      let duration = Int64(random(in: 5...200) * 1e9)
      note("\(life.name) is stopped for \(duration / 1_000_000_000) s")
      count(.freezes)
      life.frozenUntil = time + duration
      schedule(after: duration) {}
    }

    private func backUp(_ life: HistoryLife) {
      guard life.hasStore, let copy = try? newFolder() else { return }
      do {
        try HistoryFiles.copy(life.folder, to: copy)
        life.machine.backup = copy
      } catch { fail("\(error)") }
    }

    /// The machine of a dead process starts again without its files.
    func loseDisk(of machine: HistoryMachine) {
      guard let folder = try? newFolder() else { return }
      note("machine \(machine.number) has lost its disk")
      count(.lostDisks)
      machine.replaceFolder(by: folder)
    }

    /// A process dies at a step of a writer, a follower or a restore.
    func step(_ step: String, of life: HistoryLife) {
      note("\(life.name): \(step)")
      if step == "collected" { count(.collections) }
      if step == "baseWritten" { count(.bases) }
      if step == "baseEntryShipped" { count(.baseEntries) }
      if step == "opened", below(3) == 0 { backUp(life) }
      if !isSettling, !life.isDead, below(Self.rarity(of: step)) == 0 { kill(life) }
    }

    /// A death at a step is one in this number; steps that seldom occur are deadly more often.
    private static func rarity(of step: String) -> Int {
      switch step {
      case "collected": 5
      case "baseEntryShipped", "fenced": 8
      case "baseWritten", "uploaded", "swapped": 20
      default: 60
      }
    }

    // MARK: The network

    func cutsDownload() -> Bool { !isSettling && below(12) == 0 }

    /// Sends a request of a life, which `done` gets the answer of.
    func transmit(
      _ call: HistoryCall, of life: HistoryLife, _ done: @escaping @Sendable (HistoryResult) -> Void
    ) {
      count(.requests)
      if case .get(let key, _) = call, key.hasPrefix("merged/") { count(.mergedReads) }
      let isWrite = call.operation == .put || call.operation == .delete
      let unclear = HistoryResult.failure(call.error(.cut, mayHaveHappened: isWrite))
      let (sender, entry) = (life.sender, call.entryKind)
      let (out, back) = (latency(), latency())
      func answer(_ result: HistoryResult, after wait: Int64) {
        schedule(after: wait, for: life) { done(result) }
      }
      func execute(after wait: Int64, _ body: @escaping (HistoryResult) -> Void) {
        schedule(after: wait) { [self] in body(self.execute(call, by: sender)) }
      }
      var fate = isSettling ? 100 : below(100 * calm)
      // By the other chances alone, few entries would arrive after their process.
      if entry == .pack, !isSettling, below(40 * calm) == 0 { fate = 4 }
      if life.cutUntil > time { fate = 0 }
      // The process dies before the request leaves (0), or while it is on its way (1).
      let death = isSettling ? 2 : below(2 * rarityOfDeath(at: entry))
      trace(call, life, fate)
      if death == 0, !life.isOver { return kill(life) }
      deliverLate(call.key, of: life.machine)
      switch fate {
      case 0, 1: answer(unclear, after: Int64(random(in: 0.5...10) * 1e9))
      case 2, 3:
        execute(after: out) { _ in answer(unclear, after: back) }
      case 4, 5:
        answer(unclear, after: out + back)
        if entry != nil {
          delay(call, by: sender)
        } else {
          execute(after: Int64(random(in: 1...100) * 1e9)) { _ in }
        }
      case 6:
        let asked: Duration? = below(2) == 0 ? .seconds(below(5)) : nil
        answer(.failure(call.error(.throttled(retryAfter: asked))), after: out + back)
      case 7: answer(.failure(call.error(.unavailable)), after: out + back)
      case 8 where call.operation == .put:
        answer(.failure(call.error(.conflictAgain)), after: out + back)
      default: execute(after: out) { answer($0, after: back) }
      }
      if death == 1 { kill(life) }
    }

    /// A death at a request is one in this number.
    ///
    /// Fences and bases are rare, so that they are deadly more often.
    private func rarityOfDeath(at entry: EntryHead.Kind?) -> Int {
      switch entry {
      case .fence: 3
      case .base: 10
      case .pack, .empty: 100 * calm
      case nil: 400 * calm
      }
    }

    // MARK: Entries that arrive late

    /// Keeps an entry on its way until its machine writes the slot again, or for some time.
    private func delay(_ call: HistoryCall, by sender: HistorySender) {
      lastLate += 1
      let (number, machine) = (lastLate, sender.life.machine)
      machine.late.append((number, call, sender))
      schedule(after: Int64(random(in: 1...100) * 1e9)) { [self] in
        deliverLate(where: { $0.number == number }, of: machine)
      }
      if !isSettling, below(2) == 0 { kill(sender.life) }
    }

    /// Delivers the entries of a slot that are late, just before another one.
    private func deliverLate(_ key: String, of machine: HistoryMachine) {
      if machine.late.isEmpty || below(2) == 0 { return }
      deliverLate(where: { $0.call.key == key }, of: machine)
    }

    private func deliverLate(
      where isMeant: (HistoryMachine.Late) -> Bool, of machine: HistoryMachine
    ) {
      while let index = machine.late.firstIndex(where: isMeant) {
        let late = machine.late.remove(at: index)
        if case .success = execute(late.call, by: late.sender) { count(.lateEntries) }
      }
    }

    // MARK: The storage

    private func latency() -> Int64 {
      let isSlow = !isSettling && below(40 * calm) == 0
      return Int64(random(in: isSlow ? 1...30 : 0.001...0.05) * 1e9)
    }

    private func execute(_ call: HistoryCall, by sender: HistorySender) -> HistoryResult {
      let existed = bucket.objects[call.key] != nil
      var lag: Int64 = 0
      let isList = ReplicaFolder.allCases.contains(where: call.isList(of:))
      if isList, storage == .lagging, !isSettling {
        lag = Int64(random(in: 0...20) * 1e9)
      }
      if call.isList(of: .followers) { sender.life.noteFollowerList(at: time) }
      let result = bucket.execute(call, at: time, lag: lag)
      if keepsConditions, case .success = result {
        oracle.observe(call, by: sender, existed: existed, in: bucket)
      }
      return result
    }

    private func trace(_ call: HistoryCall, _ life: HistoryLife, _ fate: Int) {
      let name = ReplicaName(call.key)
      note("\(life.name): \(call.operation) \(call.key) fate \(fate)")
      for word in [
        UInt64(life.number), UInt64(fate), UInt64(bitPattern: time), name?.collectedSlot ?? 0,
        UInt64(call.operation.rawValue.utf8.first ?? 0),
      ] { trace = (trace &* 0x100_0000_01b3) ^ (trace >> 29) ^ word }
    }
  }

  extension HistoryCall {
    /// The kind of the entry that the call stores in the log; `nil` for other calls.
    fileprivate var entryKind: EntryHead.Kind? {
      guard case .put(let key, let bytes, _) = self, key.hasPrefix("log/") else { return nil }
      return (try? LogEntry(reading: bytes))?.head.kind
    }

    /// Whether the call lists names of a folder.
    fileprivate func isList(of folder: ReplicaFolder) -> Bool {
      guard case .list(let prefix, _, _) = self else { return false }
      return prefix.hasPrefix(folder.rawValue + "/")
    }
  }
#endif
