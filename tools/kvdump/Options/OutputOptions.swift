import ArgumentParser

/// Options of every command for the form of the output.
package struct OutputOptions: ParsableArguments {
  package init() {}

  @Option(
    help: .value(
      "The format of rows.",
      discussion: "auto is a table on a terminal and JSON Lines otherwise.", "format"))
  var format = FormatChoice.auto

  @Option(help: .value("When to use colour; auto honours NO_COLOR.", "when"))
  var color = ColorChoice.auto

  // A text for null may begin with a minus, such as -999, so it is not parsed as an option.
  @Option(
    parsing: .unconditionalSingleValue,
    help: .value(
      "The text for null in CSV. 'import' reads it as null if it has no quotes, in addition to the "
        + "empty field, and accepts several: --null-value NA --null-value '\\N'.", "text"))
  var nullValue: [String] = []

  @Flag(help: "Do not show long output through $KVDUMP_PAGER, $PAGER or less.") var noPager = false

  @Flag(name: .shortAndLong, help: "Print no notes on standard error, only failures.")
  var quiet = false
}
