import Hummingbird
import Lodestore

/// Converts every error to a problem, so that all error responses have one form.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch {
      throw problem(error, request, context)
    }
  }

  private func problem(_ error: any Error, _ request: Request, _ context: Context) -> Problem {
    switch error {
    case let problem as Problem: return problem
    case let error as DecodingError: return .badBody(error)
    case let error as StoreError:
      if let problem = Problem(error) { return problem }
    case let error as any HTTPResponseError:
      if error.status == .notFound {
        return .notFound(
          "There is nothing at \(request.uri.path). Begin at /pods.")
      }
      return Problem(error.status, error.status.reasonPhrase, "\(error)")
    default: break
    }
    context.logger.error("request failed", metadata: ["error": "\(error)"])
    return Problem(
      .internalServerError, "Internal error",
      "The server failed; its log says why. Tell its operator this id: \(context.id).")
  }
}
