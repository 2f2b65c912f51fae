#if Datasets
  import EntityStore

  @testable import LodestoreReplicas

  /// The program of a writer.
  extension HistoryLife {
    func write(_ path: String) async throws {
      let store = try Store(at: path, entities: history.entities, options: Note.options)
      defer { store.close() }
      hasLabels = history.entities.count > 1
      try history.record(store)
      var serials = try HistoryContent.serials(of: store)
      try commitWithoutWriter(store, &serials)
      do {
        writerOptions = newWriterOptions()
        let writer = try await Replica.writer(store, to: storage, options: writerOptions)
        for _ in 0..<3 + history.below(30) where !history.isSettling && !isDead {
          try await work(writer, &serials)
          if let end = writer.status.end { throw end }
        }
        try await writer.stop()
        history.acknowledged.formUnion(serials)
      } catch let error as ReplicaError {
        if error.code == .fenced, !isDead { try export(store) }
        throw error
      }
    }

    /// Commits before the writer is opened.
    ///
    /// An old copy of the store gets writes with the numbers of those that the log has.
    private func commitWithoutWriter(_ store: Store, _ serials: inout [Int]) throws {
      let isOld = machine.isRolledBack
      if history.isSettling || history.below(isOld ? 2 : 6) > 0 { return }
      for _ in 0...(isOld ? history.below(12) : 0) { try commit(store, &serials) }
    }

    /// Exports the writes of a fenced store that no replica has.
    private func export(_ store: Store) throws {
      let path = "\(folder)/diverged-\(number)-\(history.lastSerial)"
      defer { HistoryFiles.remove(path) }
      do {
        try Replica.exportDiverged(store, to: path)
      } catch let error as ReplicaError where machine.hasPurged {
        return history.note("\(name): \(error.message)")
      }
      let text = String(decoding: HistoryFiles.bytes(of: path) ?? [], as: UTF8.self)
      let exported = text.matches(of: /"note ([0-9]+)"/).compactMap { Int($0.1) }
      history.fencedWrites.append(
        (name, try Set(HistoryContent.serials(of: store)).subtracting(exported)))
    }

    func newWriterOptions() -> ReplicaWriterOptions {
      var options = ReplicaWriterOptions()
      options.durability = .replicated
      options.flushInterval = .milliseconds(5 + history.below(500))
      options.checkpointInterval = .milliseconds(100 + history.below(8_000))
      options.leaseInterval = history.below(2) == 0 ? .seconds(5 + history.below(25)) : nil
      options.retention = [Duration.zero, .seconds(5), .seconds(30), nil][history.below(4)]
      if history.below(4) == 0 { options.followerTimeout = .seconds(20) }
      // Some writers send each write as a part, and some send the net changes of several writes.
      if history.below(3) == 0 { options.unitLimits.bodyBytes = 1 }
      if history.below(8) == 0 { options.unitLimits.steps = 3 }
      options.probesStorage = history.storage == .overwriting || history.below(4) == 0
      // Bases are written when the history says so, because sizes differ from run to run.
      options.minimumLogSizeForBase = .max
      (options.packCompressionLevel, options.baseCompressionLevel) = (1, 1)
      options.name = name
      options.setStepHook { [self] in history.step($0.rawValue, of: self) }
      return options
    }

    func commit(_ store: Store, _ serials: inout [Int]) throws {
      let (serial, kind) = newChange()
      try store.write { try HistoryContent.change(serial, kind, &$0) }
      serials.append(serial)
      try history.record(store)
    }

    private func newChange() -> (serial: Int, kind: Int) {
      history.lastSerial += 1
      return (history.lastSerial, history.below(hasLabels ? 6 : 5))
    }

    private func replicate(_ writer: ReplicaWriter, _ serials: inout [Int]) async throws {
      let (serial, kind) = newChange()
      try await writer.write { try HistoryContent.change(serial, kind, &$0) }
      serials.append(serial)
      history.acknowledged.formUnion(serials)
      if !isDead { try history.record(writer.store) }
    }

    private func work(_ writer: ReplicaWriter, _ serials: inout [Int]) async throws {
      if history.below(40) == 0 {
        machine.hasPurged = true
        try await writer.store.write { _ = try $0.purgeHistory(before: .distantFuture) }
      }
      switch history.below(16) {
      case 0..<6: for _ in 0...history.below(3) { try commit(writer.store, &serials) }
      case 6..<8: try await replicate(writer, &serials)
      case 8:
        // After 16 entries, followers that read seldom find merged slots.
        for _ in 0..<10 + history.below(20) { try await replicate(writer, &serials) }
      case 9..<11:
        let sent = serials
        try await writer.flush()
        history.acknowledged.formUnion(sent)
      case 11: try await committing(to: writer, &serials) { try await writer.writeBase() }
      case 12: try await committing(to: writer, &serials) { try await writer.collect() }
      default: try await rest(0.01...6)
      }
    }

    /// Commits some times while another call of the writer runs.
    private func committing(
      to writer: ReplicaWriter, _ serials: inout [Int],
      while body: @escaping @Sendable () async throws -> Void
    ) async throws {
      async let end: Void = body()
      for _ in 0..<history.below(5) where !isDead {
        try await rest(0.001...0.1)
        try commit(writer.store, &serials)
      }
      try await end
    }
  }
#endif
