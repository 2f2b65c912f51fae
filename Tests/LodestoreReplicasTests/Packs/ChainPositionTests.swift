import LodestoreFormat
import Testing

@testable import LodestoreReplicas

@Suite("The chain of a replica's log")
struct ChainPositionTests {
  private let start = ChainPosition.start(of: Entries.store)

  /// A pack that follows a place.
  private func pack(_ place: ChainPosition, _ count: UInt64 = 1) -> EntryHead {
    EntryHead(
      .pack, epoch: max(place.epoch, 1), slot: place.slot + 1,
      previous: place.slot == 0 ? nil : place.hash, store: place.store, session: Entries.session,
      firstWrite: place.lastWrite + 1, lastWrite: place.lastWrite + count, time: 0,
      schema: Entries.hash)
  }

  private func other(_ kind: EntryHead.Kind, _ place: ChainPosition) -> EntryHead {
    var head = pack(place, 0)
    head.kind = kind
    head.firstWrite = nil
    head.lastWrite = place.lastWrite
    if kind == .base { head.base = .base(slot: 1, verity: 0x0123_4567_89ab_cdef, .head) }
    return head
  }

  @Test func `entries follow each other by slot, hash, epoch and write`() throws {
    var place = start
    let first = try LogEntry(pack(place, 5))
    try place.advance(over: first)
    #expect(place.slot == 1 && place.hash == first.hash && place.lastWrite == 5)
    var fence = other(.fence, place)
    fence.epoch = 2
    try place.advance(over: try LogEntry(fence))
    try place.advance(over: try LogEntry(other(.empty, place)))
    var base = other(.base, place)
    base.lastWrite = 9
    try place.advance(over: try LogEntry(base))
    try place.advance(over: try LogEntry(pack(place)))
    #expect(place.slot == 5 && place.epoch == 2 && place.lastWrite == 10)
  }

  @Test func `an entry that does not follow is refused and changes nothing`() throws {
    var place = start
    try place.advance(over: try LogEntry(pack(place, 5)))
    let wrong: [(inout EntryHead) -> Void] = [
      { $0.slot += 1 }, { $0.previous = Entries.hash }, { $0.epoch = 2 },
      { $0.firstWrite = 5 }, { $0.store.low = 0 },
      {
        $0.firstWrite = 7
        $0.lastWrite = 7
      },
      { $0.part = .init(number: 2, continues: false) },
      {
        $0.kind = .fence
        $0.firstWrite = nil
        $0.lastWrite = 5
      },
      {
        $0.kind = .empty
        $0.firstWrite = nil
      },
    ]
    for (index, change) in wrong.enumerated() {
      var head = pack(place)
      change(&head)
      let entry = try LogEntry(head)
      let before = place
      let error = try #require(throws: PackError.self, "case \(index)") {
        try place.advance(over: entry)
      }
      #expect(error.code == .brokenChain && place == before)
    }
  }

  @Test func `parts of one write follow each other, and a fence ends them`() throws {
    var place = start
    var head = pack(place, 3)
    head.part.continues = true
    try place.advance(over: try LogEntry(head))
    #expect(place.lastWrite == 0 && place.unfinished?.writes == 1...3)
    let unfinished = place
    for head in [pack(unfinished, 3), other(.empty, unfinished)] {
      let entry = try LogEntry(head)
      #expect(throws: PackError.self) { try place.advance(over: entry) }
      #expect(place == unfinished)
    }
    var last = pack(place, 3)
    last.part.number = 2
    try place.advance(over: try LogEntry(last))
    #expect(place.lastWrite == 3 && place.unfinished == nil)
    place = unfinished
    var fence = other(.fence, place)
    fence.epoch = 2
    try place.advance(over: try LogEntry(fence))
    #expect(place.lastWrite == 0 && place.unfinished == nil)
  }

  @Test func `a merged entry moves over all of its slots`() throws {
    var place = start
    try place.advance(over: try LogEntry(pack(place, 2)))
    var head = pack(place, 40)
    head.slot = 17
    head.merged = .init(firstSlot: 2, lastEntry: Entries.hash)
    try place.advance(over: try LogEntry(head))
    #expect(place.slot == 17 && place.hash == Entries.hash && place.lastWrite == 42)
  }
}
