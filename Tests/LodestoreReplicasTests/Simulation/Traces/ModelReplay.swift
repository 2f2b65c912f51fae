import LodestoreFormat

@testable import LodestoreReplicas

/// A step of a run of the model `slots.pml`: the process, its step, and the step's numbers.
struct ModelStep {
  var process: Substring
  var verb: Substring
  var numbers: [Int]

  init?(_ line: Substring) {
    let words = line.split(separator: " ")
    guard words.count >= 2 else { return nil }
    (process, verb) = (words[0], words[1])
    numbers = words.dropFirst(2).compactMap { Int($0) }
    if words.count == 5 { fate = words[4] }
  }

  /// The fate of a PUT.
  var fate: Substring = ""
}

/// A machine of any kind, whose requests the model decides about.
private final class ModelMachine {
  enum End {
    case takeover(Takeover.Result)
    case start(WriterStart.Result)
    case write(SlotWriter.Result)
    case read(ChainReader.Result)
    case collect(Collector.Result)
  }

  let next: () -> ProtocolAction<End>
  let receive: (StorageOutcome) -> Void
  /// Passes an answer to the question whether an entry is the store's own.
  var compare: (Bool) -> Void = { _ in }

  init<Machine: ProtocolMachine>(
    _ machine: Machine, _ end: @escaping (Machine.Result) -> End,
    compare: @escaping (inout Machine, Bool) -> Void = { _, _ in }
  ) {
    let box = Box(machine)
    next = {
      switch box.machine.next() {
      case .request(let request): .request(request)
      case .wait(let failures): .wait(failures: failures)
      case .finished(let result): .finished(end(result))
      }
    }
    receive = { box.machine.receive($0) }
    self.compare = { compare(&box.machine, $0) }
  }

  private final class Box<Machine> {
    var machine: Machine
    init(_ machine: Machine) { self.machine = machine }
  }
}

/// Replays a run of the model on the machines of the protocol.
///
/// The model decides which process moves, and the fates of requests. Each machine must then ask for
/// the request of the model's step, and come to its result. Reads of the floor, which the model
/// joins with other steps, happen in the step that needs them. Slots of the model begin at 0.
final class ModelReplay {
  private struct Key: Hashable {
    var slot: Int
    var entry: Int
  }

  private struct Writer {
    var machine: ModelMachine?
    /// The position after which an entry is written, if the machine is ready for one.
    var ready: ChainPosition?
    /// The slots of the entries that the writer's store has.
    var offered: Set<Int> = []
    /// The machine has refused to go on, so that it may write no more.
    var isRefused = false
  }

  private var bucket = SimulatedBucket()
  /// The bytes of the model's entries.
  private var bytes: [Key: [UInt8]] = [:]
  /// The positions after the first entries of slots.
  private var positions: [Int: ChainPosition] = [:]
  private var writers: [Int: Writer] = [:]
  private var collector: ModelMachine?
  private var reader: ModelMachine?
  private var followerSlot = 0
  private(set) var failure: String?
  /// The number of steps in which a machine has made a request or come to a result.
  private(set) var stepCount = 0

  init() throws(PackError) {
    positions[-1] = .start(of: SimulatedReplica.store)
    var head = SimulatedReplica.head(
      .fence, after: .start(of: SimulatedReplica.store), session: 0, time: 0)
    head.epoch = 1
    let entry = try SimulatedReplica.entry(head)
    bytes[Key(slot: 0, entry: 5)] = entry.bytes
    store(entry.bytes, in: 0)
    putBase(0)
    writers[0] = Writer(ready: positions[0])
  }

  /// Replays a step; returns false after the first failure.
  func replay(_ step: ModelStep) -> Bool {
    stepCount += 1
    let first = step.numbers.first ?? 0
    switch step.process {
    case "N":
      let written = bytes[Key(slot: first, entry: step.numbers.last ?? 0)] ?? []
      if case .stored = execute(.putIfAbsent(name(first), written)) {
        store(written, in: first)
      }
    case "C": replayCollector(step.verb, first)
    case "F": replayFollower(step.verb, first, step)
    default:
      guard let number = Int(step.process.dropFirst()) else { return fail("a step is unknown") }
      replayWriter(number, step, first)
    }
    return failure == nil
  }

  @discardableResult private func fail(_ text: String) -> Bool {
    failure = failure ?? text
    return false
  }

  private func name(_ slot: Int) -> ReplicaName { .entry(slot: UInt64(slot) + 1) }

  private func execute(_ request: StorageRequest) -> StorageOutcome { bucket.execute(request) }

  private func store(_ written: [UInt8], in slot: Int) {
    _ = bucket.execute(.putIfAbsent(name(slot), written))
    guard positions[slot] == nil else { return }
    do throws(PackError) {
      guard var position = positions[slot - 1] else { throw .missing("the slot before") }
      try position.advance(over: LogEntry(reading: written, slot: UInt64(slot) + 1))
      positions[slot] = position
    } catch { fail("slot \(slot): \(error)") }
  }

  private func putBase(_ slot: Int) {
    guard let position = positions[slot], let bytes = bucket.objects[name(slot)],
      let entry = try? LogEntry(reading: bytes, slot: UInt64(slot) + 1),
      let base = SimulatedReplica.base(
        after: entry.head, hash: position.hash, verity: UInt64(slot))
    else { return }
    _ = bucket.execute(.putIfAbsent(base.name(of: .head), base.bytes))
    _ = bucket.execute(.putIfAbsent(base.name(of: .file), [0]))
  }

  // MARK: Machines

  private enum Stop {
    case request(StorageRequest)
    case finished(ModelMachine.End)
  }

  /// Runs a machine up to a request, or to its end; executes reads before.
  private func run(
    _ machine: ModelMachine?, isOwn: (LogEntry) -> Bool = { _ in false },
    upTo isWanted: (StorageRequest) -> Bool
  ) -> Stop? {
    guard let machine else {
      fail("a process has no machine")
      return nil
    }
    for _ in 0..<200 {
      switch machine.next() {
      case .wait: continue
      case .request(let request):
        if isWanted(request) { return .request(request) }
        switch request {
        case .get, .list: machine.receive(execute(request))
        case .delete(.base), .delete(.merged): machine.receive(execute(request))
        default: return .request(request)
        }
      case .finished(.start(.compare(let entry))): machine.compare(isOwn(entry))
      case .finished(let end): return .finished(end)
      }
    }
    fail("a machine does not end")
    return nil
  }

  /// Runs a machine to its read of a slot, which has the model's entry.
  private func read(_ slot: Int, _ entry: Int, by machine: ModelMachine?) -> Bool {
    let request = StorageRequest.get(name(slot))
    guard case .request(request)? = run(machine, upTo: { $0 == request }) else { return false }
    let outcome = execute(request)
    let expected = bytes[Key(slot: slot, entry: entry)]
    if outcome != (entry == 0 ? .absent : expected.map { .object($0) }) {
      fail("slot \(slot) has not the entry \(entry)")
    }
    machine?.receive(outcome)
    return true
  }

  // MARK: Writers

  private func replayWriter(_ number: Int, _ step: ModelStep, _ slot: Int) {
    var writer = writers[number] ?? Writer()
    defer { writers[number] = writer }
    let entry = step.numbers.last ?? 0
    switch step.verb {
    case "restore":
      if let old = writer.machine { requireCollected(old) }
      let position = positions[slot] ?? .start(of: SimulatedReplica.store)
      let head = SimulatedReplica.head(
        .fence, after: position, session: UInt64(number), time: 0)
      writer.machine = ModelMachine(
        Takeover(position: position, floor: .none, fence: head), ModelMachine.End.takeover)
    case "read", "get":
      if !read(slot, entry, by: writer.machine) { fail("\(step) is not read") }
      // The model reads the floor in the step that finds the end of the log.
      if step.verb == "read", entry == 0 { _ = run(writer.machine, upTo: isWrite) }
    case "put": put(slot, entry, step.fate, number, &writer)
    case "fenced":
      guard case .finished(.takeover(.fenced(let end)))? = run(writer.machine, upTo: isWrite),
        end == positions[slot]
      else { return _ = fail("\(step) is no fence") }
      (writer.machine, writer.ready) = (nil, end)
    case "committed":
      guard case .finished(.write(.committed(let end)))? = run(writer.machine, upTo: isWrite),
        end == positions[slot]
      else { return _ = fail("\(step) is not committed") }
      (writer.machine, writer.ready) = (nil, end)
    case "garbage":
      switch run(writer.machine, upTo: isWrite) {
      case .request(.delete(name(slot)))?, .finished(.write(.collected))?: break
      default: fail("\(step) is not found")
      }
    case "delete":
      let request = StorageRequest.delete(name(slot))
      if case .request(request)? = run(writer.machine, upTo: isWrite) {
        writer.machine?.receive(execute(request))
      } else if bucket.objects[name(slot)] != nil {
        fail("\(step) is not deleted")
      }
    case "base": putBase(slot)
    case "start":
      guard let position = positions[slot] else { return _ = fail("\(step) has no position") }
      let own: UInt64 = writer.offered.contains(slot + 1) ? 1 : 0
      let local = LocalPosition(position: position, lastWrite: position.lastWrite + own)
      writer.machine = ModelMachine(
        WriterStart(local: local, floor: .none), ModelMachine.End.start,
        compare: { $0.receive(isOwn: $1) })
    case "compare":
      // A writer whose position was collected learns that before it reads on.
      if !read(slot, entry, by: writer.machine) { writer.isRefused = true }
    case "ready":
      let own = { (entry: LogEntry) in entry.head.session.low == UInt64(number) }
      guard
        case .finished(.start(.ready(let end, _)))? =
          run(writer.machine, isOwn: own, upTo: isWrite), end == positions[slot]
      else {
        if !writer.isRefused { fail("\(step) is not ready") }
        return
      }
      (writer.machine, writer.ready) = (nil, end)
    case "end":
      let own = { (entry: LogEntry) in entry.head.session.low == UInt64(number) }
      switch run(writer.machine, isOwn: own, upTo: isWrite) {
      case .finished(.start(.ready)), .finished(.write(.committed)): fail("\(step) goes on")
      default: break
      }
    default: fail("\(step) is unknown")
    }
  }

  private func isWrite(_ request: StorageRequest) -> Bool {
    switch request {
    case .putIfAbsent, .delete: true
    case .get, .list: false
    }
  }

  private func requireCollected(_ machine: ModelMachine) {
    switch run(machine, upTo: isWrite) {
    case .finished(.takeover(.collected))?: break
    default: fail("a takeover does not find that its slots were collected")
    }
  }

  private func put(
    _ slot: Int, _ entry: Int, _ fate: Substring, _ number: Int, _ writer: inout Writer
  ) {
    if writer.isRefused { return _ = fail("a refused writer writes") }
    if let position = writer.ready, writer.machine == nil {
      writer.machine = offer(entry, after: position, number)
      writer.ready = nil
      writer.offered.insert(slot)
    }
    guard
      case .request(.putIfAbsent(name(slot), let written))? =
        run(writer.machine, upTo: isWrite)
    else { return _ = fail("writer \(number) does not put entry \(entry) in slot \(slot)") }
    let key = Key(slot: slot, entry: entry)
    if bytes[key] ?? written != written { fail("entry \(entry) of slot \(slot) has other bytes") }
    bytes[key] = written
    let isExecuted = fate != "never" && fate != "late"
    let outcome = isExecuted ? execute(.putIfAbsent(name(slot), written)) : .unclear
    if isExecuted, outcome != (fate == "exists" ? .exists : .stored) {
      fail("the put of entry \(entry) in slot \(slot) is not \(fate)")
    }
    if outcome == .stored { store(written, in: slot) }
    writer.machine?.receive(fate == "lost" ? .unclear : outcome)
  }

  private func offer(_ entry: Int, after position: ChainPosition, _ number: Int) -> ModelMachine? {
    let head = SimulatedReplica.head(
      .pack, after: position, lastWrite: position.lastWrite + 1, session: UInt64(number), time: 0)
    var machine = SlotWriter(position: position, floor: .none)
    do throws(PackError) {
      try machine.offer(SimulatedReplica.entry(head, values: [UInt64(entry)]))
    } catch { fail("\(error)") }
    return ModelMachine(machine, ModelMachine.End.write)
  }

  // MARK: Collectors and followers

  private func replayCollector(_ verb: Substring, _ slot: Int) {
    switch verb {
    case "begin":
      collector = ModelMachine(
        Collector(
          store: SimulatedReplica.store, limit: UInt64(slot) + 1, floor: .none, time: 0),
        ModelMachine.End.collect)
      _ = run(collector, upTo: isWrite)
    case "floor":
      guard
        case .request(.putIfAbsent(.floor(let number), let written))? =
          run(collector, upTo: isWrite),
        (try? FloorRecord(reading: written, named: "floor"))?.slot == UInt64(slot) + 1
      else { return _ = fail("the collector does not raise the floor to \(slot)") }
      let outcome = execute(.putIfAbsent(.floor(number: number), written))
      if outcome != .stored { fail("the floor \(slot) is not stored") }
      collector?.receive(outcome)
    default:
      // The collector deletes the objects of its list, and leaves later garbage to the next one.
      let request = StorageRequest.delete(name(slot))
      if case .request(request)? = run(collector, upTo: isWrite) {
        collector?.receive(execute(request))
      } else {
        _ = execute(request)
      }
    }
  }

  private func replayFollower(_ verb: Substring, _ slot: Int, _ step: ModelStep) {
    switch verb {
    case "read":
      guard let position = positions[slot - 1] else { return _ = fail("\(step) is too early") }
      reader = ModelMachine(
        ChainReader(position: position, floor: .none, limit: (entries: 1, bytes: 1 << 20)),
        ModelMachine.End.read)
      _ = read(slot, step.numbers.last ?? 0, by: reader)
    case "apply":
      guard case .finished(.read(.read(let entries, _)))? = run(reader, upTo: isWrite),
        entries.map(\.hash) == positions[slot].map({ [$0.hash] })
      else { return _ = fail("\(step) is not applied") }
    default:
      guard case .finished(.read(.collected))? = run(reader, upTo: isWrite) else {
        return _ = fail("\(step) is no swap")
      }
    }
  }
}
