/// Given records as a part of a search, which takes no part in scores.
final class GivenRecords: SearchNode {
  private let ids: [UInt64]
  private var index = 0
  private(set) var id: UInt64 = 0

  /// - Parameter ids: ascending ids.
  init(_ ids: [UInt64]) { self.ids = ids }

  var recordCount: UInt64 { UInt64(ids.count) }

  func advance(to target: UInt64) {
    if id >= target { return }
    // Most moves are short.
    var low = index
    var step = 1
    while low &+ step < ids.count, ids[low &+ step] < target {
      low &+= step
      step &*= 2
    }
    var high = min(ids.count, low &+ step)
    while low < high {
      let middle = (low &+ high) &>> 1
      if ids[middle] < target { low = middle &+ 1 } else { high = middle }
    }
    index = low
    id = low < ids.count ? ids[low] : .max
  }

  func score() -> Double { 0 }
}

extension GivenRecords? {
  /// The first given record from `target` on; `target` itself if all records are wanted.
  @inline(__always)
  func next(_ target: UInt64) -> UInt64? {
    guard let self else { return target }
    self.advance(to: target)
    return self.id == .max ? nil : self.id
  }
}

extension AllNode {
  /// The records of `node` that are among the given ones.
  static func of(_ node: any SearchNode, among filter: GivenRecords?) -> any SearchNode {
    guard let filter else { return node }
    if let node = node as? TypedNode {
      let others = AllNode([filter] + node.others.parts, excluding: node.others.excluded)
      return TypedNode(others, node.typed)
    }
    return node.hasPrefix ? TypedNode(AllNode([filter]), [node]) : AllNode([filter, node])
  }
}
