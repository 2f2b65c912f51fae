public import EntityStore
public import Foundation

extension Query {
  /// Returns the query in the order of Foundation's sort descriptors.
  ///
  /// Descriptors must compare the values of attributes directly. A descriptor with a localized
  /// comparator is refused when the query is run. The plain spelling `SortDescriptor(\.name)`
  /// selects such a comparator on Apple's systems, but not on Linux. Write
  /// `SortDescriptor(\.name, comparator: .lexical)` for an order that is equal on all systems.
  @_disfavoredOverload
  public func sorted(by descriptors: [SortDescriptor<E>]) -> Query {
    sorted(descriptors.map { SortKey(descriptor: $0) })
  }
}

extension SortKey {
  init(descriptor: SortDescriptor<E>) {
    let isLexical = descriptor.stringComparator.map { $0 == .lexical } ?? true
    guard isLexical, let path = descriptor.keyPath else {
      self.init(refusing: "a sort descriptor compares text by a locale, or by no key path")
      return
    }
    self.init(path, isDescending: descriptor.order == .reverse)
  }
}
