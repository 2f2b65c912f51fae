import LodestoreBytes
import LodestoreFormat

@testable import EntityStore

extension FuzzTarget {
  /// The parts of the history: parts of writes, marks of consumers, runs of ids and pairs of links.
  static let history = FuzzTarget("history", longestInput: 2_048) {
    let texts = try seedLines("history.txt")
    let ids = IDRuns([1..<4, 7..<8, 300..<100_000])
    return try texts
      + texts.map { text in
        try text._withBytes { try DocumentInput.document($0).encoded() }
      } + [ids.encoded]
  } run: { bytes in
    if let ids = try? IDRuns(decoding: bytes) {
      require(ids.count >= 0 && (ids.isEmpty || ids.contains(ids.ranges[0].lowerBound)), "\(ids)")
      // The decoder also accepts numbers in a longer form. The encoder writes the short form, so
      // only its result is compared.
      let again = try ids.encoded._withBytes { try IDRuns(decoding: $0) }
      require(again == ids, "\(ids) came back as \(again)")
      require(ids.subtracting(ids).isEmpty && ids.intersection(ids) == ids, "\(ids)")
    }
    if let pairs = try? HistoryPart.Links.pairs(bytes) {
      let links = HistoryPart.Links(relationship: 1, kind: .added, pairs: pairs)
      let again = try links.encodedPairs._withBytes { try HistoryPart.Links.pairs($0) }
      require(again == pairs, "\(pairs) came back as \(again)")
    }
    let document = try DocumentInput.document(bytes)
    if let mark = try? HistoryMark(document) {
      let again = try HistoryMark(mark.document)
      require(again.document.encoded() == mark.document.encoded(), "\(mark)")
    }
    let part = try document.encoded()._withBytes { try HistoryPart(decoding: $0) }
    let written = part.encoded
    do {
      let again = try written._withBytes { try HistoryPart(decoding: $0) }
      // The encoded bytes are compared, because a time that is not-a-number is not equal to itself.
      require(again.encoded == written, "\(part) came back as \(again)")
      require(part.changes == again.changes && part.links == again.links, "\(part) and \(again)")
    } catch {
      require(false, "\(part) is written as \(written), which is refused: \(error)")
    }
  }
}
