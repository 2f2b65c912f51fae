/// The form of the blocks of a search index.
///
/// See Format.md, "Postings".
package struct PostingForm: Sendable, Hashable {
  /// Whether the numbers of positions are in bits, and frequencies of a single source follow from
  /// them.
  package let isPacked: Bool
  package let sourceCount: Int
  /// The weight of the only source; 1 if there are several.
  let weight: UInt32

  /// - Parameter weights: the weights of the sources.
  package init(isPacked: Bool, weights: [UInt32]) {
    self.isPacked = isPacked
    sourceCount = weights.count
    weight = weights.count == 1 ? weights[0] : 1
  }

  /// Whether blocks store the frequencies of their postings.
  var storesFrequencies: Bool { !isPacked || sourceCount > 1 }
}

extension EntityDescription.ComputedIndex {
  /// The form of the blocks of a search index.
  package var postingForm: PostingForm {
    PostingForm(isPacked: hasPackedPostings, weights: sources.map(\.weight))
  }
}
