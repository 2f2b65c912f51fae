internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Finds the vectors of an index that are probably nearest to another, by their codes alone.
///
/// The codes are read where they are stored; they are valid until the next change in the
/// transaction.
final class VectorSearch {
  struct Candidate {
    let id: UInt64
    let norm: Float
    /// The estimated distance, in an order of the measure.
    var distance: Float
  }

  private struct Block {
    let firstID: UInt64
    let block: VectorBlock
  }

  private let query: BoundVector
  private let cursor: Cursor
  private let form: VectorForm
  private let code: VectorCode
  /// The number of codes that were read.
  private(set) var codesRead = 0

  init(_ query: BoundVector, in transaction: Transaction) throws(LMDBError) {
    self.query = query
    cursor = try Cursor(query.index.entries.tree, in: transaction)
    let dimensions = query.index.description.dimensions
    form = VectorForm(dimensions: dimensions)
    code = VectorEncoder(dimensions: dimensions).code(of: query.vector.values)
  }

  // MARK: Signs

  /// Visits all blocks of signs, each with its first id.
  private func forEachBlock(_ body: (UInt64, VectorBlock) throws -> Void) throws {
    var isFound = try cursor.seek(atOrAfter: VectorForm.key(.signs, 0))
    while isFound, let number = try number(of: .signs) {
      let (first, isTooHigh) = number.multipliedReportingOverflow(by: form.span(.signs))
      if isTooHigh { throw damaged("there is no block \(number)") }
      try body(first, try block(.signs))
      isFound = try cursor.next()
    }
  }

  /// The number of the block at the cursor; `nil` for a block with another part.
  private func number(of part: VectorForm.Part) throws(StoreError) -> UInt64? {
    guard cursor.key.count == 9 else { throw damaged("a key has \(cursor.key.count) bytes") }
    return cursor.key[0] == part.rawValue ? cursor.key.bigEndianUInt64(at: 1) : nil
  }

  private func block(_ part: VectorForm.Part) throws(StoreError) -> VectorBlock {
    do throws(FormatError) {
      return try VectorBlock(cursor.value, part, of: form)
    } catch {
      throw damaged(error.description)
    }
  }

  private func damaged(_ reason: String) -> StoreError {
    .damagedIndex(query.index.entries.name, reason)
  }

  /// The id of a vector in a block of signs.
  ///
  /// - Throws: ``StoreError/Code/damaged`` for an id that is not after `last`, or not of the
  ///   block.
  private func id(
    _ index: Int, _ block: VectorBlock, from first: UInt64, after last: UInt64?
  ) throws(StoreError) -> UInt64 {
    let offset = UInt64(block.offset(index))
    let (id, isTooHigh) = first.addingReportingOverflow(offset)
    guard offset < form.span(.signs), !isTooHigh, last.map({ $0 < id }) ?? true else {
      throw damaged("a block of vectors has its ids not in order")
    }
    return id
  }

  /// Returns the ids of all vectors, ascending.
  func allIDs() throws -> [UInt64] {
    var ids: [UInt64] = []
    try forEachBlock { first, block in
      for index in 0..<block.count {
        ids.append(try id(index, block, from: first, after: ids.last))
      }
    }
    return ids
  }

  /// Visits, for each part of ascending ids that share a block, the block and the ids.
  private func forEachBlock(
    _ part: VectorForm.Part, of ids: [UInt64],
    _ body: (UInt64, VectorBlock, ArraySlice<UInt64>) throws -> Void
  ) throws {
    let span = form.span(part)
    var start = 0
    var last: UInt64?
    while start < ids.count {
      let number = ids[start] / span
      let first = number * span
      var end = start + 1
      while end < ids.count, ids[end] - first < span { end += 1 }
      let isFound: Bool
      if let last, last &+ 1 == number {
        isFound = try cursor.next() && self.number(of: part) == number
      } else {
        isFound = try VectorForm.key(part, number)._withBytes { try cursor.seek($0) }
      }
      if isFound { try body(first, try block(part), ids[start..<end]) }
      last = isFound ? number : nil
      start = end
    }
  }

  /// Returns about `count` vectors with the signs nearest to those of the query, in the order of
  /// ids, and whether these are all vectors.
  ///
  /// - Parameter ids: the ids of the records to compare, ascending; `nil` for all.
  func candidates(
    _ count: Int, among ids: [UInt64]?
  ) throws -> (found: [Candidate], areAll: Bool) {
    var found: [Candidate] = []
    if let ids {
      var differing: [UInt16] = [0]
      try forEachBlock(.signs, of: ids) { first, block, ids in
        for id in ids {
          guard let index = block.index(ofOffset: UInt16(id - first)) else { continue }
          compare(block.code(index), 1, &differing)
          let norm = block.number(index)
          found.append(Candidate(id: id, norm: norm, distance: distance(differing[0], norm)))
        }
      }
      codesRead += found.count
      if found.count <= count { return (found, true) }
      let most = Self.threshold(found.map(\.distance), count)
      return (found.filter { $0.distance <= most }, false)
    }
    var blocks: [Block] = []
    var total = 0
    try forEachBlock { first, block in
      blocks.append(Block(firstID: first, block: block))
      total += block.count
    }
    codesRead += total
    let distances = distances(of: blocks, total)
    let most = total <= count ? Float.infinity : Self.threshold(distances, count)
    found.reserveCapacity(min(total, count))
    var position = 0
    for one in blocks {
      for index in 0..<one.block.count where distances[position + index] <= most {
        found.append(
          Candidate(
            id: try id(index, one.block, from: one.firstID, after: found.last?.id),
            norm: one.block.number(index), distance: distances[position + index]))
      }
      position += one.block.count
    }
    return (found, total <= count)
  }

  private func distances(of blocks: [Block], _ total: Int) -> [Float] {
    [Float](unsafeUninitializedCapacity: total) { distances, count in
      var differing = [UInt16](repeating: 0, count: Int(form.span(.signs)))
      for one in blocks {
        compare(one.block.bytes, one.block.count, &differing)
        if query.measure == .cosine {
          for index in 0..<one.block.count { distances[count &+ index] = Float(differing[index]) }
        } else {
          for index in 0..<one.block.count {
            distances[count &+ index] = distance(differing[index], one.block.number(index))
          }
        }
        count += one.block.count
      }
    }
  }

  /// The distance by the number of differing signs, in an order of the measure.
  @inline(__always)
  private func distance(_ differing: UInt16, _ norm: Float) -> Float {
    if query.measure == .cosine { return Float(differing) }
    let product = norm * code.norm * Self.cosine(Float(differing) / Float(form.width))
    return Self.comparable(query.measure == .dotProduct ? -product : norm * norm - 2 * product)
  }

  /// The distance, or infinity for one that is not a number, as of vectors of enormous norms.
  @inline(__always)
  private static func comparable(_ distance: Float) -> Float {
    distance.isNaN ? .infinity : distance
  }

  /// The cosine of a part of a half turn, within 0.001.
  @inline(__always)
  private static func cosine(_ part: Float) -> Float {
    let x = (part - 0.5) * .pi
    let square = x * x
    return -x * (1 - square * (1 / 6 - square * (1 / 120 - square / 5_040)))
  }

  /// Returns the number that at least `count` distances do not exceed, and few more.
  private static func threshold(_ distances: [Float], _ count: Int) -> Float {
    var (low, high) = (Float.infinity, -Float.infinity)
    for distance in distances {
      low = min(low, distance)
      high = max(high, distance)
    }
    let last = 4_095
    let factor = high > low ? Float(last) / (high - low) : 0
    // Enormous distances have no such bins.
    guard factor.isFinite, factor > 0, low.isFinite else { return .infinity }
    var bins = [Int](repeating: 0, count: last + 1)
    for distance in distances { bins[min(last, Int((distance - low) * factor))] += 1 }
    var sum = 0
    for (bin, more) in bins.enumerated() {
      sum += more
      if sum >= count { return min(high, (low + Float(bin + 1) / factor).nextUp) }
    }
    return high
  }

  /// Counts the differing signs of `count` codes that follow one another.
  @inline(__always)
  private func compare(_ codes: ByteView, _ count: Int, _ result: inout [UInt16]) {
    code.bytes._withBytes { signs in
      // With a constant number of words the loop over them is unrolled.
      switch form.width / 64 {
      case 4: Self.compare(codes, count, signs, 4, &result)
      case 6: Self.compare(codes, count, signs, 6, &result)
      case 8: Self.compare(codes, count, signs, 8, &result)
      case 12: Self.compare(codes, count, signs, 12, &result)
      case 16: Self.compare(codes, count, signs, 16, &result)
      case let words: Self.compare(codes, count, signs, words, &result)
      }
    }
  }

  @inline(__always)
  private static func compare(
    _ codes: ByteView, _ count: Int, _ signs: ByteView, _ words: Int, _ result: inout [UInt16]
  ) {
    for index in 0..<count {
      var sum = 0
      for word in 0..<words {
        let bits = codes.uint64(at: (index &* words &+ word) &* 8) ^ signs.uint64(at: word &* 8)
        sum &+= bits.nonzeroBitCount
      }
      result[index] = UInt16(truncatingIfNeeded: sum)
    }
  }

  // MARK: Levels

  /// Sorts candidates by their distances, estimated from the levels.
  func sorted(_ candidates: [Candidate]) throws -> [Candidate] {
    var result = candidates
    var (position, found) = (0, 0)
    try forEachBlock(.levels, of: candidates.map(\.id)) { first, block, ids in
      for id in ids {
        while result[position].id < id { position += 1 }
        guard let index = block.index(ofOffset: UInt16(id - first)) else {
          throw damaged("record \(id) has signs and no levels")
        }
        found += 1
        let norm = result[position].norm
        let product = dotProduct(block.code(index)) * block.number(index) * code.scale
        let distance =
          switch query.measure {
          case .cosine: norm == 0 ? .infinity : -product / norm
          case .dotProduct: -product
          case .euclidean: norm * norm - 2 * product
          }
        result[position].distance = Self.comparable(distance)
      }
    }
    guard found == candidates.count else { throw damaged("a block of levels is missing") }
    codesRead += found
    result.sort { $0.distance != $1.distance ? $0.distance < $1.distance : $0.id < $1.id }
    return result
  }

  @inline(__always)
  private func dotProduct(_ levels: ByteView) -> Float {
    code.bytes._withBytes { bytes in
      let start = form.width / 8
      var sum: Int32 = 0
      for index in 0..<form.width {
        let (a, b) = (Int8(bitPattern: levels[index]), Int8(bitPattern: bytes[start &+ index]))
        sum &+= Int32(a) &* Int32(b)
      }
      return Float(sum)
    }
  }
}
