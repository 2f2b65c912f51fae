internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows

extension PageReading {
  /// The page with the terms of a search index, in the order of their bytes.
  ///
  /// The parameter `_search` is the beginning of a word, from which the terms begin.
  ///
  /// - Parameter position: the position among the search indexes of the entity.
  func searchIndexPage(
    _ entity: DynamicEntity, _ position: Int, _ selection: Selection
  ) throws -> Page {
    let known = ["_search", "_after", "_limit"]
    if let item = selection.items.first(where: { !known.contains($0.name) }) {
      throw AddressError.unknownParameter(item.name)
    }
    let index = entity.searchIndexes[position]
    let route = { @Sendable [name = entity.name, index = index.shortName] in
      Route.index(name, index, $0)
    }
    var page = Page(route: .store, title: "")
    page.trail = [Page.Crumb(text: entity.name, route: .entity(entity.name, Selection()))]
    complete(&page, entity, index, selection)
    let description = entity.description.searchIndexes[position]
    var form = SelectionForm(selection: selection, route: route, count: "")
    form.search = SelectionForm.SearchField(
      label: "Begin at", placeholder: "the first word", hasModes: false)
    form.hasCondition = false
    let texts = Fact("texts", "Texts", .text(entity.description.sourcesText(of: description)))
    page.sections = [
      try facts([texts], entity, index), Section("selection", .selection(form)),
      Section("terms", .table(try terms(entity, position, selection, route))),
    ]
    return page
  }

  private func terms(
    _ entity: DynamicEntity, _ position: Int, _ selection: Selection,
    _ route: @Sendable (Selection) -> Route
  ) throws -> Table {
    let wanted: Int? =
      switch selection.size {
      case .count(let count): count
      case .all: nil
      case nil: streams ? nil : limits.pageSize
      }
    let most = min(wanted ?? .max, streams ? limits.batchSize : Selection.largestPage)
    var found = try snapshot.searchTerms(
      of: entity.searchIndexes[position], from: selection.search ?? "", after: selection.after,
      most: most + 1)
    let hasMore = found.count > most
    if hasMore { found.removeLast() }
    var table = Table(
      [
        Table.Heading(Column("term", title: "Word")),
        Table.Heading(Column("records", title: "Records")),
      ],
      found.map { term in
        let link = Self.selection(of: term.text, position, entity)
        return Table.Row([
          Item(.text(term.text), link: .entity(entity.name, link)),
          Item(.count(Int(clamping: term.recordCount))),
        ])
      })
    table.isMain = true
    table.empty = "The index has no words from here on."
    if hasMore, let last = found.last {
      let rest = wanted.map { $0 - found.count }
      if !streams {
        table.nextPage = route(selection.with { $0.after = last.text })
      } else if rest.map({ $0 > 0 }) ?? true {
        table.next = following(
          route(
            selection.with {
              $0.after = last.text
              $0.size = rest.map { .count($0) }
            }))
      }
    }
    if selection.after != nil { table.firstPage = route(selection.changed { _ in }) }
    return table
  }

  /// The records that have a term.
  private static func selection(
    of term: String, _ position: Int, _ entity: DynamicEntity
  ) -> Selection {
    let isPlain = term.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || $0.value < 0x3A }
    var selection = Selection()
    selection.search = isPlain ? term : "\"\(term)\""
    if position > 0 { selection.indexes = [entity.searchIndexes[position].shortName] }
    return selection
  }

  /// The field for words on pages with a selection; `nil` if the entity has no search index.
  ///
  /// An address with words shows them in any case.
  func searchField(
    of entity: DynamicEntity, _ selection: Selection
  ) -> SelectionForm.SearchField? {
    let indexes = entity.searchIndexes.enumerated().map { position, index in
      let sources = entity.description.searchIndexes[position].sources
      return (
        name: index.shortName,
        text: sources.map(entity.description.name).joined(separator: ", ")
      )
    }
    if indexes.isEmpty, selection.search == nil { return nil }
    let only = indexes.count == 1 ? indexes.first : nil
    return SelectionForm.SearchField(
      label: "Search", placeholder: only.map { "words in \($0.text)" } ?? "words",
      indexes: only == nil ? indexes : [])
  }
}
