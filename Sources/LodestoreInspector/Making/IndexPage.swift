internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows

extension PageReading {
  /// The page with the entries of an index, in their order.
  func indexPage(
    _ entity: DynamicEntity, _ name: String, _ selection: Selection
  ) throws -> Page {
    let index = entity.indexes.first { entity.description.indexName($0.description) == name }
    guard let index else {
      throw AddressError.notFound(
        Self.missing(
          "\(entity.name) has no index", name,
          among: entity.indexes.map { entity.description.indexName($0.description) }))
    }
    let attributes = index.description.attributes.compactMap {
      entity.description.attribute(number: $0)?.name
    }
    var ordered = selection
    if ordered.order.isEmpty { ordered.order = attributes }
    var entityPage = try EntityPage(self, entity, ordered) { .index(entity.name, name, $0) }
    entityPage.usualColumns = attributes + [DynamicRecord.idName]
    var page = try entityPage.page()
    page.route = .index(entity.name, name, selection)
    page.title = "\(entity.name): \(name)"
    page.trail.append(Page.Crumb(text: name, route: .index(entity.name, name, Selection())))
    page.views = views(of: entity)
    let facts = [
      Fact("unique", "Unique", .bool(index.isUnique)),
      Fact("attributes", "Attributes", .text(attributes.joined(separator: ", "))),
      Fact("records", "Entries", .count(entityPage.total)),
    ]
    page.sections.insert(Section("index", .facts(facts)), at: 0)
    return page
  }
}
