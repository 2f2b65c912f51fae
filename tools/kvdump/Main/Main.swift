import KVDumpCommands

/// The program `kvdump`; everything is in the module of its commands.
@main
struct Main {
  static func main() async { await runKVDump() }
}
