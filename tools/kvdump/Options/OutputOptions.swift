import ArgumentParser

/// Options of every command for the form of the output.
package struct OutputOptions: ParsableArguments {
  package init() {}

  @Option(
    help: ArgumentHelp(
      "The format of rows.", discussion: "auto is a table on a terminal and JSON Lines otherwise.",
      valueName: "format"))
  var format = FormatChoice.auto

  @Option(help: ArgumentHelp("When to use colour; auto honours NO_COLOR.", valueName: "when"))
  var color = ColorChoice.auto

  // A text for null may begin with a minus, such as -999, so it is not parsed as an option.
  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "The text for null in CSV. 'import' reads it as null if it has no quotes, in addition to the "
        + "empty field, and accepts several: --null-value NA --null-value '\\N'.",
      valueName: "text"))
  var nullValue: [String] = []

  @Flag(help: "Do not show long output through $KVDUMP_PAGER, $PAGER or less.") var noPager = false

  @Flag(name: .shortAndLong, help: "Print no notes on standard error, only failures.")
  var quiet = false
}
