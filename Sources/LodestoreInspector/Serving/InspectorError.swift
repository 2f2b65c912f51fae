/// An error of the inspector's server.
struct InspectorError: Error, CustomStringConvertible {
  let message: String

  var description: String { message }
}
