internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows

extension PageReading {
  /// The page of a place index: a map, and the records with their distances.
  ///
  /// - Parameter position: the position among the place indexes of the entity.
  func placeIndexPage(
    _ entity: DynamicEntity, _ position: Int, _ selection: Selection
  ) throws -> Page {
    let index = entity.placeIndexes[position]
    let description = entity.description.placeIndexes[position]
    var entityPage = try proximityPage(entity, index, selection)
    if !streams, selection.after == nil, let map = try map(entityPage, position) {
      entityPage.additions = [Section("map", .drawing(map.figure))]
      if map.isCut {
        var notice = Notice(.note, "Not all places were found in time, so the map lacks some.")
        notice.wait = form == .html ? WaitLink(selection, entityPage.route) : nil
        entityPage.additions.append(Section("notice", .notice(notice)))
      }
    }
    let names = entity.description.sourceNames(description)
    let title = entity.placeIndexes.count == 1 ? "map" : index.shortName
    return try complete(
      entityPage.page(), entity, index, selection, title: "\(entity.name): \(title)",
      [
        Fact("latitude", "Latitude", .text(names.first ?? "")),
        Fact("longitude", "Longitude", .text(names.last ?? "")),
      ])
  }

  /// The map; `nil` for a faulty selection, whose fault the page of the records shows.
  private func map(_ page: EntityPage, _ position: Int) throws -> PlaceMap? {
    do {
      return try PlaceMap(page, position: position)
    } catch {
      guard Notice(fault: error, of: page.selection) == nil else { return nil }
      throw error
    }
  }

  /// The page of a vector index: facts about it, and records with their distances from another.
  ///
  /// - Parameter position: the position among the vector indexes of the entity.
  func vectorIndexPage(
    _ entity: DynamicEntity, _ position: Int, _ selection: Selection
  ) throws -> Page {
    let index = entity.vectorIndexes[position]
    let description = entity.description.vectorIndexes[position]
    var entityPage = try proximityPage(entity, index, selection)
    entityPage.hasSimilarField = true
    let name = entity.description.sourceNames(description).first ?? ""
    let probe = Vector([1] + Array(repeating: 0, count: description.dimensions - 1))
    // Each vector is near another, so the condition counts the vectors.
    var all = QueryRequest.all.near(probe, by: .euclidean, in: [name])
    all.order = []
    var count: Int?
    do {
      count = try snapshot.query(all, of: entity).count(
        control: limits.time(limits.count).control)
    } catch {
      guard error.code == .cancelled else { throw error }
    }
    let measures = VectorMeasure.allCases.map(\.rawValue).joined(separator: ", ")
    return try complete(
      entityPage.page(), entity, index, selection,
      [
        Fact("attribute", "Attribute", .text(name)),
        Fact("vectors", "Vectors", count.map(Cell.count) ?? .null),
        Fact("dimensions", "Dimensions", .count(description.dimensions)),
        Fact("measures", "Measures", .text(measures)),
      ])
  }

  /// The page of the records in an index on places or vectors.
  private func proximityPage(
    _ entity: DynamicEntity, _ index: DynamicIndex, _ selection: Selection
  ) throws -> EntityPage {
    try EntityPage(self, entity, selection, by: index.shortName) {
      [name = entity.name, index = index.shortName] in .index(name, index, $0)
    }
  }

  /// The page of the records, as the page of an index with facts about it.
  private func complete(
    _ page: Page, _ entity: DynamicEntity, _ index: DynamicIndex, _ selection: Selection,
    title: String? = nil, _ facts: [Fact]
  ) throws -> Page {
    var page = page
    complete(&page, entity, index, selection)
    if let title { page.title = title }
    page.views = views(of: entity, selection)
    guard !page.isRefused else { return page }
    page.sections.append(try self.facts(facts, entity, index))
    return page
  }
}
