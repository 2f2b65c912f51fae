/// A dataset that a program's own store can be attached to: a store that may be replaced whole
/// while it is used.
///
/// A cached dataset is one, of which each refresh brings another generation. A ``Store`` is one
/// too, which nothing replaces.
///
/// A replaced store must stay open for as long as it is referenced: reads that began before the
/// replacement go on with it.
public protocol AttachableDataset: Sendable {
  /// The news of replacements.
  associatedtype Replacements: AsyncSequence & Sendable

  /// The store of the generation that new reads use.
  var currentStore: Store { get throws }

  /// An element after each replacement of ``currentStore``, once it has the new store.
  ///
  /// The type of the elements does not matter, and several replacements may be one element. An
  /// iterator reports every replacement that follows its making.
  var replacements: Replacements { get }
}

extension Store: AttachableDataset {
  /// The store itself.
  @_documentation(visibility: internal)
  public var currentStore: Store { self }

  /// Nothing: a store changes by commits, which are observed without this.
  @_documentation(visibility: internal)
  public var replacements: AsyncStream<Never> { AsyncStream { $0.finish() } }
}
