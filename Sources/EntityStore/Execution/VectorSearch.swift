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
    /// The norm; `nil` if signs were not read, also for a record that may have no vector.
    let norm: Float?
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
  /// The lists of the index; `nil` if it has none.
  private let lists: VectorLists?
  /// The number of codes that were read.
  private(set) var codesRead = 0

  init(_ query: BoundVector, in transaction: Transaction) throws(StoreError) {
    self.query = query
    do {
      cursor = try Cursor(query.index.entries.tree, in: transaction)
    } catch {
      throw StoreError(error)
    }
    lists = try VectorLists(of: query.index, in: transaction)
    let dimensions = query.index.description.dimensions
    form = VectorForm(dimensions: dimensions)
    code = VectorEncoder(dimensions: dimensions).code(of: query.vector.values)
  }

  // MARK: Signs

  /// Visits all blocks of signs or levels, each with its first id.
  private func forEachBlock(
    _ part: VectorForm.Part, _ body: (UInt64, VectorBlock) throws -> Void
  ) throws {
    var isFound = try cursor.seek(atOrAfter: VectorForm.key(part, 0))
    while isFound, let number = try number(of: part) {
      let (first, isTooHigh) = number.multipliedReportingOverflow(by: form.span(part))
      if isTooHigh { throw damaged("there is no block \(number)") }
      try body(first, try block(part))
      isFound = try cursor.next()
    }
  }

  /// Visits all blocks of a list, each with the first id of its section.
  private func forEachBlock(
    ofList list: Int, _ body: (UInt64, VectorBlock) throws -> Void
  ) throws {
    var isFound = try cursor.seek(
      atOrAfter: VectorForm.key(list: list, section: 0, run: 0))
    while isFound, cursor.key.first == VectorForm.Part.listedSigns.rawValue {
      guard cursor.key.count == 11 else { throw damaged("a key has \(cursor.key.count) bytes") }
      let number = cursor.key.bigEndianUInt64(at: 1)
      if number >> 48 != list { return }
      try body(number << 16, try block(.listedSigns))
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

  /// The id of a vector in a block.
  ///
  /// - Throws: ``StoreError/Code/damaged`` for an id that is not after `last`, or not of the
  ///   block.
  private func id(
    _ index: Int, _ block: VectorBlock, _ part: VectorForm.Part, from first: UInt64,
    after last: UInt64?
  ) throws(StoreError) -> UInt64 {
    let offset = UInt64(block.offset(index))
    let (id, isTooHigh) = first.addingReportingOverflow(offset)
    guard part == .listedSigns || offset < form.span(part), !isTooHigh,
      last.map({ $0 < id }) ?? true
    else { throw damaged("a block of vectors has its ids not in order") }
    return id
  }

  /// The part whose blocks have the vectors in the order of ids.
  private var partByID: VectorForm.Part { lists == nil ? .signs : .levels }

  /// Returns those of ascending ids whose records have a vector.
  func ids(among sought: [UInt64]) throws -> [UInt64] {
    var ids: [UInt64] = []
    try forEachBlock(partByID, of: sought) { first, block, sought in
      ids += sought.filter { block.index(ofOffset: UInt16($0 - first)) != nil }
    }
    return ids
  }

  /// Returns the ids of all vectors, ascending.
  func allIDs() throws -> [UInt64] {
    var ids: [UInt64] = []
    let part = partByID
    try forEachBlock(part) { first, block in
      for index in 0..<block.count {
        ids.append(try id(index, block, part, from: first, after: ids.last))
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
  /// - Parameters:
  ///   - ids: the ids of the records to compare, ascending; `nil` for all.
  ///   - total: the number of records.
  func candidates(
    _ count: Int, among ids: [UInt64]?, of total: Int
  ) throws -> (found: [Candidate], areAll: Bool) {
    if let lists { return try candidates(count, among: ids, of: total, in: lists) }
    if let ids {
      var found: [Candidate] = []
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
      return Self.nearest(found, count)
    }
    var blocks: [Block] = []
    try forEachBlock(.signs) { blocks.append(Block(firstID: $0, block: $1)) }
    return try nearest(count, in: blocks, .signs)
  }

  /// Returns the vectors with the nearest signs.
  private func nearest(
    _ count: Int, in blocks: [Block], _ part: VectorForm.Part
  ) throws -> (found: [Candidate], areAll: Bool) {
    let total = blocks.reduce(0) { $0 + $1.block.count }
    codesRead += total
    if query.measure == .cosine {
      let differing = differing(in: blocks, total)
      let most = total <= count ? .max : Self.threshold(differing, count, upTo: form.width)
      return (try nearest(blocks, part, differing, most) { Float($0) }, total <= count)
    }
    let distances = distances(of: blocks, total)
    let most = total <= count ? Float.infinity : Self.threshold(distances, count)
    return (try nearest(blocks, part, distances, most) { $0 }, total <= count)
  }

  /// Returns the vectors with at most some distance.
  @inline(__always)
  private func nearest<Distance: Comparable>(
    _ blocks: [Block], _ part: VectorForm.Part, _ distances: [Distance], _ most: Distance,
    _ number: (Distance) -> Float
  ) throws -> [Candidate] {
    var found: [Candidate] = []
    var position = 0
    for one in blocks {
      var last: UInt64?
      for index in 0..<one.block.count where distances[position &+ index] <= most {
        let id = try id(index, one.block, part, from: one.firstID, after: last)
        found.append(
          Candidate(
            id: id, norm: one.block.number(index), distance: number(distances[position + index])))
        last = id
      }
      position += one.block.count
    }
    return found
  }

  /// The numbers of differing signs.
  private func differing(in blocks: [Block], _ total: Int) -> [UInt16] {
    [UInt16](unsafeUninitializedCapacity: total) { all, count in
      var differing = [UInt16](repeating: 0, count: Int(form.span(.signs)))
      for one in blocks {
        compare(one.block.bytes, one.block.count, &differing)
        for index in 0..<one.block.count { all[count &+ index] = differing[index] }
        count += one.block.count
      }
    }
  }

  /// Returns the lowest number that at least `count` numbers do not exceed.
  private static func threshold(_ numbers: [UInt16], _ count: Int, upTo highest: Int) -> UInt16 {
    var bins = [Int](repeating: 0, count: highest + 1)
    for number in numbers { bins[Int(number)] &+= 1 }
    var sum = 0
    for (number, more) in bins.enumerated() {
      sum += more
      if sum >= count { return UInt16(number) }
    }
    return .max
  }

  private static func nearest(
    _ found: [Candidate], _ count: Int
  ) -> (found: [Candidate], areAll: Bool) {
    if found.count <= count { return (found, true) }
    let most = threshold(found.map(\.distance), count)
    return (found.filter { $0.distance <= most }, false)
  }

  // MARK: Lists

  /// The number of candidates of a condition whose levels are read without their signs, for each
  /// candidate that is sought.
  private static let directCandidates = 8
  /// The part of all records up to which reading their levels is faster than reading all lists.
  private static let directPart = 32

  private func candidates(
    _ count: Int, among ids: [UInt64]?, of total: Int, in lists: VectorLists
  ) throws -> (found: [Candidate], areAll: Bool) {
    if let ids, ids.count / Self.directCandidates <= count || ids.count <= total / Self.directPart {
      return (ids.map { Candidate(id: $0, norm: nil, distance: 0) }, true)
    }
    // The ten nearest of a tenth of all records are about the hundred nearest of all records.
    let share = ids.map { total / max(1, $0.count) } ?? 1
    let wanted = BoundVector.signCount(forCandidates: count * max(1, share), of: total)
    var blocks: [Block] = []
    var read = 0
    var found: [Candidate] = []
    var areAll = true
    let members = ids.map(IDSet.init)
    for list in lists.inOrder(of: code) {
      if read >= wanted, members == nil || found.count >= count {
        areAll = false
        break
      }
      let firstBlock = blocks.count
      try forEachBlock(ofList: list) { first, block in
        blocks.append(Block(firstID: first, block: block))
        read += block.count
      }
      guard let members else { continue }
      found += try nearest(.max, in: Array(blocks[firstBlock...]), .listedSigns).found
        .filter { members.contains($0.id) }
    }
    var result =
      members == nil
      ? try nearest(count, in: blocks, .listedSigns) : Self.nearest(found, count)
    result.found.sort { $0.id < $1.id }
    return (result.found, result.areAll && areAll)
  }

  private func distances(of blocks: [Block], _ total: Int) -> [Float] {
    [Float](unsafeUninitializedCapacity: total) { distances, count in
      var differing = [UInt16](repeating: 0, count: Int(form.span(.signs)))
      for one in blocks {
        compare(one.block.bytes, one.block.count, &differing)
        for index in 0..<one.block.count {
          distances[count &+ index] = distance(differing[index], one.block.number(index))
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
  ///
  /// Leaves out records without a vector, which only candidates without a norm may be.
  func sorted(_ candidates: [Candidate]) throws -> [Candidate] {
    var result: [Candidate] = []
    result.reserveCapacity(candidates.count)
    var position = 0
    try forEachBlock(.levels, of: candidates.map(\.id)) { first, block, ids in
      for id in ids {
        while candidates[position].id < id { position += 1 }
        guard let index = block.index(ofOffset: UInt16(id - first)) else {
          if candidates[position].norm == nil { continue }
          throw damaged("record \(id) has signs and no levels")
        }
        let levels = block.code(index)
        let scale = block.number(index)
        let norm =
          candidates[position].norm
          ?? Float(VectorForm.product(levels, levels)).squareRoot() * scale
        let product = dotProduct(levels) * scale * code.scale
        let distance =
          switch query.measure {
          case .cosine: norm == 0 ? .infinity : -product / norm
          case .dotProduct: -product
          case .euclidean: norm * norm - 2 * product
          }
        result.append(Candidate(id: id, norm: norm, distance: Self.comparable(distance)))
      }
    }
    guard result.count == candidates.count || candidates.contains(where: { $0.norm == nil }) else {
      throw damaged("a block of levels is missing")
    }
    codesRead += result.count
    result.sort { $0.distance != $1.distance ? $0.distance < $1.distance : $0.id < $1.id }
    return result
  }

  private func dotProduct(_ levels: ByteView) -> Float {
    code.withLevels { Float(VectorForm.product(levels, $0)) }
  }
}
