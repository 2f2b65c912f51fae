/// The form in which an address answers.
enum Form: String, Sendable, CaseIterable {
  /// A page for people.
  case html
  /// One object, with the rows as an array.
  case json
  /// One object for each row, on a line of its own.
  case jsonl
  case csv
  /// The rows as the features of a GeoJSON `FeatureCollection`, for entities with places.
  case geojson

  var contentType: String {
    switch self {
    case .html: "text/html; charset=utf-8"
    case .json: "application/json"
    case .jsonl: "application/jsonl; charset=utf-8"
    case .csv: "text/csv; charset=utf-8; header=present"
    case .geojson: "application/geo+json"
    }
  }
}

/// A page and the form of the answer, as an address names them: `/Pod.csv?license=MIT`.
struct Target: Hashable, Sendable {
  var route: Route
  var form: Form

  init(_ route: Route, _ form: Form = .html) {
    self.route = route
    self.form = form
  }

  init(_ address: Address) throws(AddressError) {
    var path = address.path
    form = .html
    if let last = path.last {
      for form in Form.allCases where form != .html && last.hasSuffix(".\(form.rawValue)") {
        path.removeLast()
        // The address of the root's form is `/.json`.
        let name = String(last.dropLast(form.rawValue.utf8.count + 1))
        if !name.isEmpty || !path.isEmpty { path.append(name) }
        self.form = form
      }
    }
    route = try Route(path, address.query)
    if case .edit = route, form != .html, form != .json { throw .unknownPath(address.text) }
    if route.isFile, form != .html { throw .unknownPath(address.text) }
  }

  init(parsing text: String) throws(AddressError) {
    guard let address = Address(text) else { throw .malformed }
    try self.init(address)
  }

  var address: Address {
    var address = route.address
    guard form != .html else { return address }
    let last = address.path.popLast() ?? ""
    address.path.append("\(last).\(form.rawValue)")
    return address
  }
}
