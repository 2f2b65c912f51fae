/// A dataset that can be attached to a program's own store: a store that may be replaced as a whole
/// during use.
///
/// A cached dataset conforms; each of its refreshes brings another generation. A ``Store`` also
/// conforms, and is never replaced.
///
/// A replaced store must stay open while it is referenced, because reads that began before the
/// replacement still use it.
public protocol AttachableDataset: Sendable {
  /// The sequence that reports replacements.
  associatedtype Replacements: AsyncSequence & Sendable

  /// The store of the generation that new reads use.
  var currentStore: Store { get throws }

  /// A sequence with an element after each replacement of ``currentStore``, when the new store is
  /// available.
  ///
  /// The elements' type does not matter, and several replacements may be reported as one element.
  /// An iterator reports every replacement after its creation.
  var replacements: Replacements { get }
}

extension Store: AttachableDataset {
  /// The store itself.
  @_documentation(visibility: internal)
  public var currentStore: Store { self }

  /// An empty sequence: a store changes by commits, which are observed in another way.
  @_documentation(visibility: internal)
  public var replacements: AsyncStream<Never> { AsyncStream { $0.finish() } }
}
