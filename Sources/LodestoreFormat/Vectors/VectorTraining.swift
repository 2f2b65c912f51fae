import LodestoreBytes

/// Makes the lists of a vector index from a sample of its vectors.
///
/// Equal samples in the same order make equal lists. Format.md leaves the choice of centroids to
/// the program, which stores them.
package struct VectorTraining {
  /// The number of vectors in a sample for each list.
  private static let sampleOfList = 40
  private static let mostSamples = 200_000
  private static let rounds = 8

  private let width: Int
  private var sample: VectorCentroids

  package init(_ form: VectorForm) {
    width = form.width
    sample = VectorCentroids(width: form.width)
  }

  /// The number of vectors that a sample takes for lists of this number of groups.
  package static func sampleSize(groups: Int) -> Int {
    min(groups * groups * sampleOfList, mostSamples)
  }

  package mutating func add(_ code: VectorCode) {
    code.withLevels { sample.append($0, VectorCentroids.factor(of: $0)) }
  }

  package func lists(groups count: Int) -> VectorLists {
    let groups = centroids(count, of: Array(0..<sample.count))
    var members = [[Int]](repeating: [], count: count)
    for index in 0..<sample.count { members[nearest(to: index, among: groups)].append(index) }
    var lists = VectorCentroids(width: width)
    for group in 0..<count {
      let made = members[group].isEmpty ? nil : centroids(count, of: members[group])
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
  private func centroids(_ count: Int, of members: [Int]) -> VectorCentroids {
    var centroids = VectorCentroids(width: width)
    for index in 0..<count {
      let first = members[index * members.count / count]
      Array(sample.levels(first))._withBytes { centroids.append($0, sample.factor(first)) }
    }
    for _ in 0..<Self.rounds {
      var sums = [Float](repeating: 0, count: count * width)
      for member in members {
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
