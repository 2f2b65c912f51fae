import Catalogue
import Foundation
import LodestoreDatasets
import Service
import Terminal

/// `catalogue`: see ``usage``.
@main
enum Main {
  static let usage = """
    catalogue [WORD]                   podspecs with a word in name or summary, and how old they are
    catalogue refresh                  brings the newest podspecs from the service
    catalogue mark NAME VERSION NOTE   marks a podspec
    catalogue favourites               what is marked, with its podspec
    options: --url URL     of the service; by default one is started in this process
             --folder DIR  where datasets and favourites are kept (catalogue-data)
    """

  static func main() async { await runProgram("catalogue", run) }

  private static func run(_ arguments: Arguments) async throws {
    let folder = arguments.options["folder"] ?? "catalogue-data"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // An application would ship the file; this program makes it at its first start.
    let seed = folder + "/seed.lodestore"
    if !FileManager.default.fileExists(atPath: seed) { try Seed.make(at: seed) }
    let url = arguments.options["url"].flatMap { URL(string: $0) }
    let needsService = arguments.words.first == "refresh" && url == nil
    let service = needsService ? try await Service.start(try .standard()) : nil
    let none = URL(fileURLWithPath: "/")
    let catalogue = try Catalogue(in: folder, seed: seed, service: url ?? service?.url ?? none)
    defer { catalogue.close() }
    try await Screen(catalogue: catalogue).show(arguments.words)
    await service?.stop()
  }
}
