import Foundation
import LodestoreReplicas
import Notes
import Terminal

/// `notes COMMAND`: see ``usage``.
@main
enum Main {
  static let usage = """
    notes add TEXT...        adds a note for each text, and sends it to the bucket
    notes follow             shows a list on another machine that updates itself
    notes status             shows the replica in the bucket
    notes takeover FILE      makes a store on this machine that may write from now on
    options: --bucket PLACE  a folder, or an address of an S3-compatible service (notes-bucket)
             --store FILE    where notes are written (notes.lodestore)
             --copy FOLDER   where the list reads them (notes-copy)
             --until N       the list ends when it has N notes
    """

  static func main() async { await runProgram("notes", run) }

  private static func run(_ arguments: Arguments) async throws {
    let place = arguments.options["bucket"] ?? "notes-bucket"
    let rest = arguments.words.dropFirst()
    let screen = Screen()
    switch (arguments.words.first, rest.count) {
    case ("add", 1...):
      let store = arguments.options["store"] ?? "notes.lodestore"
      try await screen.add(Array(rest), to: store, try bucket(place))
    case ("follow", 0):
      let copy = arguments.options["copy"] ?? "notes-copy"
      try await screen.follow(try bucket(place), in: copy, until: arguments.number("until"))
    case ("status", 0): try await screen.status(of: try bucket(place))
    case ("takeover", 1): try await screen.takeOver(try bucket(place), rest.first ?? "")
    default: screen.terminal.print(usage)
    }
  }

  /// A folder is created, because this program needs no service.
  private static func bucket(_ place: String) throws -> ReplicaStorage {
    if place.contains("://") { return try .s3(place) }
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    return try .folder(place)
  }
}
