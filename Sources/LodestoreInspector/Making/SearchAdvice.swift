internal import EntityStore
internal import LodestoreRows

/// Searches that find records, for one that finds none.
struct SearchAdvice {
  private let page: EntityPage
  private let limit: TimeLimit

  private static let most = 5
  private static let mostWords = 8

  init(_ page: EntityPage) {
    self.page = page
    limit = page.limits.time(page.limits.facets)
  }

  /// The notice with the searches; `nil` if none is known, or if the page has no search.
  var notice: Notice? {
    guard let text = page.selection.search else { return nil }
    var notice = Notice(.note, "The search finds no record. These find some:")
    for (text, selection) in candidates(text) where notice.suggestions.count < Self.most {
      if finds(selection) { notice.suggestions.append((text, page.route(selection))) }
    }
    return notice.suggestions.isEmpty ? nil : notice
  }

  private func candidates(_ text: String) -> [(text: String, selection: Selection)] {
    let selection = page.selection.changed { $0.facets = [] }
    var candidates = corrections(of: text).map { text in
      (text: text, selection: selection.with { $0.search = text })
    }
    if selection.mode != .typing {
      candidates.append(
        ("\(text)…, with a beginning as the last word", selection.with { $0.mode = .typing }))
    }
    if selection.mode != .anyWord {
      candidates.append(("\(text), one of the words", selection.with { $0.mode = .anyWord }))
    }
    if selection.condition != nil || !selection.matches.isEmpty {
      candidates.append(
        (
          "\(text), without the condition",
          selection.with {
            $0.condition = nil
            $0.matches = []
          }
        ))
    }
    return candidates
  }

  /// The text with one word replaced by a similar word of the index.
  private func corrections(of text: String) -> [String] {
    var corrections: [String] = []
    let words = text.split(whereSeparator: \.isWhitespace)
    for (position, word) in words.enumerated().prefix(Self.mostWords) where !limit.isOver {
      let sought = word.split(separator: ":", maxSplits: 1).last ?? word
      guard sought.first?.isLetter == true, sought.last?.isLetter == true, word != "OR",
        !finds(Selection().with { $0.search = String(word) })
      else { continue }
      let similar =
        (try? page.snapshot.searchSuggestions(
          for: String(sought), in: page.entity, limit: 3, control: limit.control)) ?? []
      for term in similar {
        var words = words.map(String.init)
        words[position] = word.dropLast(sought.count) + term
        corrections.append(words.joined(separator: " "))
      }
    }
    return corrections
  }

  /// Whether a selection has a record; false if the time is over.
  private func finds(_ selection: Selection) -> Bool {
    var selection = selection
    selection.order = ["_id"]
    let query = SelectedQuery(
      snapshot: page.snapshot, entity: page.entity, selection: selection)
    guard !limit.isOver, var request = try? query.request() else { return false }
    request.limit = 1
    let found = try? page.snapshot.query(request, of: page.entity).ids(control: limit.control)
    return found?.isEmpty == false
  }
}
