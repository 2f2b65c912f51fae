import LodestoreBytes

/// The lists of a vector index, which have vectors of similar directions.
///
/// See Format.md, "Lists of vectors".
package struct VectorLists: Sendable, Equatable {
  /// The highest number of groups.
  package static let mostGroups = 256

  /// The centroids of groups.
  package private(set) var groups: VectorCentroids
  /// The centroids of lists, which has as many for each group as there are groups.
  package private(set) var lists: VectorCentroids

  package init(_ form: VectorForm) {
    groups = VectorCentroids(width: form.width)
    lists = groups
  }

  init(groups: VectorCentroids, lists: VectorCentroids) {
    self.groups = groups
    self.lists = lists
  }

  /// The number of groups of lists that are made for a number of vectors.
  package static func groupCount(of vectors: Int) -> Int {
    min(max(2, Int(Double(vectors).squareRoot().squareRoot())), mostGroups)
  }

  /// Whether an index with `vectors` vectors has too many for these lists.
  package func isOutgrown(by vectors: Int) -> Bool {
    let count = groups.count
    return count < Self.mostGroups && vectors >= 4 * count * count * count * count
  }

  /// Adds the centroids of a stored block, which comes after all earlier blocks of its part.
  package mutating func append(
    _ block: VectorBlock, _ part: VectorForm.Part, number: UInt64, of form: VectorForm
  ) throws(FormatError) {
    let span = form.span(part)
    let count = part == .groups ? groups.count : lists.count
    let most = part == .groups ? Self.mostGroups : Self.mostGroups * Self.mostGroups
    guard count + block.count <= most, UInt64(count) == number.multipliedFull(by: span),
      (0..<block.count).allSatisfy({ block.offset($0) == $0 })
    else {
      throw FormatError("centroid \(count) is not in the block of its number", .vectorLists)
    }
    for index in 0..<block.count {
      if part == .groups {
        groups.append(block.code(index), block.number(index))
      } else {
        lists.append(block.code(index), block.number(index))
      }
    }
  }

  /// Checks that each group has its lists, after all blocks were added.
  package func check() throws(FormatError) {
    guard lists.count == groups.count * groups.count else {
      throw FormatError(
        "\(groups.count) groups have \(lists.count) lists, not \(groups.count * groups.count)",
        .vectorLists)
    }
  }

  package var isEmpty: Bool { groups.count == 0 && lists.count == 0 }

  /// Returns the number of the list of a vector.
  package func list(of code: VectorCode) -> Int {
    code.withLevels { levels in
      let group = groups.nearest(to: levels, among: 0..<groups.count)
      let first = group * groups.count
      return lists.nearest(to: levels, among: first..<first + groups.count)
    }
  }

  /// Returns the numbers of all lists, the nearest to a vector first.
  package func inOrder(of code: VectorCode) -> [Int] {
    let scores = code.withLevels { levels in
      (0..<lists.count).map { lists.score($0, of: levels) }
    }
    return scores.indices.sorted {
      scores[$0] != scores[$1] ? scores[$0] > scores[$1] : $0 < $1
    }
  }
}

/// Directions in turned axes, which stand for vectors that are near to them.
package struct VectorCentroids: Sendable, Equatable {
  private let width: Int
  private var levels: [UInt8] = []
  private var factors: [Float] = []

  init(width: Int) { self.width = width }

  package var count: Int { factors.count }
  package func levels(_ index: Int) -> ArraySlice<UInt8> {
    levels[index * width..<(index + 1) * width]
  }
  package func factor(_ index: Int) -> Float { factors[index] }

  mutating func append(_ levels: ByteView, _ factor: Float) {
    self.levels.append(contentsOf: levels)
    factors.append(factor)
  }

  /// Adds the direction of a sum of levels, unless it is zero.
  mutating func append(directionOf sum: ArraySlice<Float>) -> Bool {
    let largest = sum.reduce(0) { max($0, abs($1)) }
    guard largest > 0 else { return false }
    let levels = sum.map { UInt8(bitPattern: Int8(($0 / largest * 127).rounded())) }
    levels._withBytes { append($0, Self.factor(of: $0)) }
    return true
  }

  /// The reciprocal of the length of levels; 0 for zeros.
  static func factor(of levels: ByteView) -> Float {
    let square = VectorForm.product(levels, levels)
    return square == 0 ? 0 : 1 / Float(square).squareRoot()
  }

  /// The product with a direction, which is higher for nearer vectors.
  ///
  /// One rounding of doubles gives any program the same score.
  @inline(__always)
  func score(_ index: Int, of levels: ByteView) -> Double {
    self.levels._withBytes { own in
      let product = VectorForm.product(own.part(from: index * width, count: width), levels)
      return Double(product) * Double(factors[index])
    }
  }

  /// Returns the first of the centroids with the highest score.
  func nearest(to levels: ByteView, among indices: Range<Int>) -> Int {
    var (nearest, highest) = (indices.lowerBound, -Double.infinity)
    for index in indices {
      let score = score(index, of: levels)
      if score > highest { (nearest, highest) = (index, score) }
    }
    return nearest
  }
}

extension VectorCode {
  package func withLevels<Result>(_ body: (ByteView) -> Result) -> Result {
    bytes._withBytes { bytes in
      // The signs are an eighth of the levels.
      let start = bytes.count / 9
      return body(bytes.part(from: start, count: bytes.count - start))
    }
  }
}

extension VectorForm {
  /// The product of two vectors by their levels.
  package static func product(_ a: ByteView, _ b: ByteView) -> Int32 {
    var sum: Int32 = 0
    for index in 0..<a.count {
      sum &+= Int32(Int8(bitPattern: a[index])) &* Int32(Int8(bitPattern: b[index]))
    }
    return sum
  }
}

extension UInt64 {
  /// The product; the highest number if it is higher.
  fileprivate func multipliedFull(by other: UInt64) -> UInt64 {
    let (product, isTooHigh) = multipliedReportingOverflow(by: other)
    return isTooHigh ? .max : product
  }
}
