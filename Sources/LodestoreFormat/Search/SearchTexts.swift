import LodestoreBytes

/// The texts of one record that a search index covers.
///
/// See Format.md, "Search indexes".
package struct SearchTexts {
  private let index: EntityDescription.ComputedIndex
  private let view: RecordView
  private let entity: EntityDescription

  package init(
    of index: EntityDescription.ComputedIndex, in view: RecordView, _ entity: EntityDescription
  ) {
    self.index = index
    self.view = view
    self.entity = entity
  }

  /// Calls `body` with each text and the number of its source, in the order of sources.
  package func forEach(
    _ body: (_ source: Int, _ text: ByteView) throws(FormatError) -> Void
  ) throws(FormatError) {
    for (number, source) in index.sources.enumerated() {
      try withValue(of: source.attribute) { (bytes, isDocument) throws(FormatError) in
        guard isDocument else { return try body(number, bytes) }
        try DocumentElements.forEach(at: source.path, of: bytes) {
          (element) throws(FormatError) in
          var reader = DocumentReader(element)
          if try reader.kind() == .text { try body(number, try reader.text()) }
        }
      }
    }
  }

  /// The part of each text to analyze, with a number of bytes for each source.
  package enum Part {
    case whole
    /// The beginning of each text.
    case starts([Int])
    /// The text after its beginning, whose words have places from 0.
    case rests([Int])

    fileprivate func part(of text: ByteView, source: Int) -> ByteView {
      switch self {
      case .whole: text
      case .starts(let counts): text[..<counts[source]]
      case .rests(let counts): text[counts[source]...]
      }
    }
  }

  /// Calls `body` for each term, with the number of its source and the place of its word there.
  ///
  /// - Returns: the number of words, at most 65,535.
  ///
  /// - Parameters:
  ///   - part: The part of each text to analyze.
  ///   - analyzer: The analyzer, which may be used for many records.
  package func forEachTerm(
    in part: Part = .whole, by analyzer: inout TextAnalyzer,
    _ body: (_ term: ByteView, _ source: UInt32, _ position: UInt32) -> Void
  ) throws(FormatError) -> UInt16 {
    var length = 0
    var source = 0
    /// The place of the first word of the next text of the source.
    var start = 0
    try forEach { (number, text) throws(FormatError) in
      if number != source {
        source = number
        start = 0
      }
      var count = 0
      analyzer.forEachTerm(in: part.part(of: text, source: number)) { term, position, _ in
        count = max(count, position + 1)
        body(term, UInt32(number), UInt32(clamping: start + position))
      }
      length += count
      // A phrase does not go on in the next text.
      start += count + 1
    }
    return UInt16(clamping: length)
  }

  private func withValue(
    of number: UInt32, _ body: (ByteView, _ isDocument: Bool) throws(FormatError) -> Void
  ) throws(FormatError) {
    if let position = view.layout.slotIndex(ofAttribute: number) {
      let slot = view.layout.slots[position]
      if !view.isNull(slot) { try body(view.variableBytes(slot), slot.type.isDocument) }
      return
    }
    switch entity.attribute(number: number)?.initial {
    case .document(let bytes):
      try bytes._withBytes { (bytes) throws(FormatError) in try body(bytes, true) }
    case .string(let text):
      try Array(text.utf8)._withBytes { (bytes) throws(FormatError) in try body(bytes, false) }
    default: return
    }
  }

  /// Whether all texts of another record of the same layout are the same bytes.
  package func areEqual(to other: SearchTexts) -> Bool {
    guard view.layout === other.view.layout else { return false }
    return index.sources.allSatisfy { source in
      view.layout.slotIndex(ofAttribute: source.attribute).map {
        view.hasSameValue(as: other.view, at: view.layout.slots[$0])
      } ?? true
    }
  }

  /// The number of bytes of each source that can be analyzed once for two records.
  ///
  /// The number is 0 for a document, which may have several texts. The result is `nil` if all
  /// numbers are 0. See ``TextAnalysis/sharedStart(of:and:)``.
  package func sharedStarts(with other: SearchTexts) -> [Int]? {
    guard view.layout === other.view.layout else { return nil }
    let starts = index.sources.map { source in
      guard let position = view.layout.slotIndex(ofAttribute: source.attribute) else { return 0 }
      let slot = view.layout.slots[position]
      if slot.type.isDocument || view.isNull(slot) || other.view.isNull(slot) { return 0 }
      return TextAnalysis.sharedStart(
        of: view.variableBytes(slot), and: other.view.variableBytes(slot))
    }
    return starts.contains { $0 > 0 } ? starts : nil
  }
}
