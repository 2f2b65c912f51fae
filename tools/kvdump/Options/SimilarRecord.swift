import ArgumentParser
import EntityStore
import LodestoreFormat

/// The value of `--by`: the measure of the distance of two vectors.
enum Similarity: String, ExpressibleByArgument, CaseIterable {
  case cosine, dot, euclidean

  var measure: VectorMeasure {
    switch self {
    case .cosine: .cosine
    case .dot: .dotProduct
    case .euclidean: .euclidean
    }
  }
}

/// The record of `--similar`, with its vector in the first vector index of the entity.
struct SimilarRecord {
  private let id: UInt64
  private let vector: Vector
  private let measure: VectorMeasure

  init(
    _ id: UInt64, by similarity: Similarity, _ entity: DynamicEntity, _ snapshot: DynamicSnapshot
  ) throws {
    guard !entity.description.declaredIndexes(.vector).isEmpty else {
      throw CommandFailure.badArgument(
        "--similar", reason: "needs a vector index, and \(entity.name) has none",
        nextStep: "choose another entity; 'kvdump schema' lists indexes")
    }
    guard let record = try snapshot.record(id, of: entity),
      let vector = try entity.vector(in: record.reader(verifyingChecksum: true))
    else {
      throw CommandFailure.badArgument(
        "--similar", reason: "\(entity.name) \(id) is not there, or has no vector",
        nextStep: "choose another record")
    }
    self.id = id
    self.vector = vector
    measure = similarity.measure
  }

  /// Returns the request for the other records that have a vector, the nearest first unless it has
  /// an order.
  func request(_ request: QueryRequest) throws -> QueryRequest {
    var result = try request.near(vector, by: measure).except(id)
    if !request.order.isEmpty { result.order = request.order }
    return result
  }
}
