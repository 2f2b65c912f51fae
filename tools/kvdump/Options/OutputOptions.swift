import ArgumentParser

/// Options of every command for the form of the output.
package struct OutputOptions: ParsableArguments {
  package init() {}

  @Option(
    help: ArgumentHelp(
      "How rows are written.",
      discussion: "auto is a table on a terminal and JSON Lines otherwise.",
      valueName: "format"))
  var format = FormatChoice.auto

  @Option(help: ArgumentHelp("Whether to use colour; auto honours NO_COLOR.", valueName: "when"))
  var color = ColorChoice.auto

  // Many tables contain -999.
  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "What null is in CSV. 'import' reads it as null where it stands without quotes, beside the "
        + "empty field, and takes the option again for others: --null-value NA --null-value '\\N'.",
      valueName: "text"))
  var nullValue: [String] = []

  @Flag(help: "Do not show long output through $KVDUMP_PAGER, $PAGER or less.")
  var noPager = false

  @Flag(name: .shortAndLong, help: "No notes on standard error; failures are still told.")
  var quiet = false
}
