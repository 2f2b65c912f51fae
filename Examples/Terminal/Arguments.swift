/// The arguments after the name of a program: words, and options with their values.
///
///     let arguments = Arguments(["search", "json", "--store", "pods.lodestore"])
///     arguments.words            // ["search", "json"]
///     arguments.options["store"] // "pods.lodestore"
public struct Arguments: Sendable {
  /// The arguments that are not options.
  public private(set) var words: [String] = []
  /// The values of options, by option name.
  ///
  /// If an option is repeated, the last value counts.
  public private(set) var options: [String: String] = [:]

  /// Separates words and options.
  ///
  /// An option begins with two hyphens. The next argument is its value.
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

  /// Returns the value of an option as a number; `nil` if the value is not a number.
  public func number(_ name: String) -> Int? { options[name].flatMap { Int($0) } }
}
