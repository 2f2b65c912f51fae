import LodestoreBytes

/// The blocks of a vector index with vectors of some number of dimensions.
///
/// See Format.md, "Blocks of vectors".
package struct VectorForm: Sendable, Equatable {
  /// The highest number of dimensions.
  package static let mostDimensions = 8_192
  /// The number of bytes that three pages have for a value.
  private static let blockSize = 3 * 4_096 - 16

  /// The codes that a block has.
  package enum Part: UInt8, Sendable, CaseIterable {
    /// One bit for each component, and the norms.
    case signs
    /// One byte for each component, and the scales.
    case levels
    /// The levels and factors of the centroids of groups.
    case groups
    /// The levels and factors of the centroids of lists.
    case lists
    /// As ``signs``, for an index with lists.
    case listedSigns

    fileprivate var isOfSigns: Bool { self == .signs || self == .listedSigns }
  }

  /// The number of record ids that share a section of a list.
  package static let section: UInt64 = 1 << 16

  package let dimensions: Int
  /// The number of components of a code, a multiple of 64.
  package let width: Int

  package init(dimensions: Int) {
    self.dimensions = dimensions
    width = max(64, (dimensions + 63) / 64 * 64)
  }

  /// The number of bytes of one code.
  @inline(__always)
  package func codeSize(_ part: Part) -> Int { part.isOfSigns ? width / 8 : width }

  /// The number of bytes of one vector in a block.
  @inline(__always)
  package func size(_ part: Part) -> Int { codeSize(part) + 6 }

  /// The number of record ids that share a block.
  package func span(_ part: Part) -> UInt64 { UInt64(max(1, Self.blockSize / size(part))) }

  package static func key(_ part: Part, _ number: UInt64) -> [UInt8] {
    [part.rawValue] + bigEndianBytes(number)
  }

  /// The key of a run of the vectors of a list whose record ids share a section.
  package static func key(list: Int, section: UInt64, run: Int) -> [UInt8] {
    key(.listedSigns, UInt64(list) << 48 | section) + bigEndianBytes(UInt16(run))
  }
}

/// A block of codes, as it is stored; the view is valid as long as the bytes.
package struct VectorBlock {
  package let count: Int
  package let bytes: ByteView
  private let codeSize: Int

  @inline(__always)
  package init(_ bytes: ByteView, _ part: VectorForm.Part, of form: VectorForm) throws(FormatError)
  {
    let size = form.size(part)
    guard !bytes.isEmpty, bytes.count % size == 0, bytes.count / size <= form.span(part) else {
      throw FormatError("a block of vectors has \(bytes.count) bytes", .vectorBlock)
    }
    count = bytes.count / size
    codeSize = form.codeSize(part)
    self.bytes = bytes
  }

  /// The bytes of a code.
  @inline(__always)
  package func code(_ index: Int) -> ByteView {
    bytes.part(from: index * codeSize, count: codeSize)
  }

  /// The norm or the scale of a vector.
  @inline(__always)
  package func number(_ index: Int) -> Float {
    Float(bitPattern: bytes.uint32(at: count * codeSize + 4 * index))
  }

  /// The record id less the first id of the block.
  @inline(__always)
  package func offset(_ index: Int) -> UInt16 {
    bytes.uint16(at: count * (codeSize + 4) + 2 * index)
  }

  /// The index of the vector with an offset; `nil` if the block has none.
  @inline(__always)
  package func index(ofOffset sought: UInt16) -> Int? {
    // Most blocks have all ids from the first one on.
    if Int(sought) < count, offset(Int(sought)) == sought { return Int(sought) }
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if offset(middle) < sought { low = middle + 1 } else { high = middle }
    }
    return low < count && offset(low) == sought ? low : nil
  }
}

/// Blocks that are put together.
package struct VectorBlockBuilder {
  private var codes: [UInt8] = []
  private var numbers: [UInt8] = []
  private var offsets: [UInt8] = []

  package init() {}

  package var isEmpty: Bool { offsets.isEmpty }
  package var count: Int { offsets.count / 2 }

  /// Adds a vector after all others.
  package mutating func append(
    _ code: VectorCode, at offset: UInt16, _ part: VectorForm.Part, of form: VectorForm
  ) {
    let signs = form.codeSize(.signs)
    codes += part.isOfSigns ? code.bytes[..<signs] : code.bytes[signs...]
    append(part.isOfSigns ? code.norm : code.scale, offset)
  }

  /// Adds a vector of a stored block.
  package mutating func append(_ block: VectorBlock, at index: Int) {
    codes.append(contentsOf: block.code(index))
    append(block.number(index), block.offset(index))
  }

  /// Adds a centroid.
  package mutating func append(_ centroids: VectorCentroids, at index: Int, _ offset: UInt16) {
    codes += centroids.levels(index)
    append(centroids.factor(index), offset)
  }

  private mutating func append(_ number: Float, _ offset: UInt16) {
    numbers += littleEndianBytes(number.bitPattern)
    offsets += littleEndianBytes(offset)
  }

  /// The block of all vectors.
  package var bytes: [UInt8] { codes + numbers + offsets }

  /// The blocks of at most `span` vectors each.
  package func runs(of span: UInt64) -> [[UInt8]] {
    let (count, span) = (count, Int(span))
    if count == 0 { return [] }
    let size = codes.count / count
    return stride(from: 0, to: count, by: span).map { start in
      let end = min(count, start + span)
      var run = Array(codes[start * size..<end * size])
      run += numbers[start * 4..<end * 4]
      run += offsets[start * 2..<end * 2]
      return run
    }
  }
}
