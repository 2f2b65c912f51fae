internal import EntityStore

/// Answers addresses with pages, without a server.
struct Responder: Sendable {
  let maker: PageMaker
  /// The desk for changes; `nil` for a server that only reads.
  let desk: ChangeDesk?

  init(maker: PageMaker, allowsWrites: Bool = false) {
    var maker = maker
    maker.offersEdits = allowsWrites
    self.maker = maker
    desk = allowsWrites ? ChangeDesk(maker) : nil
  }

  /// Answers a request that passed the gate.
  ///
  /// - Parameter request: the request with its body; `nil` for one without a server.
  func respond(to address: Address, _ request: Request? = nil) -> Response {
    var target: Target
    do {
      target = try Target(address)
    } catch {
      return failure(error, Target(.store))
    }
    if case .edit(let edit) = target.route {
      if request?.bodyForm == .json { target.form = .json }
      return respond(to: edit, request, target)
    }
    if request?.method == "POST" {
      var response = Response(405, "This page takes no changes; use GET.")
      response.fields = [("Allow", "GET, HEAD")]
      return response
    }
    switch target.route {
    case .styleSheet:
      return Response(200, contentType: "text/css; charset=utf-8", TwinPart(StyleSheet.bytes))
    case .script:
      return Response(200, contentType: PageScript.contentType, TwinPart(PageScript.bytes))
    case .live: return live()
    case .icon: return Response(200, contentType: "image/svg+xml", TwinPart(StyleSheet.icon))
    default: break
    }
    do {
      return response(try maker.page(target), target, status: 200)
    } catch {
      return failure(error, target)
    }
  }

  private func respond(to edit: EditRoute, _ request: Request?, _ target: Target) -> Response {
    do {
      guard let desk else {
        throw AddressError.notFound(
          "this server is read-only; 'kvdump serve --write' starts one that changes records")
      }
      let (page, status) = try desk.page(edit, request, as: target.form)
      return response(page, target, status: status)
    } catch {
      return failure(error, target)
    }
  }

  /// The newest commit as one event; the server continues with later ones.
  private func live() -> Response {
    do {
      let commit = try maker.store.read { $0.commitNumber }
      var text = EventText()
      return Response(
        200, contentType: EventText.contentType, TwinPart(text.bytes(of: .commit(commit))))
    } catch {
      return failure(error, Target(.store))
    }
  }

  private func response(_ page: Page, _ target: Target, status: Int) -> Response {
    let status = page.isRefused && status == 200 ? 400 : status
    // A refused request has no rows. A table without rows would look like an empty result.
    let form = page.isRefused && page.rows == nil && target.form != .html ? .json : target.form
    var response = Response(status, contentType: form.contentType, TwinPart.of(page, as: form))
    if form == .csv {
      let name = "\(fileName(target)).csv"
      response.fields = [("Content-Disposition", "attachment; filename=\"\(name)\"")]
    }
    return response
  }

  /// The name of a file with the rows: letters, digits and hyphens.
  private func fileName(_ target: Target) -> String {
    let letters = target.route.address.path.joined(separator: "-").unicodeScalars.filter {
      $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "-")
    }
    return letters.isEmpty ? "store" : String(String.UnicodeScalarView(letters))
  }

  private func failure(_ error: any Error, _ target: Target) -> Response {
    let (status, title, message) = Self.words(for: error)
    let page = maker.failure(message, title: title)
    return response(page, target, status: status)
  }

  /// The status, the title and the sentence of an error's page.
  static func words(for error: any Error) -> (status: Int, title: String, message: String) {
    switch error {
    case let error as AddressError:
      switch error {
      case .malformed, .unknownParameter, .badParameter, .badPlace:
        (400, "Bad address", error.message)
      case .unknownPath, .notFound: (404, "Not found", error.message)
      }
    case let error as StoreError:
      switch error.code {
      case .cancelled: (503, "Not in time", error.message)
      case .invalidQuery: (400, "Bad query", error.message)
      case .expiredHistory: (404, "Not found", error.message)
      default: (500, "The store cannot be read", error.message)
      }
    default: (500, "Error", "\(error)")
    }
  }
}
