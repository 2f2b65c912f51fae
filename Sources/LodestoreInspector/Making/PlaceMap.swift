internal import EntityStore
internal import LodestoreRows
internal import LodestoreSystem

/// The selected places of an index, as points or, if there are many, as counts by squares.
struct PlaceMap {
  /// The number of places up to which each is a point.
  static let mostPoints = 1_200
  /// The number of places up to which each is read.
  static let mostRead = 200_000

  struct Square: Hashable {
    var column: Int
    var row: Int
  }

  let page: EntityPage
  /// The position of the place index.
  let position: Int
  private(set) var view = MapView.world
  private(set) var points: [(place: Coordinate, id: UInt64)] = []
  /// The numbers of places by squares; empty if the places are points.
  private(set) var counts: [Square: Int] = [:]
  /// The side of a square in degrees.
  private(set) var side = 0.0
  /// Whether the counts are estimates.
  private(set) var isEstimated = false
  /// Whether the time or the limit did not suffice for all places.
  private(set) var isCut = false

  private var index: DynamicIndex { page.entity.placeIndexes[position] }
  private var selection: Selection { page.selection }

  /// - Throws: `StoreError.Code.invalidQuery` for a faulty selection.
  init(_ page: EntityPage, position: Int) throws {
    self.page = page
    self.position = position
    let limits = page.limits
    // The rows of the page need time too.
    let limit = limits.time(limits.end == nil ? limits.count : limits.rows / 2)
    let box = selection.box ?? Self.world
    if isOfAllPlaces, try page.snapshot.estimatedPlaceCount(of: index, in: box) > Self.mostRead {
      try estimate(box)
      return
    }
    try read(box, limit)
    if isCut, isOfAllPlaces {
      (points, isCut) = ([], false)
      try estimate(box)
      return
    }
    view = selection.box.map { MapView($0) } ?? usualView ?? .world
    // The places of a selected area are all in its view, which may be rounded at the border.
    if selection.box == nil, !view.isWorld {
      let area = view.box
      points.removeAll { !area.contains($0.place) }
    }
    guard points.count > Self.mostPoints else { return }
    side = Self.side(of: view)
    for (place, _) in points { counts[square(of: place), default: 0] += 1 }
    points = []
  }

  static let world = BoundingBox(south: -90, west: -180, north: 90, east: 180)

  /// Whether the entries of the index decide which places are selected.
  private var isOfAllPlaces: Bool {
    selection.with {
      $0.box = nil
      if $0.near?.meters == nil { $0.near = nil }
    }.isOfAll
  }

  // MARK: Places

  private mutating func read(_ box: BoundingBox, _ limit: TimeLimit) throws {
    var found: [(place: Coordinate, id: UInt64)] = []
    func take(_ place: Coordinate, _ id: UInt64) -> Bool {
      found.append((place, id))
      return found.count < Self.mostRead
    }
    if isOfAllPlaces {
      isCut = try !page.snapshot.forEachPlace(
        of: index, of: page.entity, in: box, control: limit.control, take)
    } else {
      var request = try page.query.request()
      (request.order, request.after) = ([], nil)
      do {
        try page.snapshot.query(request, of: page.entity).forEach(control: limit.control) {
          record in
          guard let reader = try? record.reader(),
            let place = try? page.entity.place(in: reader, by: position)
          else { return true }
          isCut = !take(place, record.id)
          return !isCut
        }
      } catch let error as StoreError where error.code == .cancelled {
        isCut = true
      }
    }
    points = found
  }

  private mutating func estimate(_ box: BoundingBox) throws {
    isEstimated = true
    view = try selection.box.map { MapView($0) } ?? usualView ?? extent() ?? .world
    side = Self.side(of: view)
    let level = Int(log2(360 / side).rounded())
    // A narrow area would have cells without end; more cells than this are no map.
    let cells = try page.snapshot.placeCells(of: index, in: view.box, level: level, most: 4_000)
    for (area, count) in cells {
      let middle = Coordinate(
        latitude: (area.south + area.north) / 2, longitude: (area.west + area.east) / 2)
      counts[square(of: middle), default: 0] += count
    }
  }

  // MARK: The view

  /// The view around the place of the selection or around the points; `nil` without them.
  private var usualView: MapView? {
    guard let near = selection.near else { return MapView(around: points.map(\.place)) }
    if let meters = near.meters {
      let height = meters / Coordinate.earthRadius * 180 / .pi * 2.3
      return MapView(middle: near.place, height: height, width: 0)
    }
    let nearest = points.map(\.place).sorted {
      $0.distance(to: near.place) < $1.distance(to: near.place)
    }
    return MapView(around: [near.place] + nearest.prefix(20))
  }

  /// The view around all places, found by few cells of the index.
  private func extent() throws -> MapView? {
    let cells = try page.snapshot.placeCells(of: index, in: Self.world, level: 20, most: 64)
    return MapView(
      around: cells.flatMap {
        [
          Coordinate(latitude: $0.area.south, longitude: $0.area.west),
          Coordinate(latitude: $0.area.north, longitude: $0.area.east),
        ]
      })
  }

  // MARK: Squares

  /// The side of squares: 360 degrees, halved until 36 to 72 squares fit in the width of the map.
  private static func side(of view: MapView) -> Double {
    var side = 360.0 / 64
    while view.width / side < 36 { side /= 2 }
    return side
  }

  private func square(of place: Coordinate) -> Square {
    Square(
      column: Int(((place.longitude + 180) / side).rounded(.down)),
      row: Int(((place.latitude + 90) / side).rounded(.down)))
  }

  func area(of square: Square) -> BoundingBox {
    let (west, south) = (Double(square.column) * side - 180, Double(square.row) * side - 90)
    return BoundingBox(
      south: south, west: west, north: min(90, south + side), east: min(180, west + side))
  }
}
