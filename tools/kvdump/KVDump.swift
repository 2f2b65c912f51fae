import ArgumentParser
import CLineEditor
import LMDB
import LodestoreFormat
import LodestoreSystem

/// The command-line tool for stores.
///
/// The folders, in the order in which a command line passes through them:
///
/// - `KVDump+Execution.swift`: from arguments to a command, and from the command to an exit status.
/// - `Commands/`: one file for each command, with its arguments and its work; `StoreCommand` is the
///   common part.
/// - `Store/`: opening for reading, records as cells, values that a person typed.
/// - `Query/`: format strings, orders and paths that a person typed, plans, and pages of results.
/// - `Change/`: counting, confirming and changing records; the assignments of `update`.
/// - `Diff/`: differences of two stores as rows and counts.
/// - `Generate/`: the schema as Swift source.
/// - `Export/`: files that appear completely or not at all.
/// - `Import/`: files as pages, the schema for them, and the pages as records.
/// - `SQLite/`: SQLite databases out of stores, and stores out of SQLite databases.
/// - `Arrow/`: rows as an Arrow stream.
/// - `Plot/`: values as charts.
/// - `Shell/`: the prompt, its lines and their completion.
/// - `Programs/`: commands that kvdump passes to other programs, and processes that it starts.
/// - `Options/`: groups of options, and arguments that are more than text.
/// - `Output/`: `Console`, the only way to write output: rows, single objects, notes, failures, the
///   pager.
/// - `Rendering/`: `Cell` and `Column`, and a `RowWriter` for each format.
/// - `Terminal/`: the properties of an output stream, and the use of colour.
/// - `Failure/`: exit statuses, the catalogue of failures, "did you mean".
/// - `Main/`: the program, which calls ``KVDump``. The program is a separate target, since tests
///   cannot import a program.
struct KVDump: CommandTool {
  static let configuration = CommandConfiguration(
    commandName: "kvdump",
    abstract: "Inspect and change a Lodestore file.",
    discussion: """
      Examples:
        kvdump info catalog.lodestore
        kvdump records catalog.lodestore Pod --fields name,version --limit 5

      'kvdump STORE' opens a prompt for commands on the store; see 'kvdump help shell'.

      Stores are opened read-only, even while a program uses them, unless a command says that it \
      writes. Status 0 means yes or done, 1 means no or problems found, and 64 or above an \
      error.
      """,
    version:
      "kvdump \(toolVersion), format \(FormatVersion.current.rawValue), "
      + Environment.engineVersion,
    groupedSubcommands: [
      CommandGroup(
        name: "Look",
        subcommands: [
          InfoCommand.self, SchemaCommand.self, GenerateCommand.self, RecordsCommand.self,
          GetCommand.self, IndexCommand.self, QueryCommand.self, CountCommand.self,
          ExplainCommand.self, HistoryCommand.self, DiffCommand.self, WatchCommand.self,
          PlotCommand.self, ShellCommand.self, ServeProgram.self, MCPProgram.self,
        ]),
      CommandGroup(
        name: "Inside", subcommands: [KeysCommand.self, StatCommand.self, VerifyCommand.self]),
      CommandGroup(
        name: "Change", subcommands: [DeleteCommand.self, UpdateCommand.self, EvictCommand.self]),
      CommandGroup(
        name: "Move",
        subcommands: [
          ImportCommand.self, ImportsCommand.self, ExportCommand.self, CompactCommand.self,
          SealCommand.self, ConvertCommand.self, SalvageCommand.self,
        ]),
      CommandGroup(
        name: "Datasets",
        subcommands: [
          PublishProgram.self, SigningKeysProgram.self, RefreshProgram.self, DatasetsProgram.self,
        ]),
      CommandGroup(
        name: "Replicas",
        subcommands: [
          ReplicateProgram.self, FollowProgram.self, RestoreProgram.self, ReplicaProgram.self,
        ]),
    ])

}

/// The version of kvdump and the programs that it starts.
package let toolVersion = "0.1.0"

/// Runs the command line of this process with a tool's commands, and ends the process.
package func runTool<Tool: CommandTool>(_ tool: Tool.Type) async {
  // When the reader closes the pipe, `write` returns an error, so that the store is closed
  // properly.
  signal(SIGPIPE, SIG_IGN)
  // A file beyond the process's size limit (ulimit -f) is also an error of `write`.
  signal(SIGXFSZ, SIG_IGN)
  endInWordsOnFaults()
  removePendingFilesOnSignals()
  let environment = ProcessInfo.processInfo.environment
  let console = Console(
    output: DescriptorSink(descriptor: STDOUT_FILENO, name: "standard output"),
    errors: DescriptorSink(descriptor: STDERR_FILENO, name: "standard error"),
    terminal: Terminal(descriptor: STDOUT_FILENO, environment: environment),
    errorTerminal: Terminal(descriptor: STDERR_FILENO, environment: environment),
    environment: environment,
    answers: isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 ? { readLine() } : nil)
  let status = await Tool.execute(Array(CommandLine.arguments.dropFirst()), on: console)
  leave(status)
}

/// Ends the process with `status` as its exit status.
private func leave(_ status: ExitStatus) -> Never { exit(status.rawValue) }

/// Makes signals remove the temporary files before they end the program.
private func removePendingFilesOnSignals() {
  PendingFiles.watch()
  for number in [SIGINT, SIGTERM, SIGHUP] {
    let previous = signal(number) { number in
      PendingFiles.unlinkAll()
      line_editor_restore_terminal()
      signal(number, SIG_DFL)
      raise(number)
    }
    // A signal that nohup ignores stays ignored; 1 is the value of SIG_IGN in the C headers.
    if unsafeBitCast(previous, to: Int.self) == 1 { signal(number, SIG_IGN) }
  }
}

/// Makes a crash print a sentence.
///
/// A bus error means that the file lacks a page of the map, or that the disk cannot read it. Any
/// other fault may be caused by a page that was damaged after the check of the pages, or by a
/// defect of the program; `verify` shows which of the two causes it was.
func endInWordsOnFaults() {
  useStackOfItsOwnForSignals()
  for number in [SIGBUS, SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGTRAP] {
    var action = sigaction()
    action.sa_flags = Int32(truncatingIfNeeded: Int(SA_ONSTACK) | Int(SA_RESETHAND))
    let handler: @convention(c) (Int32) -> Void = { number in
      // A signal handler must not allocate memory or use Swift strings.
      let text: StaticString =
        number == SIGBUS
        ? "kvdump: the file was cut while in use, the disk cannot read it or is full; run 'kvdump verify' on it\n"
        : "kvdump: ended by a fault; where 'kvdump verify' finds the file good, it is kvdump's own: report it\n"
      PendingFiles.unlinkAll()
      line_editor_restore_terminal()
      _ = write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
      _exit(number == SIGBUS ? 65 : 70)
    }
    #if canImport(Darwin)
      action.__sigaction_u.__sa_handler = handler
    #else
      action.__sigaction_handler.sa_handler = handler
    #endif
    sigaction(number, &action, nil)
  }
}

/// Gives the calling thread a separate stack for signal handlers, which need room after a stack
/// overflow.
private func useStackOfItsOwnForSignals() {
  let size = 64 << 10
  var stack = stack_t()
  stack.ss_sp = .allocate(byteCount: size, alignment: 16)
  stack.ss_size = size
  sigaltstack(&stack, nil)
}

/// Opens the standard streams that the caller has closed.
///
/// Otherwise a file opened later could get the number of a standard stream, and output would go
/// into the store.
///
/// Such a stream is unusable: output to it fails. Call this before anything else.
package func holdStandardStreams() {
  for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) < 0 {
    // The system assigns the lowest free number, which is `stream`.
    _ = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
  }
}

/// Ends the program with a message if it may open too few files for the task runtime, which would
/// trap.
///
/// Call it before tasks run.
package func requireDescriptors() {
  let count: Int32 = 12
  var opened: [Int32] = []
  while opened.count < count {
    let descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
    guard descriptor >= 0 else { break }
    opened.append(descriptor)
  }
  for descriptor in opened { close(descriptor) }
  guard opened.count < count else { return }
  let text: StaticString =
    "kvdump: too few files may be open at once; raise the limit, as with 'ulimit -n 256'\n"
  _ = write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
  leave(.inputOutput)
}

extension KVDump {
  /// Opens the prompt for a command line that begins with the path of a store.
  static func completed(_ arguments: [String]) -> [String] {
    guard let path = arguments.first, !path.hasPrefix("-"), !isCommand(path),
      path.hasSuffix(".lodestore") || FileFacts.exists(path)
    else { return arguments }
    return ["shell"] + arguments
  }
}

/// Runs the command line of this process and ends the process.
package func runKVDump() async { await runTool(KVDump.self) }
