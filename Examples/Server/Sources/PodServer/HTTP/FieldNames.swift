import HTTPTypes

extension HTTPField.Name {
  static let link = known("Link")
  static let lastEventID = known("Last-Event-ID")
  /// Makes nginx pass each piece of a stream on at once.
  static let xAccelBuffering = known("X-Accel-Buffering")

  private static func known(_ name: String) -> Self {
    guard let name = Self(name) else { preconditionFailure("\(name) is no name of a field") }
    return name
  }
}
