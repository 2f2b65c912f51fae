/// A binary heap whose first element comes before all others.
///
/// The order is a parameter of each call, so that the call is compiled together with it. All calls
/// on one heap must pass the same order.
struct Heap<Element> {
  private(set) var elements: [Element] = []

  var count: Int { elements.count }

  @inline(__always)
  var first: Element? { elements.first }

  @inline(__always)
  mutating func insert(_ element: Element, by precedes: (Element, Element) -> Bool) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard precedes(element, elements[parent]) else { break }
      elements[child] = elements[parent]
      child = parent
    }
    elements[child] = element
  }

  /// Replaces the first element, or restores the order after the first element itself has changed.
  @inline(__always)
  mutating func replaceFirst(with element: Element, by precedes: (Element, Element) -> Bool) {
    var parent = 0
    while parent * 2 + 1 < elements.count {
      var child = parent * 2 + 1
      if child + 1 < elements.count, precedes(elements[child + 1], elements[child]) { child += 1 }
      guard precedes(elements[child], element) else { break }
      elements[parent] = elements[child]
      parent = child
    }
    elements[parent] = element
  }

  @inline(__always)
  mutating func removeFirst(by precedes: (Element, Element) -> Bool) {
    let last = elements.removeLast()
    if !elements.isEmpty { replaceFirst(with: last, by: precedes) }
  }

  /// Returns whether no element comes before its parent; for assertions.
  func isOrdered(by precedes: (Element, Element) -> Bool) -> Bool {
    elements.indices.dropFirst().allSatisfy { !precedes(elements[$0], elements[($0 - 1) / 2]) }
  }
}
