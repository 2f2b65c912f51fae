import EntityStore
import Testing

/// A text that is no condition, the position and the token at fault, and the message.
struct RefusedFormat: Sendable, CustomTestStringConvertible {
  let text: String
  let message: String

  /// - Parameter message: The text after "cannot parse the condition: ".
  init(_ text: String, _ message: String) {
    self.text = text
    self.message = message
  }

  var testDescription: String { text.debugDescription }
}
