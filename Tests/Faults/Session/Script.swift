/// The calls of a session, which follow from a seed.
struct Script {
  private(set) var steps: [Step] = []
  /// The start of the last part, in which the store stays open.
  private(set) var lastPart = 0
  private var random: SessionRandom
  private var nextKey = 1
  private var isNewer = false

  /// - Parameter length: The number of writes in addition to those of every session.
  init(seed: UInt64, length: Int) {
    random = SessionRandom(seed)
    open(isNewer: false)
    steps.append(.insert(newRows(24)))
    steps.append(.put(rows(5), isAsynchronous: false))
    steps.append(.take(newRows(8) + rows(2)))
    steps.append(.update(group: 2, note: text(40)))
    steps.append(.delete(keys(6)))
    steps.append(.put([row(key: key(), noteLength: 9_000)], isAsynchronous: true))
    open(isNewer: false)
    steps.append(.put(rows(3), isAsynchronous: false))
    open(isNewer: true)
    steps.append(.put(rows(3), isAsynchronous: true))
    steps.append(.copy("copy-1.lodestore"))
    steps.append(.take(rows(4)))
    open(isNewer: false)
    steps.append(.put(rows(2), isAsynchronous: false))
    steps.append(.update(group: 1, note: text(2_000)))
    open(isNewer: true)
    lastPart = steps.count
    steps.append(.purge)
    for _ in 0..<length { steps.append(anyWrite()) }
    steps.append(.delete(keys(3)))
    steps.append(.close)
  }

  private mutating func open(isNewer: Bool) {
    if !steps.isEmpty { steps.append(.close) }
    self.isNewer = isNewer
    steps.append(.open(isNewer: isNewer))
  }

  private mutating func anyWrite() -> Step {
    switch Int.random(in: 0..<10, using: &random) {
    case 0: .delete(keys(4))
    case 1: .take(newRows(3) + rows(2))
    case 2: .update(group: Int.random(in: 0..<5, using: &random), note: text(30))
    case 3: .insert(newRows(3))
    case 4: .put([row(key: key(), noteLength: 9_000)], isAsynchronous: false)
    default: .put(rows(3), isAsynchronous: Bool.random(using: &random))
    }
  }

  // MARK: Rows

  private mutating func key() -> Int { Int.random(in: 1..<nextKey, using: &random) }
  private mutating func keys(_ count: Int) -> [Int] { (0..<count).map { _ in key() } }

  private mutating func newRows(_ count: Int) -> [Row] {
    nextKey += count
    return ((nextKey - count)..<nextKey).map { row(key: $0, noteLength: 20) }
  }

  /// Rows with different keys, of existing records or of records that were deleted.
  private mutating func rows(_ count: Int) -> [Row] {
    Set(keys(count)).sorted().map { row(key: $0, noteLength: 60) }
  }

  private mutating func row(key: Int, noteLength: Int) -> Row {
    Row(
      key: key, name: text(12), note: text(noteLength),
      group: Int.random(in: 0..<5, using: &random),
      rank: isNewer ? Int.random(in: 0..<9, using: &random) : nil)
  }

  private mutating func text(_ length: Int) -> String {
    let letters = Array("abcdefghijklmnopqrstuvwxyz")
    let start = String(
      (0..<min(length, 10)).map { _ in letters[Int.random(in: 0..<26, using: &random)] })
    return String(String(repeating: start, count: length / 10 + 1).prefix(length))
  }
}

/// Random numbers that a seed repeats (SplitMix64).
struct SessionRandom: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64, _ salt: UInt64 = 0) { state = seed &+ salt &* 0x9e37_79b9_7f4a_7c15 }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}
