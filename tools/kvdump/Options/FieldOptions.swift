import ArgumentParser

/// Options of the commands that write records.
struct FieldOptions: ParsableArguments {
  @Option(
    name: .customLong("fields"),
    help: .value(
      "Show only these attributes, in this order. A dotted path selects a nested value.", "a,b.c"))
  var list: NameList?

  /// The chosen paths without repetitions; `nil` for all attributes.
  var names: [String]? { list?.names }
}
