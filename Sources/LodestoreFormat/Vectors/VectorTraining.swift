import LodestoreBytes

/// Makes the lists of a vector index from a sample of its vectors.
///
/// Equal samples in the same order make equal lists. Format.md leaves the choice of centroids to
/// the program, which stores them.
package struct VectorTraining: Sendable {
  /// The number of vectors in a sample for each list.
  private static let sampleOfList = 40
  private static let mostSamples = 200_000
  private static let rounds = 8

  private let width: Int
  /// The number of groups, and of lists in each group.
  private let count: Int
  private let vectors: Int
  private var position = 0
  private var sample: VectorCentroids

  /// - Parameter vectors: the number of vectors of the index.
  package init(_ form: VectorForm, vectors: Int) {
    self.vectors = vectors
    width = form.width
    count = VectorLists.groupCount(of: vectors)
    sample = VectorCentroids(width: form.width)
  }

  /// Takes the next vector of the index, or leaves it out.
  package mutating func add(_ code: @autoclosure () -> VectorCode) {
    let stride = max(1, vectors / min(count * count * Self.sampleOfList, Self.mostSamples))
    if position % stride == 0 {
      code().withLevels { sample.append($0, VectorCentroids.factor(of: $0)) }
    }
    position += 1
  }

  /// Makes the lists, by a calculation that takes seconds to minutes.
  ///
  /// - Parameter check: called for each vector of the sample in each round; an error ends the call.
  package func lists<E: Error>(checking check: () throws(E) -> Void) throws(E) -> VectorLists {
    let groups = try centroids(of: Array(0..<sample.count), check)
    var members = [[Int]](repeating: [], count: count)
    for index in 0..<sample.count { members[nearest(to: index, among: groups)].append(index) }
    var lists = VectorCentroids(width: width)
    for group in 0..<count {
      let made = members[group].isEmpty ? nil : try centroids(of: members[group], check)
      for index in 0..<count {
        let source = made ?? groups
        let position = made == nil ? group : index
        Array(source.levels(position))._withBytes { lists.append($0, source.factor(position)) }
      }
    }
    return VectorLists(groups: groups, lists: lists)
  }

  private func nearest(to index: Int, among centroids: VectorCentroids) -> Int {
    Array(sample.levels(index))._withBytes { centroids.nearest(to: $0, among: 0..<centroids.count) }
  }

  /// Returns `count` centroids by k-means of angles, which begins with vectors of the sample.
  private func centroids<E: Error>(
    of members: [Int], _ check: () throws(E) -> Void
  ) throws(E) -> VectorCentroids {
    var centroids = VectorCentroids(width: width)
    for index in 0..<count {
      let first = members[index * members.count / count]
      Array(sample.levels(first))._withBytes { centroids.append($0, sample.factor(first)) }
    }
    for _ in 0..<Self.rounds {
      var sums = [Float](repeating: 0, count: count * width)
      for member in members {
        try check()
        let start = nearest(to: member, among: centroids) * width
        let factor = sample.factor(member)
        for (index, level) in sample.levels(member).enumerated() {
          sums[start + index] += Float(Int8(bitPattern: level)) * factor
        }
      }
      var next = VectorCentroids(width: width)
      for index in 0..<count
      where !next.append(directionOf: sums[index * width..<(index + 1) * width]) {
        Array(centroids.levels(index))._withBytes { next.append($0, centroids.factor(index)) }
      }
      if next == centroids { break }
      centroids = next
    }
    return centroids
  }
}
