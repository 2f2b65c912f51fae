import Foundation
import HTTPTypes
import Hummingbird
import Lodestore

/// The podspecs over HTTP.
struct PodRoutes<Context: RequestContext> {
  let store: Store

  func add(to router: Router<Context>) {
    router.group("pods")
      .get { request, _ in try await list(request) }
      .get(":name") { request, context in try await versions(request, context) }
      .get(":name/:version") { request, context in try await detail(request, context) }
      .put(":name/:version") { request, context in try await put(request, context) }
      .delete(":name/:version") { request, context in try await delete(request, context) }
  }

  private func list(_ request: Request) async throws -> Response {
    let listing = try PodListing(request)
    let (query, conditions) = (try listing.query, Preconditions(request.headers))
    let answer = try await store.read { snapshot in
      try snapshot.answer(conditions, tag: EntityTag(snapshot.historyToken())) {
        snapshot in
        do {
          return try snapshot.page(
            query, \.name, \.version, \.summary, \.homepage, \.license, \.authorNames)
        } catch let error as StoreError where error.code == .invalidQuery {
          // The other parts of the query were checked, so only the token can be wrong.
          throw Problem.badParameter("after", "\(error.message). Begin at the first page.")
        }
      }
    }
    return try answer.response { page, headers in
      let next = listing.next(page.next, request)
      if let next { headers[.link] = "<\(next)>; rel=\"next\"" }
      return PodPage(pods: page.items.map(PodPage.Item.init(attributes:)), next: next)
    }
  }

  private func versions(_ request: Request, _ context: Context) async throws -> Response {
    let name = try context.part("name")
    let conditions = Preconditions(request.headers)
    let answer = try await store.read { snapshot in
      try snapshot.answer(conditions, tag: EntityTag(snapshot.historyToken())) { snapshot in
        guard let pod = try snapshot.fetch(Pod.key(name: name)) else {
          throw Problem.notFound(
            "There is no pod \"\(name)\". Look at /pods?name=\(name.prefix(1)).")
        }
        let newest = Podspec.all.sorted(by: \.versionOrder.descending)
        return PodVersions(pod, try snapshot.related(Pod.specs, of: pod.id, newest))
      }
    }
    return try answer.response { pod, _ in pod }
  }

  private func detail(_ request: Request, _ context: Context) async throws -> Response {
    let (name, version) = (try context.part("name"), try context.part("version"))
    let conditions = Preconditions(request.headers)
    let answer = try await store.read { snapshot in
      // The tag is read from the stored bytes, without decoding the record.
      let key = Podspec.key(name: name, version: version)
      let found = try snapshot.withView(key) { ($0.id, $0.changedAt) }
      guard let (id, changedAt) = found else { throw Problem.noPodspec(name, version) }
      let tag = EntityTag(id, changedAt: changedAt)
      return try snapshot.answer(conditions, tag: tag) { snapshot in
        guard let spec = try snapshot.fetch(id) else { throw Problem.noPodspec(name, version) }
        let needed = try snapshot.related(
          Podspec.dependencies, of: id, Pod.all.sorted(by: \.name))
        return PodDetail(spec, dependencies: needed)
      }
    }
    return try answer.response { detail, headers in
      headers[.lastModified] = detail.changedAt.httpDate
      return detail
    }
  }
}

// MARK: Writing

extension PodRoutes {
  private func put(_ request: Request, _ context: Context) async throws -> Response {
    let (name, version) = (try context.part("name"), try context.part("version"))
    let body = try await request.body.collect(upTo: 1 << 20)
    let content = try JSONDecoder().decode(PodRecord.Content.self, from: body)
    let conditions = Preconditions(request.headers)
    let record = PodRecord(name: name, version: version, content: content)
    // The store has one writer at a time, so the compared state cannot change before the commit.
    let (detail, tag, isNew) = try await store.write(author: PodStore.author) { tx in
      let before = try tx.fetch(Podspec.key(name: name, version: version))
      try conditions.checkWrite(over: before.map { EntityTag($0) })
      let id = try tx.put(record)
      guard let spec = try tx.fetch(id) else { throw Problem.noPodspec(name, version) }
      let needed = try tx.related(Podspec.dependencies, of: id, Pod.all.sorted(by: \.name))
      return (PodDetail(spec, dependencies: needed), EntityTag(spec), before == nil)
    }
    // The write is durable when the call has returned.
    var headers: HTTPFields = [.eTag: tag.description]
    if isNew { headers[.location] = Paths.spec(name, version) }
    return try .json(detail, status: isNew ? .created : .ok, headers: headers)
  }

  private func delete(_ request: Request, _ context: Context) async throws -> Response {
    let (name, version) = (try context.part("name"), try context.part("version"))
    let conditions = Preconditions(request.headers)
    try await store.write(author: PodStore.author) { tx in
      guard let spec = try tx.fetch(Podspec.key(name: name, version: version)) else {
        throw Problem.noPodspec(name, version)
      }
      try conditions.checkWrite(over: EntityTag(spec))
      try tx.remove(spec)
    }
    return Response(status: .noContent)
  }
}

extension RequestContext {
  /// Returns a parameter of the path.
  fileprivate func part(_ name: String) throws -> String {
    let text = try parameters.require(name)
    return text.removingPercentEncoding ?? text
  }
}

extension Problem {
  fileprivate static func noPodspec(_ name: String, _ version: String) -> Problem {
    notFound("There is no version \(version) of \"\(name)\". Look at \(Paths.pod(name)).")
  }
}
