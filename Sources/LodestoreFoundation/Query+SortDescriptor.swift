public import EntityStore
public import Foundation

extension Query {
  /// In the order of Foundation's sort descriptors.
  ///
  /// Descriptors must compare an attribute's values as they are: one with a localized comparator,
  /// which the same spelling picks on Apple's systems and not on Linux, is refused when the query
  /// is run. Write `SortDescriptor(\.name, comparator: .lexical)` for an order that is the same
  /// everywhere.
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
