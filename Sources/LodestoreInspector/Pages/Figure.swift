internal import LodestoreRows

/// A picture with the table of its values, for people who do not see it and for programs.
struct Figure: Sendable {
  var drawing: Drawing
  var table: Table
  /// Links that show another part of the picture.
  var controls: [(text: String, route: Route)] = []

  init(_ drawing: Drawing, _ table: Table) {
    self.drawing = drawing
    self.table = table
  }
}

extension Drawing.Link {
  init(_ route: Route) { self.init(route.address.text) }
}
