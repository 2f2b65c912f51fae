#if Postgres
  import EntityStore
  import Foundation
  import LodestorePostgres

  /// The program that tests of PostgreSQL start and kill.
  ///
  ///     postgres-session follow STORE CONNECTION SLOT TABLE…    follows until standard input ends
  ///     postgres-session push STORE CONNECTION                  pushes once
  ///
  /// Each command prints "begun" when it has opened its store, and "done" at its end.
  @main struct PostgresSession {
    static func main() async {
      let words = Array(CommandLine.arguments.dropFirst())
      do {
        try await run(words)
      } catch {
        print("failed: \(error)")
      }
    }

    private static func run(_ words: [String]) async throws {
      guard words.count >= 3 else {
        print("usage")
        return
      }
      let store = try Store(at: words[1], entities: [])
      print("begun")
      fflush(nil)
      switch words[0] {
      case "follow" where words.count > 4:
        var source = PostgresSource(
          words[2], slot: words[3], tables: words.dropFirst(4).map { PostgresTable($0) })
        source.options.groupSize = 50
        source.options.firstWait = .milliseconds(50)
        let follower = source.follow(into: store)
        while readLine() != nil {}
        await follower.stop()
      case "push": try await PostgresSink(words[2]).push(store)
      default: print("usage")
      }
      print("done")
    }
  }
#else
  @main struct PostgresSession {
    static func main() { print("built without libpq") }
  }
#endif
