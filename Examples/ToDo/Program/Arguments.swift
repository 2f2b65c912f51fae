/// What was written behind the name of the program: words, and options with their values.
struct Arguments {
  private(set) var words: [String] = []
  private(set) var options: [String: String] = [:]

  init(_ arguments: some Sequence<String>) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      if argument.hasPrefix("--"), let value = rest.popFirst() {
        options[String(argument.dropFirst(2))] = value
      } else {
        words.append(argument)
      }
    }
  }

  func number(_ name: String) -> Int? { options[name].flatMap { Int($0) } }
}
