import ArgumentParser

/// Ends the check of the options with `message` if they are wrong.
package func refuse(
  if isWrong: Bool, _ message: @autoclosure () -> String
) throws(ValidationError) {
  if isWrong { throw ValidationError(message()) }
}

extension ArgumentHelp {
  /// The help of an option with a value, which the help pages call `name`.
  package static func value(
    _ text: String, discussion: String = "", _ name: String
  ) -> ArgumentHelp {
    ArgumentHelp(text, discussion: discussion, valueName: name)
  }
}
