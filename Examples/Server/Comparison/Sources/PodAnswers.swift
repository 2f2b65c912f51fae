import Foundation
import GRDB
import Hummingbird
import Lodestore
import PodServer

/// Answers a request for one podspec, and for a page of podspecs with a license, with the bytes
/// that `server` sends.
///
/// Conditional requests and all filters except the license are left out, so this server has less
/// work.
struct PodAnswers {
  let database: DatabasePool

  func add(to router: Router<BasicRequestContext>) {
    router.get("pods") { request, _ in try await list(request) }
    router.get("pods/:name/:version") { _, context in
      try await detail(
        try context.parameters.require("name"), try context.parameters.require("version"))
    }
  }

  private func list(_ request: Request) async throws -> Response {
    let parameters = request.uri.queryParameters
    let limit = parameters["limit"].flatMap { Int($0) } ?? 50
    let license = parameters["license"].map(String.init)
    let after = try parameters["after"].map { try Place(token: String($0)) }
    let rows = try await database.read { db in
      try PageRow.fetch(db, license: license, after: after, limit: limit)
    }
    let page = rows.prefix(limit)
    let next = rows.count > limit ? page.last?.place.token : nil
    let others = (request.uri.query ?? "").split(separator: "&").filter {
      !$0.hasPrefix("after=")
    }
    return try .json(
      PodPage(
        pods: page.map(\.item),
        next: next.map { "/pods?" + (others + ["after=\($0)"]).joined(separator: "&") }))
  }

  private func detail(_ name: String, _ version: String) async throws -> Response {
    let detail = try await database.read { db in
      try DetailRow.fetch(db, name: name, version: version)
    }
    guard let detail else { throw HTTPError(.notFound) }
    return try .json(detail)
  }
}
