import ArgumentParser
import LMDB
import LodestoreFormat
import LodestoreSystem

/// The tool: what is in a store, and is it sound.
///
/// A reader's tour, in the order of a command line's life:
///
/// - `KVDump+Execution.swift`: arguments to a command, the command to an exit status.
/// - `Commands/`: one file a command, its arguments and its work; `StoreCommand` is what they
///   share.
/// - `Store/`: opening for reading, records as cells, values that a person typed.
/// - `Query/`: format strings, orders and paths that a person typed, plans, and pages of results.
/// - `Change/`: records counted, asked about and changed; what `update` sets.
/// - `Diff/`: differences of two stores as rows and counts.
/// - `Export/`: files that are there as a whole or not at all.
/// - `Import/`: files as pages, the schema for them, and the pages as records.
/// - `Options/`: groups of options, and arguments that are more than text.
/// - `Output/`: `Console`, the one way out: rows, single objects, notes, failures, the pager.
/// - `Rendering/`: `Cell` and `Column`, and a `RowWriter` for each format.
/// - `Terminal/`: what is at the end of a stream, and when to use colour.
/// - `Failure/`: exit statuses, the catalogue of failures, "did you mean".
/// - `Main/`: the program, which calls this; a target of its own, since tests cannot import one.
struct KVDump: CommandTool {
  static let configuration = CommandConfiguration(
    commandName: "kvdump",
    abstract: "Look into a Lodestore file.",
    discussion: """
      Examples:
        kvdump info catalog.lodestore
        kvdump records catalog.lodestore Pod --fields name,version --limit 5

      Stores are opened read-only, also while a program uses them, unless a command says that it \
      writes. Status 0 is yes or done, 1 is no or problems found, 64 and above is trouble.
      """,
    version:
      "kvdump \(version), format \(FormatVersion.current.rawValue), \(Environment.engineVersion)",
    groupedSubcommands: [
      CommandGroup(
        name: "Look",
        subcommands: [
          InfoCommand.self, SchemaCommand.self, RecordsCommand.self, GetCommand.self,
          IndexCommand.self, QueryCommand.self, CountCommand.self, ExplainCommand.self,
          HistoryCommand.self, DiffCommand.self,
          WatchCommand.self,
        ]),
      CommandGroup(
        name: "Inside", subcommands: [KeysCommand.self, StatCommand.self, VerifyCommand.self]),
      CommandGroup(
        name: "Change", subcommands: [DeleteCommand.self, UpdateCommand.self, EvictCommand.self]),
      CommandGroup(
        name: "Move",
        subcommands: [
          ImportCommand.self, ImportsCommand.self, ExportCommand.self, CompactCommand.self,
          SealCommand.self,
          ConvertCommand.self, SalvageCommand.self,
        ]),
      CommandGroup(
        name: "Datasets",
        subcommands: [
          PublishProgram.self, SigningKeysProgram.self, RefreshProgram.self, DatasetsProgram.self,
        ]),
    ])

  static let version = "0.1.0"
}

/// Runs the command line of this process as that of a tool, and ends the process.
package func runTool<Tool: CommandTool>(_ tool: Tool.Type) async {
  // A reader of the pipe that has gone is an error of `write`, so that the store is closed.
  signal(SIGPIPE, SIG_IGN)
  // A file beyond the limit of the process (ulimit -f) is an error of `write`, too.
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

/// Outside of `runTool`, in whose scope the parser has an `exit` of its own.
private func leave(_ status: ExitStatus) -> Never {
  exit(status.rawValue)
}

/// Takes the temporary files away when a signal ends the program.
private func removePendingFilesOnSignals() {
  PendingFiles.watch()
  for number in [SIGINT, SIGTERM, SIGHUP] {
    let previous = signal(number) { number in
      PendingFiles.unlinkAll()
      signal(number, SIG_DFL)
      raise(number)
    }
    // What nohup ignores stays ignored; 1 is what the C headers have for it.
    if unsafeBitCast(previous, to: Int.self) == 1 { signal(number, SIG_IGN) }
  }
}

/// Prints a sentence where otherwise only the signal would tell of the crash.
///
/// A bus error is a page of the map that the file does not have, or the disk cannot read. Any other
/// fault may come of a page that was damaged after the pages were checked, or be a defect of the
/// program: `verify` tells which.
func endInWordsOnFaults() {
  useStackOfItsOwnForSignals()
  for number in [SIGBUS, SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGTRAP] {
    var action = sigaction()
    action.sa_flags = Int32(truncatingIfNeeded: Int(SA_ONSTACK) | Int(SA_RESETHAND))
    let handler: @convention(c) (Int32) -> Void = { number in
      // Only what is allowed in a signal handler: no allocation, no Swift strings.
      let text: StaticString =
        number == SIGBUS
        ? "kvdump: the file was cut while in use, the disk cannot read it or is full; run 'kvdump verify' on it\n"
        : "kvdump: ended by a fault; where 'kvdump verify' finds the file good, it is kvdump's own: report it\n"
      PendingFiles.unlinkAll()
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

/// Gives the calling thread a stack for its signal handlers: where its own has overflowed there is
/// no room for them.
private func useStackOfItsOwnForSignals() {
  let size = 64 << 10
  var stack = stack_t()
  stack.ss_sp = .allocate(byteCount: size, alignment: 16)
  stack.ss_size = size
  sigaltstack(&stack, nil)
}

/// Opens the standard streams that the caller has closed, so that no file opened later gets their
/// number: output would go into the store.
///
/// Such a stream cannot be used: output to it fails. Called before anything else.
package func holdStandardStreams() {
  for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) < 0 {
    // Gets the lowest number that is free, which is this one.
    _ = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
  }
}

/// Ends the program in words where it may open too few files for what runs tasks, which would trap.
///
/// Called before tasks run.
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

/// Runs the command line of this process and ends it.
package func runKVDump() async { await runTool(KVDump.self) }
