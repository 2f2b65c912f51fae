/// The normalization properties of one scalar, packed into one word.
struct NormalizationFacts {
  /// The scalar is the second of a pair that NFC composes.
  static let isSecond: UInt32 = 1 << 8
  /// NFC changes the scalar even when it stands alone.
  static let isUnstable: UInt32 = 1 << 9
  /// The decomposition starts with a scalar that may compose with the scalar before it.
  static let startsInside: UInt32 = 1 << 10
  static let hasDecomposition: UInt32 = 1 << 11

  var word: UInt32

  @inline(__always)
  var combiningClass: UInt8 { UInt8(truncatingIfNeeded: word) }

  @inline(__always)
  func has(_ mask: UInt32) -> Bool { word & mask != 0 }

  /// Whether normalization never combines or reorders this scalar with an earlier scalar.
  @inline(__always)
  var isBoundary: Bool { word & (0xff | Self.isSecond | Self.startsInside) == 0 }

  /// The range of the decomposition in ``NormalizationTables/decompositions``.
  @inline(__always)
  var decomposition: Range<Int> {
    let start = Int(word &>> 16)
    return start..<(start &+ Int(word &>> 12 & 0xf))
  }
}

/// The tables of normalization, made from ``NormalizationData`` at first use.
final class NormalizationTables: Sendable {
  static let shared = NormalizationTables()

  private static let blockBits: UInt32 = 6
  private static let blockSize = 1 << 6

  /// The start of the words for each group of 64 scalars.
  ///
  /// Groups without words share one block of zeros.
  private let blocks: [UInt16]
  private let words: [UInt32]
  /// Full decompositions, in canonical order.
  let decompositions: [UInt32]
  /// Pairs that compose, with the first scalar in the upper half, in ascending order.
  private let pairs: [UInt64]
  private let composites: [UInt32]

  @inline(__always)
  func facts(_ scalar: UInt32) -> NormalizationFacts {
    let block = Int(scalar &>> Self.blockBits)
    guard block < blocks.count else { return NormalizationFacts(word: 0) }
    return NormalizationFacts(
      word: words[Int(blocks[block]) &+ Int(scalar) & (Self.blockSize &- 1)])
  }

  /// The composite of a pair.
  ///
  /// The tables lack Hangul syllables, which ``Hangul`` composes by calculation.
  func composite(_ first: UInt32, _ second: UInt32) -> UInt32? {
    let pair = UInt64(first) << 32 | UInt64(second)
    var low = 0
    var high = pairs.count
    while low < high {
      let middle = (low &+ high) &>> 1
      if pairs[middle] < pair { low = middle &+ 1 } else { high = middle }
    }
    return low < pairs.count && pairs[low] == pair ? composites[low] : nil
  }

  private init() {
    var builder = NormalizationTableBuilder()
    builder.readCombiningClasses()
    builder.readDecompositions()
    var facts = builder.facts()
    var blocks = [UInt16](repeating: 0, count: 0x110000 >> Int(Self.blockBits))
    var words = [UInt32](repeating: 0, count: Self.blockSize)
    for scalar in facts.keys.sorted() {
      let block = Int(scalar >> Self.blockBits)
      guard block < blocks.count, let word = facts.removeValue(forKey: scalar) else { continue }
      if blocks[block] == 0 {
        blocks[block] = UInt16(truncatingIfNeeded: words.count)
        words.append(contentsOf: repeatElement(0, count: Self.blockSize))
      }
      words[Int(blocks[block]) + Int(scalar) % Self.blockSize] = word
    }
    self.blocks = blocks
    self.words = words
    decompositions = builder.expanded
    let order = builder.compositions.sorted { $0.key < $1.key }
    pairs = order.map(\.key)
    composites = order.map(\.value)
  }
}

/// Reads ``NormalizationData`` into dictionaries, once.
private struct NormalizationTableBuilder {
  private var classes: [UInt32: UInt8] = [:]
  /// The decompositions, one step each.
  private var steps: [(scalar: UInt32, parts: [UInt32], isComposed: Bool)] = []
  private(set) var compositions: [UInt64: UInt32] = [:]
  private(set) var expanded: [UInt32] = []

  mutating func readCombiningClasses() {
    var reader = NormalizationDataReader(NormalizationData.combiningClasses)
    var scalar: UInt32 = 0
    while reader.hasEntry() {
      scalar += reader.number()
      let length = reader.take("*") ? reader.number() : 1
      let combiningClass = reader.take("=") ? UInt8(truncatingIfNeeded: reader.number()) : 0
      for member in scalar..<(scalar + length) { classes[member] = combiningClass }
      scalar += length
    }
  }

  mutating func readDecompositions() {
    var reader = NormalizationDataReader(NormalizationData.decompositions)
    var scalar: UInt32 = 0
    while reader.hasEntry() {
      scalar += reader.number()
      let isComposed = reader.take("+")
      if isComposed || reader.take("-") {
        let first = reader.number()
        let second = reader.take(",") ? reader.number() : 0
        steps.append((scalar, [first, second], isComposed))
        if isComposed { compositions[UInt64(first) << 32 | UInt64(second)] = scalar }
      } else if reader.take(",") {
        steps.append((scalar, [reader.number()], false))
      }
    }
  }

  /// Computes the word of facts for each scalar that normalization affects.
  ///
  /// Also fills ``expanded``.
  mutating func facts() -> [UInt32: UInt32] {
    var words = classes.mapValues { UInt32($0) }
    var seconds = Set(compositions.keys.map { UInt32(truncatingIfNeeded: $0) })
    seconds.formUnion(Hangul.vowels)
    seconds.formUnion(Hangul.finals)
    for second in seconds { words[second, default: 0] |= NormalizationFacts.isSecond }
    let parts = Dictionary(steps.map { ($0.scalar, $0.parts) }) { first, _ in first }
    for step in steps {
      var full = step.parts
      // Only the first part can decompose further, except for singletons that decompose to
      // singletons.
      while let first = full.first, let deeper = parts[first] {
        full.replaceSubrange(0..<1, with: deeper)
      }
      var word = NormalizationFacts.hasDecomposition
      word |= UInt32(expanded.count) << 16 | UInt32(full.count) << 12
      if !step.isComposed { word |= NormalizationFacts.isUnstable }
      if let first = full.first, seconds.contains(first) || classes[first] != nil {
        word |= NormalizationFacts.startsInside
      }
      words[step.scalar, default: 0] |= word
      expanded += full
    }
    return words
  }
}
