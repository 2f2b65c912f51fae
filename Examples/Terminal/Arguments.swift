/// The arguments after the name of a program: words, and options with their values.
///
///     let arguments = Arguments(["search", "json", "--store", "pods.lodestore"])
///     arguments.words            // ["search", "json"]
///     arguments.options["store"] // "pods.lodestore"
public struct Arguments: Sendable {
  /// The arguments that are no options.
  public private(set) var words: [String] = []
  /// The values of options by their names; the last one of a name.
  public private(set) var options: [String: String] = [:]

  /// Separates words and options: an option is a word after two hyphens, and its value the next
  /// argument.
  public init(_ arguments: some Sequence<String>) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      if argument.hasPrefix("--"), let value = rest.popFirst() {
        options[String(argument.dropFirst(2))] = value
      } else {
        words.append(argument)
      }
    }
  }

  /// Returns the value of an option as a number; `nil` if it is no number.
  public func number(_ name: String) -> Int? { options[name].flatMap { Int($0) } }
}
