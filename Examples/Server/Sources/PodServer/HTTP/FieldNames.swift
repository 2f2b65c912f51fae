import HTTPTypes

extension HTTPField.Name {
  static let link = known("Link")
  static let lastEventID = known("Last-Event-ID")
  /// A header field that makes nginx forward each part of a stream immediately.
  static let xAccelBuffering = known("X-Accel-Buffering")

  private static func known(_ name: String) -> Self {
    guard let name = Self(name) else { preconditionFailure("\(name) is no name of a field") }
    return name
  }
}
