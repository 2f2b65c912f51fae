/// Fences the writer of a chain: writes a fence of the next epoch into the first free slot.
///
/// The machine reads on from a position to the end of the chain. If another process takes the slot
/// first, the machine goes on to the next slot. Afterwards the new writer applies the entries up
/// to the fence before it writes.
struct Takeover: ProtocolMachine {
  enum Result: Sendable, Equatable {
    /// The fence is committed: the chain ends at this position, and no earlier writer can write.
    case fenced(ChainPosition)
    /// The chain was collected beyond the position. Begin again at a newer base.
    case collected(Floor)
    case refused(PackError)
  }

  private enum Phase: Sendable {
    case read(ChainReader)
    case write(SlotWriter)
    case finished(Result)
  }

  private var fence: EntryHead
  private var phase: Phase

  /// Creates a takeover by a store whose state is that of a position, or an earlier state.
  ///
  /// - Parameter fence: The head of the fence. The machine sets its kind, epoch, slot, previous
  ///   entry, replica and last write. Time and schema are those of the position, and the machine
  ///   replaces them by those of entries that it reads.
  init(position: ChainPosition, floor: Floor, fence: EntryHead) {
    self.fence = fence
    phase = .read(ChainReader(position: position, floor: floor))
  }

  mutating func next() -> ProtocolAction<Result> {
    switch phase {
    case .read(var reader):
      let action = reader.next()
      phase = .read(reader)
      switch action {
      case .request(let request): return .request(request)
      case .wait(let count): return .wait(failures: count)
      case .finished(let result): take(result, reader)
      }
    case .write(var writer):
      let action = writer.next()
      phase = .write(writer)
      switch action {
      case .request(let request): return .request(request)
      case .wait(let count): return .wait(failures: count)
      case .finished(let result): take(result, writer)
      }
    case .finished(let result): return .finished(result)
    }
    return next()
  }

  mutating func receive(_ outcome: StorageOutcome) {
    switch phase {
    case .read(var reader):
      reader.receive(outcome)
      phase = .read(reader)
    case .write(var writer):
      writer.receive(outcome)
      phase = .write(writer)
    case .finished: break
    }
  }

  private mutating func take(_ result: ChainReader.Result, _ reader: ChainReader) {
    switch result {
    case .read(let entries, let isEnd):
      if let last = entries.last {
        fence.time = last.head.time
        fence.schema = last.head.schema
      }
      if isEnd { return offer(after: reader.position, floor: reader.floor) }
      var reader = reader
      reader.readOn()
      phase = .read(reader)
    case .collected(let floor): phase = .finished(.collected(floor))
    case .refused(let error): phase = .finished(.refused(error))
    }
  }

  private mutating func offer(after position: ChainPosition, floor: Floor) {
    fence.kind = .fence
    fence.epoch = position.epoch + 1
    fence.slot = position.slot + 1
    fence.previous = position.slot == 0 ? nil : position.hash
    fence.store = position.store
    fence.firstWrite = nil
    fence.lastWrite = position.lastWrite
    var writer = SlotWriter(position: position, floor: floor)
    do throws(PackError) {
      try writer.offer(LogEntry(fence))
      phase = .write(writer)
    } catch { phase = .finished(.refused(error)) }
  }

  private mutating func take(_ result: SlotWriter.Result, _ writer: SlotWriter) {
    switch result {
    case .committed(let position): phase = .finished(.fenced(position))
    case .taken:
      // The reader checks the other's entry, and finds the entries after it.
      phase = .read(ChainReader(position: writer.position, floor: writer.floor))
    case .collected(let floor): phase = .finished(.collected(floor))
    case .refused(let error): phase = .finished(.refused(error))
    }
  }
}
