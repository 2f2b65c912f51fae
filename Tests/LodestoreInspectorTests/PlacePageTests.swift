import EntityStore
import LodestoreJSON
import LodestoreRows
import Testing

@testable import LodestoreInspector

@Suite("Pages of places")
struct PlacePageTests {
  private let map = "/Sight/-/index/place(latitude+longitude)"

  private func cities() async throws -> Library {
    try await .withSights([
      Sight("Ulm", 48.4, 10, group: 1), Sight("Bern", 46.95, 7.45, group: 2),
      Sight("Suva", -18.1, 178.4, group: 1), Sight("Apia", -13.8, -171.8, group: 2),
      Sight("Nowhere", nil, nil), Sight("<script>&", 48.5, 10.1, group: 2),
    ])
  }

  private func names(_ json: JSONNode) -> [String] {
    json["rows"]?.elements.compactMap { $0["name"]?.string } ?? []
  }

  @Test func `the page of an entity has the nearest records with their distances`() async throws {
    let library = try await cities()
    let nearest = try library.json("/Sight.json?_near=48.4,10")
    #expect(names(nearest) == ["Ulm", "<script>&", "Bern", "Apia", "Suva"])
    let meters = nearest["rows"]?.elements.compactMap { $0["_distance"]?.int64 } ?? []
    #expect(meters.first == 0 && meters == meters.sorted())
    let ulm = Coordinate(latitude: 48.4, longitude: 10)
    let bern = Coordinate(latitude: 46.95, longitude: 7.45)
    #expect(meters[2] == Int64(ulm.distance(to: bern).rounded()))
    for (place, distance, found) in [
      ("48.4,10,20km", "", ["Ulm", "<script>&"]), ("48.4, 10 , 20 km", "", ["Ulm", "<script>&"]),
      ("48.4,10,15000", "", ["Ulm", "<script>&"]), ("-16,-179,1200km", "", ["Suva", "Apia"]),
      ("48.4,10,20km", "&group=1", ["Ulm"]), ("48.4,10,300km", "&_sort=-_distance", ["Bern"]),
    ] {
      let address = "/Sight.json?_near=\(place.replacing(" ", with: "+"))\(distance)"
      #expect(names(try library.json(address)).starts(with: found), "\(address)")
    }
    #expect(
      names(try library.json("/Sight.json?_near=48.4,10,20km&_where=group%20%3D%3D%202"))
        == ["<script>&"])
    #expect(
      try library.get("/Sight.csv?_near=48.4,10,1km&_column=name")
        == "name,_distance\r\nUlm,0\r\n")
    #expect(
      try library.json("/Sight/-/plan.json?_near=48.4,10,1km")["reads"]?["results"]?.int64 == 1)
    await library.verify()
  }

  @Test func `records in an area are those in the box, also over the meridian 180`() async throws {
    let library = try await cities()
    #expect(names(try library.json("/Sight.json?_box=-20,170,-10,-170")) == ["Suva", "Apia"])
    #expect(names(try library.json("/Sight.json?_box=40,0,50,8")) == ["Bern"])
    let page = try library.get("/Sight?_box=40,0,50,8")
    #expect(page.contains("area 40° N, 0° to 50° N, 8° E"))
    #expect(page.contains("type=\"hidden\" name=\"_box\" value=\"40,0,50,8\""))
    #expect(try library.json(map + ".json?_box=40,0,50,8")["map"]?.count == 1)
  }

  @Test func `a map has the places at the border of its area`() async throws {
    let library = try await Library.withSights([
      Sight("a", 45, -90), Sight("b", -45, 90), Sight("c", 45, -73.5), Sight("d", 45.1, 0),
      Sight("e", 0.3, 0.1),
    ])
    #expect(try library.json(map + ".json?_box=-45,-90,45,90")["map"]?.count == 4)
    #expect(try library.json(map + ".json?_box=0.1,0.1,0.3,0.7")["map"]?.count == 1)
  }

  @Test(arguments: [
    "_near=91,0", "_near=0,181", "_near=1", "_near=a,b", "_near=1,2,-3km", "_near=1,2,3ft",
    "_near=nan,0", "_near=0,0,1e308km", "_box=1,2,0,4", "_box=1,2,3", "_box=0,0,1,200",
    "_similar=x", "_box=1,2,3,4,5",
  ])
  func `a place that is none is refused in words, beside its field`(query: String) async throws {
    let library = try await cities()
    let words = query.hasPrefix("_similar") ? "_similar" : "is no place"
    for view in ["/Sight", map, "/Sight/-/plan"] {
      let page = try library.get("\(view)?group=1&\(query)", 400)
      #expect(page.contains(words) && page.contains("name=\"_where\""))
      // The field has its text, and a part without a field can be removed.
      let parts = try #require(Address("/?\(query)")?.query.first)
      if parts.name == "_near" {
        #expect(page.contains("name=\"_near\" value=\"\(parts.value)\""))
        #expect(page.contains("aria-invalid=\"true\""))
      } else {
        #expect(page.contains("aria-label=\"Remove \(parts.name.dropFirst()) \(parts.value)\""))
        #expect(page.contains("href=\"\(view)?group=1\" aria-label"))
      }
      for form in [".json", ".jsonl", ".csv", ".geojson"] {
        let twin = try library.get("\(view)\(form)?\(query)", 400)
        #expect(twin.contains(words) && !twin.contains("Ulm"), "\(view)\(form)")
      }
    }
  }

  @Test func `no change reaches records of a selection with a place that is none`() async throws {
    let library = try await cities()
    let responder = Responder(
      maker: PageMaker(store: DynamicStore(library.store), path: "x"), allowsWrites: true)
    for change in ["update", "delete"] {
      var request = Request("/Sight/-/\(change).json?_near=Ulm", method: "POST")
      request.contentType = "application/json"
      request.body = Array(#"{"assign":["group=7"]}"#.utf8)
      let address = try #require(Address("/Sight/-/\(change).json?_near=Ulm"))
      let answer = responder.respond(to: address, request)
      #expect(answer.status == 400)
      #expect(String(decoding: answer.body.bytes, as: UTF8.self).contains("'Ulm' is no place"))
    }
    await library.verify()
  }

  @Test func `a NEAR in the condition has the same rows as the field`() async throws {
    let library = try await cities()
    for (field, condition) in [
      ("48.4,10", "SELF NEAR {48.4, 10}"), ("48.4,10,20km", "SELF NEAR {48.4, 10, 20000}"),
      ("48.4,10&group=2", "group == 2 AND latitude NEAR {48.4, 10}"),
      ("48.4,10&_sort=-name", "SELF NEAR {48.4, 10}&_sort=-name"),
    ] {
      let typed = condition.replacing(" == ", with: "%20%3D%3D%20").replacing(" ", with: "%20")
      for form in ["json", "csv", "geojson"] {
        let near = try library.get("/Sight.\(form)?_near=\(field)")
        #expect(near.contains("_distance"))
        #expect(
          try library.get("/Sight.\(form)?_where=\(typed)")
            .replacing(#/"next":"[^"]*"/#, with: "") == near.replacing(#/"next":"[^"]*"/#, with: "")
        )
      }
      let page = try library.get("/Sight?_where=\(typed)")
      #expect(page.contains("distance") && page.contains("<small>meters</small>"), "\(condition)")
    }
    #expect(
      try library.get("/Sight?_where=SELF%20NEAR%20%7B48.4,10%7D").contains(
        "5 of 6 records, the nearest first."))
    // Two places have no common distance.
    let two = "SELF%20NEAR%20%7B48.4,10,9e5%7D%20AND%20SELF%20NEAR%20%7B47,8,9e5%7D"
    #expect(!(try library.get("/Sight.json?_where=\(two)").contains("_distance")))
    await library.verify()
  }

  @Test func `an entity without a place index refuses places and GeoJSON`() async throws {
    let library = try await cities()
    #expect(try library.get("/Book?_near=1,2", 400).contains("Book has no place index"))
    #expect(try library.get("/Book.geojson", 404).contains("no place index"))
    #expect(try library.get("/.geojson", 404).contains("no places"))
    #expect(try library.get("/Sight?_index=place(x)&_near=1,2", 404).contains("has no index"))
    #expect(!(try library.get("/Book")).contains("name=\"_near\""))
  }

  @Test func `the map draws each place as a point that leads to its record`() async throws {
    let library = try await cities()
    let page = try library.patient(map)
    #expect(page.ranges(of: "<circle ").count == 5)
    #expect(
      page.contains("<a href=\"/Sight/6\" tabindex=\"-1\"><title>Sight 6 at 48.5° N, 10.1° E<"))
    #expect(page.contains("5 places. Each leads to its record."))
    #expect(!page.contains("<script>&") && page.contains("&lt;script&gt;"))
    #expect(page.contains("/Sight/-/index/place(latitude+longitude).geojson"))
    let json = try library.json(map + ".json")
    #expect(json["map"]?.elements.compactMap { $0["record"]?.int64 }.sorted() == [1, 2, 3, 4, 6])
    #expect(json["index"]?["records"]?.int64 == 5)
    #expect(json["index"]?["latitude"]?.string == "latitude")
    // A condition selects the points.
    let some = try library.json(map + ".json?_where=group%20%3D%3D%202&_near=48,9,300km")
    #expect(some["map"]?.elements.compactMap { $0["record"]?.int64 }.sorted() == [2, 6])
    let fault = try library.get(map + "?_where=group%20%3D", 400)
    #expect(fault.contains("aria-invalid"))
    // The map of a selection is one click away from its records, and back.
    #expect(
      try library.get("/Sight?_near=48,9,300km").contains("href=\"\(map)?_near=48,9,300km\""))
    #expect(try library.get(map + "?_near=48,9").contains("href=\"/Sight?_near=48,9\""))
  }

  @Test func `links of the map lead to other parts of it, and keep the selection`() async throws {
    let library = try await cities()
    let page = try library.patient(map + "?_box=40,0,50,20&group=1")
    for text in ["Zoom in", "Zoom out", "North", "South", "West", "East", "Show all"] {
      #expect(page.contains(">\(text)</a>"), "\(text)")
    }
    #expect(page.contains("?group=1&amp;_box=42.5,2.93,47.5,17.07\">Zoom in"))
    #expect(page.contains("?group=1\">Show all"))
    #expect(!(try library.patient(map + "?_box=-90,-180,90,180").contains(">North<")))
  }

  @Test func `many places are counted by squares, each with a link to its part`() async throws {
    var sights: [Sight] = []
    for number in 0..<1_500 {
      sights.append(Sight("\(number)", Double(number % 50) / 100, Double(number / 50) / 100))
    }
    sights.append(Sight("far", 60, 60))
    let library = try await Library.withSights(sights)
    let json = try library.json(map + ".json")
    let squares = try #require(json["map"]?.elements.map { $0 })
    #expect(squares.compactMap { $0["places"]?.int64 }.reduce(0, +) == 1_501)
    #expect(squares.count == 2)
    for square in squares {
      let box = try ["south", "west", "north", "east"].map { try #require(square[$0]?.double) }
      let inside = sights.count {
        guard let latitude = $0.latitude, let longitude = $0.longitude else { return false }
        return box[0] <= latitude && latitude < box[2] && box[1] <= longitude
          && longitude < box[3]
      }
      #expect(inside == square["places"]?.int64.map(Int.init))
    }
    let page = try library.patient(map)
    #expect(page.ranges(of: "class=\"heat").count == 2)
    #expect(page.contains("1,501 places, counted by squares"))
    // A square leads to a map with points.
    let near = try library.patient(map + "?_box=59,59,61,61")
    #expect(near.ranges(of: "<circle ").count == 1)
  }

  @Test(arguments: ["-90,10,90,10", "48.4,-180,48.4,180", "90,180,90,180", "-90,0,90,1e-300"])
  func `a map of a line or a point has few lines`(box: String) async throws {
    let library = try await cities()
    let page = try library.patient(map + "?_box=\(box)")
    #expect(page.contains("<svg") && page.utf8.count < 300_000)
    #expect(!page.contains("nan") && !page.contains("inf\""))
  }

  @Test func `estimates of cells are near the numbers of places`() async throws {
    var random = SeededRandom(state: 7)
    let sights = (0..<20_000).map { number in
      Sight(
        "\(number)", .random(in: -80...80, using: &random), .random(in: -170...170, using: &random))
    }
    let library = try await Library.withSights(sights)
    try DynamicStore(library.store).read { snapshot in
      let entity = try #require(snapshot.entity(named: "Sight"))
      let index = entity.placeIndexes[0]
      let cells = try snapshot.placeCells(of: index, in: PlaceMap.world, level: 2, most: 4_000)
      #expect(cells.count == 16)
      #expect(abs(cells.reduce(0) { $0 + $1.count } - 20_000) < 500)
      for (area, count) in cells {
        var found = 0
        let isComplete = try snapshot.forEachPlace(of: index, of: entity, in: area) { place, id in
          found += 1
          return area.contains(place) || abs(place.latitude - area.north) < 1e-6
            || abs(place.longitude - area.east) < 1e-6
        }
        #expect(isComplete && abs(found - count) < max(100, found / 3))
      }
      var first = 0
      #expect(
        try !snapshot.forEachPlace(of: index, of: entity, in: PlaceMap.world) { _, _ in
          first += 1
          return first < 3
        })
      #expect(first == 3)
      #expect(
        try snapshot.placeCells(of: index, in: PlaceMap.world, level: 20, most: 20).count == 16)
    }
    // Places that were not read in time are estimated, and selected ones are said to be missing.
    var maker = PageMaker(store: DynamicStore(library.store), path: "x")
    maker.limits.count = .zero
    func page(_ query: String) throws -> String {
      let target = try Target(parsing: map + query)
      return String(decoding: PageDocument(try maker.page(target)).bytes, as: UTF8.self)
    }
    #expect(try page("").contains("<p>About 20,000 places, counted by squares"))
    let some = try page("?_where=name%20%21%3D%20%27x%27")
    #expect(some.contains("Not all places were found in time"))
    await library.verify()
  }

  @Test func `a record shows the nearest others, and leads to the map`() async throws {
    let library = try await cities()
    let record = try library.json("/Sight/1.json")
    #expect(
      record["nearest"]?.elements.compactMap { $0["name"]?.string }
        == ["<script>&", "Bern", "Apia", "Suva"])
    #expect(record["similar"] == nil)
    let page = try library.get("/Sight/1")
    #expect(page.contains("href=\"\(map)?_near=48.4,10\""))
    #expect(page.contains("Show on the map"))
    #expect(try library.json("/Sight/5.json")["nearest"] == nil)
  }

  @Test func `GeoJSON has a feature for each record`() async throws {
    let library = try await cities()
    let text = try library.get("/Sight.geojson?_sort=_id&_column=_id&_column=name")
    let features = try #require(try JSONDocument.parsing(text.utf8).root["features"])
    #expect(features.count == 6)
    #expect(features[0]?["geometry"]?["coordinates"]?[0]?.double == 10)
    #expect(features[0]?["id"]?.int64 == 1)
    #expect(features[0]?["properties"]?["name"]?.string == "Ulm")
    #expect(features[4]?["geometry"]?.isNull == true)
    #expect(try library.get(map + ".geojson?_near=48.4,10,1km").contains("\"_distance\":0"))
    let empty = try library.get("/Sight.geojson?_where=group%20%3D%3D%209")
    #expect(try JSONDocument.parsing(empty.utf8).root["features"]?.count == 0)
  }

  @Test func `an index that is being built leaves GeoJSON and distances as they are`() async throws
  {
    let library = try Library.withUnfinishedSights(
      (0..<4_000).map { number in
        var sight = Sight("\(number)", Double(number) / 100, 0)
        sight.look = [1, Float(number)]
        return sight
      })
    let schema = try library.json("/Sight/-/schema.json")
    let notices = schema["notices"]?.elements.compactMap { $0["message"]?.string } ?? []
    let index = "The index place(latitude+longitude) is being built."
    #expect(notices.contains { $0.hasPrefix(index) })
    #expect(notices.contains { $0.hasPrefix("The index vector(look) is being built.") })
    let text = try library.get("/Sight.geojson?_limit=5")
    #expect(text.ranges(of: #""type":"Point","coordinates":["#).count == 5)
    #expect(names(try library.json("/Sight.json?_near=10.001,0,1500m")) == ["1000", "1001", "999"])
    #expect(
      names(try library.json("/Sight.json?_similar=3&_limit=2&_column=name")) == ["3", "4"])
    await library.verify()
  }

  @Test func `records near a place follow each other by pages, each once`() async throws {
    let library = try await Library.withSights(
      (0..<250).map { Sight("\($0)", Double($0) / 1_000, 0) })
    var address: String? = "/Sight.json?_near=0,0,100km&_column=name"
    var found: [String] = []
    while let next = address {
      let json = try library.json(next)
      found += names(json)
      address = json["next"]?.string
    }
    #expect(found == (0..<250).map(String.init))
    #expect(try library.get("/Sight.csv?_near=0,0,100km").split(separator: "\r\n").count == 251)
    // Without a distance, all records are near.
    #expect(try library.get("/Sight?_near=0,0").contains("The 100 nearest records"))
    #expect(try library.get("/Sight.csv?_near=0,0").split(separator: "\r\n").count == 251)
    let nearest = try library.json("/Sight.json?_near=0,0&_column=name")
    let next = try library.json(try #require(nearest["next"]?.string))
    #expect(names(nearest) + names(next) == (0..<200).map(String.init))
  }

  @Test func `a view holds its places, at the poles and across the meridian 180`() throws {
    var random = SeededRandom(state: 3)
    for _ in 0..<300 {
      let middle = Coordinate(
        latitude: .random(in: -90...90, using: &random),
        longitude: .random(in: -180...180, using: &random))
      let view = MapView(
        middle: middle, height: .random(in: 0.001...150, using: &random),
        width: .random(in: 0...300, using: &random))
      let box = view.box
      #expect(PlaceText.box(PlaceText.text(box)) == box, "\(box)")
      #expect(box.south < box.north && (240...560).contains(view.drawnHeight), "\(box)")
      for (_, other) in view.others { #expect(PlaceText.box(PlaceText.text(other.box)) != nil) }
      guard box.contains(middle) else { continue }
      let point = view.point(middle)
      #expect(
        (0...MapView.drawnWidth).contains(point.x) && (0...view.drawnHeight).contains(point.y))
    }
    #expect(MapView(around: [Coordinate]()) == nil)
    #expect(MapView(around: [Coordinate(latitude: 90, longitude: 180)]) != nil)
  }

  @Test func `texts of places are read as they are written`() {
    for text in ["1,2", "-1.5,2.25,3km", "0,0,1500m", "0,0,0m", "0.1,179.9,0.5m"] {
      #expect(NearPlace(text)?.text == text, "\(text)")
    }
    #expect(NearPlace("1,2,1mi")?.meters == 1_609.344)
    let suva = Coordinate(latitude: -18.1, longitude: -178.4)
    #expect(NearPlace(PlaceText.place(suva))?.place == suva)
    #expect(NearPlace("18.1 S,178.4W, 2 km") == NearPlace(suva, meters: 2_000))
    for text in ["-1 S,2", "1 E,2", "1°,2°°", "N,2"] { #expect(NearPlace(text) == nil, "\(text)") }
  }

  @Test func `tools find records near a place and similar ones`() async throws {
    let dialogue = Dialogue(library: try await cities())
    let near = try await dialogue.call(
      "near", #"{"entity":"Sight","latitude":48.4,"longitude":10,"distance":20000,"count":true}"#)
    #expect(names(near) == ["Ulm", "<script>&"])
    #expect(near["rows"]?[0]?["_distance"]?.int64 == 0)
    #expect(near["selected"]?["records"]?.int64 == 2)
    let schema = try await dialogue.call("describe", #"{"entity":"Sight"}"#)
    #expect(schema["placeIndexes"]?[0]?["latitude"]?.string == "latitude")
    #expect(schema["vectorIndexes"]?[0]?["dimensions"]?.int64 == 2)
    for (tool, arguments, words) in [
      ("near", #"{"entity":"Book","latitude":0,"longitude":0}"#, "Book has no place index"),
      ("near", #"{"entity":"Sight","latitude":0}"#, "'latitude' and 'longitude'"),
      ("near", #"{"entity":"Sight","latitude":91,"longitude":0}"#, "from -90"),
      ("near", #"{"entity":"Sight","latitude":0,"longitude":0,"index":"x"}"#, "has no index 'x'"),
      ("similar", #"{"entity":"Sight"}"#, "'id'"),
      ("similar", #"{"entity":"Sight","id":1}"#, "has no vector"),
      ("similar", #"{"entity":"Sight","id":99}"#, "has no record 99"),
      ("similar", #"{"entity":"Book","id":1}"#, "no vector index"),
    ] {
      let text = try await dialogue.refusal(tool, arguments)
      #expect(text.contains(words), "\(text)")
    }
  }
}
