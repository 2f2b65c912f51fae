import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// Conditions on places find the same records as a plain reading of all places.
@Suite struct `Conditions on places` {
  private static let edges = [-90.0, -89.9, -45, -0.0, 0, 45, 89.9, 90]
  private static let sides = [-180.0, -179.99, -90, 0, 90, 179.99, 180]

  /// Places everywhere, many of them at poles, at the meridian 180 and at one place.
  private func place(_ random: inout SeededNumbers) -> Coordinate {
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      Coordinate(
        latitude: Self.edges.randomElement(using: &random) ?? 0,
        longitude: Self.sides.randomElement(using: &random) ?? 0)
    case 1: Coordinate(latitude: 54.8, longitude: 61.1)
    case 2:
      Coordinate(
        latitude: 54.8 + Double.random(in: -1e-6...1e-6, using: &random),
        longitude: 61.1 + Double.random(in: -1e-6...1e-6, using: &random))
    case 3:
      Coordinate(
        latitude: Double.random(in: 88...90, using: &random)
          * (Bool.random(using: &random) ? 1 : -1),
        longitude: Double.random(in: -180...180, using: &random))
    case 4:
      Coordinate(
        latitude: Double.random(in: -60...60, using: &random),
        longitude: Double.random(in: 177...180, using: &random)
          * (Bool.random(using: &random) ? 1 : -1))
    default:
      Coordinate(
        latitude: asin(Double.random(in: -1...1, using: &random)) * 180 / .pi,
        longitude: Double.random(in: -180...180, using: &random))
    }
  }

  private func landing(_ random: inout SeededNumbers) -> Landing {
    let place = place(&random)
    let hasPlace = Int.random(in: 0..<10, using: &random) > 0
    let site = self.place(&random)
    return Landing(
      hasPlace ? place.latitude : nil, place.longitude,
      group: Int.random(in: 0..<5, using: &random),
      site: Bool.random(using: &random)
        ? Landing.Site(lat: site.latitude * 1.1, lon: site.longitude) : nil)
  }

  private func box(_ random: inout SeededNumbers) -> BoundingBox {
    let (a, b) = (place(&random), place(&random))
    return BoundingBox(
      south: min(a.latitude, b.latitude), west: a.longitude, north: max(a.latitude, b.latitude),
      east: b.longitude)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `changes of any kind leave an index that finds the same as a reading of the places`(
    salt: UInt64
  ) throws {
    var random = SeededNumbers(salt: salt)
    try withTemporaryStore([Landing.self]) { store in
      try check(store, &random)
      for _ in 0..<12 {
        try store.write { tx in
          switch Int.random(in: 0..<5, using: &random) {
          case 0, 1:
            var added: [Landing] = []
            for _ in 0..<Int.random(in: 1...150, using: &random) { added.append(landing(&random)) }
            try tx.insert(added)
          case 2: try tx.delete(Landing.where(.within(box(&random))))
          case 3:
            for var changed in try tx.fetch(Landing.where { $0.group == 2 }) {
              // The latitude changes, the longitude, both, or none of them.
              if Bool.random(using: &random) { changed.latitude = place(&random).latitude }
              if Bool.random(using: &random) { changed.longitude = place(&random).longitude }
              changed.site = landing(&random).site
              try tx.update(changed)
            }
          default:
            for one in try tx.fetch(Landing.where { $0.group == 3 }).prefix(5) {
              try tx.delete(one)
            }
          }
          // A write sees its own changes.
          let all = BoundingBox(south: -90, west: -180, north: 90, east: 180)
          let found = try tx.count(Landing.where(.within(all)))
          let placed = try tx.fetch(Landing.all).count { $0.place != nil }
          #expect(found == placed)
        }
        try check(store, &random)
      }
    }
  }

  private func check(_ store: Store, _ random: inout SeededNumbers) throws {
    let all = try store.fetch(Landing.all)
    func expected(_ isWanted: (Landing) -> Bool) -> [Landing.ID] {
      all.filter(isWanted).map(\.id)
    }
    for _ in 0..<25 {
      let box = box(&random)
      let center = place(&random)
      let meters = pow(10, Double.random(in: -2...7.5, using: &random))
      func isNear(_ landing: Landing) -> Bool {
        landing.place.map { center.distance(to: $0) <= meters } ?? false
      }
      func isWithin(_ landing: Landing) -> Bool { landing.place.map(box.contains) ?? false }
      let near = Landing.all.where(.near(center, meters: meters))
      let within = Landing.all.where(.within(box))
      #expect(try store.fetch(within).map(\.id) == expected(isWithin), "\(box)")
      #expect(try store.count(within) == expected(isWithin).count)
      #expect(try store.fetch(near).map(\.id) == expected(isNear), "\(center) \(meters)")
      #expect(try store.count(near) == expected(isNear).count)
      #expect(
        try store.fetch(near.where { $0.group == 1 }).map(\.id)
          == expected { isNear($0) && $0.group == 1 })
      #expect(
        try store.fetch(Landing.all.where(not(Condition<Landing>.near(center, meters: meters))))
          .map(\.id)
          == expected { !isNear($0) })
      #expect(
        try store.fetch(Landing.where { $0.site.isWithin(box) }.limit(3)).map(\.id)
          == Array(
            expected { landing in
              guard let lat = landing.site?.lat, let lon = landing.site?.lon, abs(lat) <= 90 else {
                return false
              }
              return box.contains(Coordinate(latitude: lat, longitude: lon))
            }.prefix(3)))
      try checkOrder(store, all, center, meters, &random)
    }
  }

  private func checkOrder(
    _ store: Store, _ all: [Landing], _ center: Coordinate, _ meters: Double,
    _ random: inout SeededNumbers
  ) throws {
    func sorted(_ isWanted: (Landing) -> Bool) -> [Landing.ID] {
      all.compactMap { landing in
        landing.place.map { (center.distance(to: $0), landing) }
      }
      .filter { isWanted($0.1) }
      .sorted { ($0.0, $0.1.id.rawValue) < ($1.0, $1.1.id.rawValue) }.map(\.1.id)
    }
    let count = Int.random(in: 0...40, using: &random)
    let nearest = Landing.all.where(.near(center)).sortedByDistance()
    #expect(
      try store.fetch(nearest.limit(count)).map(\.id) == Array(sorted { _ in true }.prefix(count)))
    #expect(try store.fetch(nearest).map(\.id) == sorted { _ in true })
    #expect(
      try store.fetch(nearest.where { $0.group == 1 }.offset(2).limit(count)).map(\.id)
        == Array(sorted { $0.group == 1 }.dropFirst(2).prefix(count)))
    let bounded = Landing.all.where(.near(center, meters: meters)).sortedByDistance()
    #expect(
      try store.fetch(bounded.limit(count)).map(\.id)
        == Array(
          sorted { $0.place.map { center.distance(to: $0) <= meters } ?? false }.prefix(count)))
  }

  @Test func `pages by distance follow one another`() throws {
    var random = SeededNumbers(salt: 4)
    try withTemporaryStore([Landing.self]) { store in
      try store.insert((0..<400).map { _ in landing(&random) })
      for _ in 0..<12 {
        let meters = pow(10, Double.random(in: -1...7.5, using: &random))
        for distance in [nil, meters] {
          let center = place(&random)
          let near = Landing.all.where(.near(center, meters: distance)).sortedByDistance()
          let few = near.where { $0.group == 1 }
          try #expect(pages(of: few, count: 3, store) == store.fetch(few).map(\.id))
          try #expect(pages(of: near, count: 7, store) == store.fetch(near).map(\.id))
        }
      }
    }
  }

  private func pages(
    of query: Query<Landing>, count: Int, _ store: Store
  ) throws -> [Landing.ID] {
    var found: [Landing.ID] = []
    var token: ContinuationToken?
    repeat {
      let page = try store.page(query.limit(count).continuing(after: token))
      found += page.items.map(\.id)
      token = page.next
    } while token != nil
    return found
  }

  @Test func `a later page by distance leaves out the records before it`() throws {
    var random = SeededNumbers(salt: 8)
    try withTemporaryStore([Landing.self]) { store in
      try store.insert(
        (0..<20_000).map { _ in
          Landing(
            Double.random(in: 40...60, using: &random), Double.random(in: 0...20, using: &random))
        })
      let near = Landing.all.where(.near(.init(latitude: 50, longitude: 10))).sortedByDistance()
      var token: ContinuationToken?
      for number in 1...40 {
        let query = near.limit(50).continuing(after: token)
        let reads = try store.explain(query, analyzing: true)
        #expect(try #require(reads.recordsRead) < 100, "page \(number)")
        #expect(try #require(reads.entriesRead) < 4_000, "page \(number)")
        let page = try store.page(query)
        // Records before the token do not matter, even if they are gone.
        if let last = page.items.last, number == 20 { try store.delete(last) }
        token = page.next
      }
    }
  }

  @Test func `a cell and its place on the curve determine each other`() {
    var random = SeededNumbers(salt: 5)
    for _ in 0..<500 {
      let place = place(&random)
      let field = PlaceCell(latitude: place.latitude, longitude: place.longitude)
      #expect(PlaceCell(position: field.positions.lowerBound) == field)
      #expect(place.distance(to: Coordinate(of: field)) < PlaceCover.tolerance / 2)
      var cell = PlaceCell.whole
      while cell.level < PlaceCell.deepestLevel {
        let quarters = cell.quarters
        // The quarters follow one another on the curve.
        let positions = quarters.map(\.positions).sorted { $0.lowerBound < $1.lowerBound }
        #expect(positions.first?.lowerBound == cell.positions.lowerBound)
        #expect(positions.last?.upperBound == cell.positions.upperBound)
        for (one, next) in zip(positions, positions.dropFirst()) {
          #expect(next.lowerBound == one.upperBound + 1)
        }
        guard let next = quarters.first(where: { $0.positions.overlaps(field.positions) }) else {
          break
        }
        // Neither distance nor bounds exclude a cell with the place.
        #expect(self.place(&random).leastDistance(to: next) >= 0)
        cell = next
      }
      #expect(cell == field)
    }
  }

  @Test func `neighbours on the curve are neighbours on the grid`() {
    var last: PlaceCell?
    for step in 0..<(1 << 12 as UInt64) {
      let field = PlaceCell(position: step << 20)
      if let last {
        // Fields of 2^20 positions are squares of 1,024 columns.
        let columns = abs(Int(field.columns.lowerBound >> 10) - Int(last.columns.lowerBound >> 10))
        let rows = abs(Int(field.rows.lowerBound >> 10) - Int(last.rows.lowerBound >> 10))
        #expect(columns + rows == 1)
      }
      last = field
    }
  }

  @Test func `no distance to a cell is above that to a place in it`() {
    forEachCell(salt: 6) { cell, from, to in
      #expect(from.leastDistance(to: cell) <= from.distance(to: to), "\(from) \(to)")
    }
  }

  @Test func `no place in a cell is beyond the greatest distance to the cell`() {
    forEachCell(salt: 6) { cell, from, to in
      #expect(from.greatestDistance(to: cell) >= from.distance(to: to), "\(from) \(to)")
    }
  }

  /// Visits the cells that have a place, and another place.
  private func forEachCell(
    salt: UInt64, _ body: (_ cell: PlaceCell, _ from: Coordinate, _ to: Coordinate) -> Void
  ) {
    var random = SeededNumbers(salt: salt)
    for _ in 0..<1_500 {
      let (from, to) = (place(&random), place(&random))
      var cell = PlaceCell.whole
      let field = PlaceCell(latitude: to.latitude, longitude: to.longitude)
      while true {
        body(cell, from, to)
        guard cell.level < PlaceCell.deepestLevel,
          let next = cell.quarters.first(where: { $0.positions.overlaps(field.positions) })
        else { break }
        cell = next
      }
    }
  }

  @Test func `a region has at most 16 ranges, which have all its places`() {
    var random = SeededNumbers(salt: 7)
    for _ in 0..<1_000 {
      let center = place(&random)
      let meters = pow(10, Double.random(in: -2...7.5, using: &random))
      for region in [PlaceRegion.box(box(&random)), .circle(center, meters: meters)] {
        let cover = PlaceCover(region)
        let ranges = cover.ranges()
        #expect(ranges.count <= PlaceCover.mostRanges)
        for _ in 0..<10 {
          let place = place(&random)
          let field = PlaceCell(latitude: place.latitude, longitude: place.longitude)
          let isInside = region.contains(place)
          if isInside {
            #expect(ranges.contains { $0.overlaps(field.positions) }, "\(region) \(place)")
          }
          if let answer = cover.admits(field) { #expect(answer == isInside, "\(region) \(place)") }
        }
      }
    }
  }

  @Test func `distances are those of a sphere with the mean radius`() {
    let chelyabinsk = Coordinate(latitude: 54.8, longitude: 61.1)
    let pole = Coordinate(latitude: 90, longitude: 17)
    let quarter = Coordinate.earthRadius * .pi / 2
    #expect(abs(pole.distance(to: .init(latitude: 0, longitude: -120)) - quarter) < 1e-6)
    #expect(pole.distance(to: .init(latitude: 90, longitude: -170)) < 1e-6)
    #expect(
      abs(chelyabinsk.distance(to: .init(latitude: -54.8, longitude: -118.9)) - 2 * quarter) < 0.5)
    #expect(chelyabinsk.distance(to: chelyabinsk) == 0)
    // The distances on the ellipsoid of WGS 84 are from GeographicLib.
    let moscow = Coordinate(latitude: 55.75, longitude: 37.62)
    #expect(abs(chelyabinsk.distance(to: moscow) / 1_488_842.835 - 1) < 0.0057)
    let equator = Coordinate(latitude: 0, longitude: 0)
    #expect(abs(equator.distance(to: .init(latitude: 1, longitude: 0)) / 110_574.389 - 1) < 0.0057)
  }
}
