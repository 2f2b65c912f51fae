/// The ways in which the words of a search are combined.
public enum SearchMode: Sendable, Hashable {
  /// A record must have all words.
  case allWords
  /// A record must have one of the words.
  case anyWord
  /// A record must have all words; the last one is the beginning of a word, unless a space follows
  /// it. For results while a person types.
  case typing

  var comparison: Comparison.Operator {
    switch self {
    case .allWords: .search
    case .anyWord: .searchAny
    case .typing: .searchPrefix
    }
  }
}

extension Condition {
  /// Whether the texts of a search index have the words of `text`.
  ///
  ///     Pod.where(.search("json parser")).sortedByScore().limit(10)
  ///
  /// Any text is a search. `"quotes"` enclose a phrase, and `-word` leaves records out. The word of
  /// `title:word` is sought in one attribute, `wor*` is a beginning, and `a OR b` is one of two. A
  /// text without a word finds nothing. See <doc:Search>.
  ///
  /// The entity must have a search index; a query without one throws
  /// ``StoreError/Code/invalidQuery``. So does a query of an entity with several search indexes
  /// that names none.
  ///
  /// - Parameter sources: the texts of the index, by the names of attributes and members, as
  ///   `["name", "authors.name"]`; by default the entity's only search index.
  public static func search(
    _ text: String, _ mode: SearchMode = .allWords, in sources: [String] = []
  ) -> Condition {
    Condition(.search(text, mode, in: sources))
  }
}

extension ConditionTree {
  /// A search in the index of the given texts; in the entity's only search index without them.
  static func search(
    _ text: String, _ mode: SearchMode, in sources: [String] = []
  ) -> ConditionTree {
    let names = sources.map { name in
      Operand.path(ValuePath(.record, name.split(separator: ".").map { .member(String($0)) }))
    }
    return .comparison(
      Comparison(
        names.isEmpty ? .path(ValuePath(.record, [])) : .list(names), mode.comparison,
        .value(.string(text))))
  }
}

extension Attribute {
  /// Whether the search index on this attribute has the words of `text` in it.
  ///
  /// See ``Condition/search(_:_:in:)``.
  public func search(_ text: String, _ mode: SearchMode = .allWords) -> Condition<E> {
    compared(mode.comparison, .value(.string(text)), options: [])
  }
}
