import ArgumentParser

/// Ends the check of the options with `message` if they are wrong.
package func refuse(
  if isWrong: Bool, _ message: @autoclosure () -> String
) throws(ValidationError) {
  if isWrong { throw ValidationError(message()) }
}
