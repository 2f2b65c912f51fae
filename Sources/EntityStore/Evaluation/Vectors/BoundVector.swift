internal import LodestoreFormat

/// A condition on vectors whose index is known.
final class BoundVector: BoundProximity {
  /// The number of candidates unless the query gives another.
  static let usualCandidates = 2_000
  /// The number of candidates for which the lists of all vectors are read.
  private static let candidatesOfAllLists = 16_000

  /// The number of signs that are read in the nearest lists; for 2,000 candidates an eighth of all.
  static func signCount(forCandidates count: Int, of total: Int) -> Int {
    count >= candidatesOfAllLists ? .max : max(count, total * count / candidatesOfAllLists)
  }

  let index: StoredComputedIndex
  let vector: Vector
  let measure: VectorMeasure
  /// The number of vectors whose distances are estimated by their levels.
  let candidates: Int
  let text: String

  init(
    _ index: StoredComputedIndex, _ vector: Vector, _ measure: VectorMeasure, candidates: Int,
    subject: String
  ) {
    self.index = index
    self.vector = vector
    self.measure = measure
    self.candidates = candidates
    text = "\(subject) NEAR {\"\(measure.rawValue)\", \(vector.values.count) numbers}"
  }

  var isNear: Bool { true }

  func admits(_ record: RecordUnderTest, _ entity: StoredEntity) throws(FormatError) -> Bool {
    distance(record, entity) != nil
  }

  func distance(_ record: RecordUnderTest, _ entity: StoredEntity) -> Double? {
    let found = IndexedVector(of: index.description, in: record.view, entity.description)
    return found.vector.flatMap { vector.distance(to: Vector($0), by: measure) }
  }
}

extension ConditionBinding {
  /// Binds `SELF NEAR {'cosine', vector}`; `nil` for a comparison with a place.
  func vector(_ comparison: Comparison) throws(StoreError) -> BoundVector? {
    guard comparison.operator == .near, case .values(let values) = comparison.right,
      case .string(let name)? = values.first
    else { return nil }
    guard case .path(let path) = comparison.left, path.root == .record, !isOfRule,
      variables.isEmpty, comparison.quantifier == nil, comparison.options.isEmpty,
      let measure = VectorMeasure(rawValue: name), (2...3).contains(values.count),
      case .data(let bytes) = values[1], let vector = bytes._withBytes({ Vector(bytes: $0) }),
      let candidates = values.count == 2 ? BoundVector.usualCandidates : values[2].count
    else {
      throw .badQuery(
        "a condition on vectors is 'SELF NEAR {\"cosine\", data}' or with 'dotProduct' or "
          + "'euclidean', where the data are numbers of four bytes, and may have a number of "
          + "candidates behind")
    }
    let sought = path.memberText
    let indexes = entity.computedIndexes(.vector)
    for index in indexes
    where sought.isEmpty || entity.description.sourceNames(index.description) == [sought] {
      switch bytes._withBytes({ IndexedVector($0, dimensions: index.description.dimensions) }) {
      case .vector where measure == .cosine && vector.distance(to: vector, by: .cosine) == nil:
        throw .badQuery("a vector of zeros has no angle; compare it by 'euclidean'")
      case .vector:
        return BoundVector(
          index, vector, measure, candidates: candidates, subject: sought.isEmpty ? "SELF" : sought)
      case .invalid(let rule):
        throw .badQuery("the vector of a query by \(index.entries.name) must \(rule)")
      case .none: continue
      }
    }
    let known = indexes.map(\.entries.name).joined(separator: ", ")
    let subject =
      sought.isEmpty
      ? "\(entity.name) has no vector index" : "'\(entity.name).\(sought)' is in no vector index"
    throw .badQuery(
      "\(subject); declare one, as by #Vector<\(entity.name)>(\\.embedding, dimensions: 384)"
        + (known.isEmpty ? "" : ". It has \(known)"))
  }
}

extension Value {
  /// The value as a count of at least 1.
  fileprivate var count: Int? {
    if case .integer(let number) = self, number > 0 { Int(number) } else { nil }
  }
}
