import Testing

@testable import KVDumpCommands

/// Help that a person reads in a window of 80 columns, and copies examples from.
@Suite struct `Help of the commands` {
  /// If the parser wrapped an example, its line would end within an option and could not be copied
  /// as a command.
  @Test func `help shows each line of an example as it is typed`() {
    var count = 0
    for command in [KVDump.self] + KVDump.configuration.groupedSubcommands.flatMap(\.subcommands) {
      let help = KVDump.helpMessage(for: command, columns: 80).split(separator: "\n")
      let lines = command.configuration.discussion.split(separator: "\n")
      var isContinued = false
      for line in lines {
        let isExample =
          line.contains("kvdump ") && (line.hasPrefix("  ") || line.hasPrefix("Example:"))
        guard isContinued || isExample else { continue }
        #expect(line.count <= 78, "\(line)")
        #expect(help.contains { $0.trimmed == line.trimmed }, "\(line)")
        isContinued = line.hasSuffix("\\")
        count += 1
      }
    }
    #expect(count > 30)
  }
}

extension Substring {
  fileprivate var trimmed: Substring { drop { $0 == " " } }
}
