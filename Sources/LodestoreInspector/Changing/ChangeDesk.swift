internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows
internal import Synchronization

/// Asks before each change of the store, and makes the changes that were confirmed.
///
/// A question comes from a rehearsal: the change is made in a write that is undone. The question
/// therefore names all records that delete rules reach. A change that the store would refuse is
/// refused before the question. The answer names the question by a token, which is valid once.
final class ChangeDesk: Sendable {
  /// The author of the changes in the history.
  static let author = "kvdump serve"

  struct Limits: Sendable {
    /// The number of questions without an answer; the oldest are forgotten.
    var questions = 64
    /// The time in which a question can be answered.
    var time = Duration.seconds(600)
  }

  private struct Question {
    let token: String
    let change: PlannedChange
    let asked = ContinuousClock.now
  }

  private let maker: PageMaker
  private let limits: Limits
  private let questions = Mutex<[Question]>([])

  private var store: DynamicStore { maker.store }

  init(_ maker: PageMaker, limits: Limits = Limits()) {
    self.maker = maker
    self.limits = limits
  }

  /// The page for a request, and its status.
  ///
  /// - Throws: ``AddressError`` and `StoreError` if there is no page for the change.
  func page(_ edit: EditRoute, _ request: Request?, as form: Form) throws -> (
    page: Page, status: Int
  ) {
    guard let request, request.method == "POST" else {
      guard edit != .confirm else {
        throw AddressError.notFound("the answer to a question is sent by a form")
      }
      return (try formPage(edit, as: form), 200)
    }
    var input: ChangeInput?
    do {
      let read = try ChangeInput(request)
      input = read
      if edit == .confirm { return (try confirm(read, as: form), 200) }
      return (try ask(edit, read, as: form), 200)
    } catch let refusal as ChangeRefusal {
      return (try refused(refusal, edit, input, as: form), refusal.status)
    } catch let error as StoreError {
      let refusal = ChangeRefusal(error, entity: edit.entity)
      return (try refused(refusal, edit, input, as: form), refusal.status)
    }
  }

  // MARK: Questions

  private func ask(_ edit: EditRoute, _ input: ChangeInput, as form: Form) throws -> Page {
    let token = AccessKey().text
    let (change, page) = try store.rehearse { transaction in
      let reading = PageReading(maker: maker, snapshot: transaction.snapshot, form: form)
      var change = try PlannedChange(edit, input, reading)
      let before = try ChangePages(reading).values(before: change)
      let id = try change.apply(transaction, reading)
      change.changes = transaction.changes
      try transaction.finishRehearsal()
      if change.changes.isEmpty, case .undo = edit {
        throw ChangeRefusal(422, "The undo would change nothing.")
      } else if change.changes.isEmpty {
        throw ChangeRefusal(422, "No record would change.")
      }
      let page = try ChangePages(reading).question(
        change, before, newID: id, all: transaction.changes, token: token)
      return (change, page)
    }
    let oldest = ContinuousClock.now - limits.time
    questions.withLock { questions in
      questions.removeAll { $0.asked < oldest }
      if questions.count >= limits.questions { questions.removeFirst() }
      questions.append(Question(token: token, change: change))
    }
    return page
  }

  /// Removes the question of a token, which is answered by that.
  private func take(_ token: String) -> PlannedChange? {
    let oldest = ContinuousClock.now - limits.time
    return questions.withLock { questions in
      questions.removeAll { $0.asked < oldest }
      guard let place = questions.firstIndex(where: { $0.token == token }) else { return nil }
      return questions.remove(at: place).change
    }
  }

  private func confirm(_ input: ChangeInput, as form: Form) throws -> Page {
    guard let token = input.text(EditForm.token) else {
      throw ChangeRefusal(400, "The answer has no token of a question.")
    }
    guard let change = take(token) else {
      throw ChangeRefusal(
        409,
        "This question is not open: it was answered already, or is older than "
          + "\(Int(limits.time / .seconds(60))) minutes. Nothing was changed now.")
    }
    do {
      let id = try store.writeCounting(author: Self.author) { transaction in
        let reading = PageReading(maker: maker, snapshot: transaction.snapshot, form: form)
        let id = try change.apply(transaction, reading)
        let found = transaction.changes
        if found != change.changes {
          var refusal = ChangeRefusal(
            409, "Other records would change now than the question named. Nothing was changed.")
          refusal.states = ChangePages.states(asked: change.changes, now: found)
          throw refusal
        }
        return id
      }
      return try asPlain(form) { reading in try ChangePages(reading).done(change, newID: id) }
    } catch {
      var refusal: ChangeRefusal
      switch error {
      case let error as ChangeRefusal: refusal = error
      case let error as StoreError: refusal = ChangeRefusal(error, entity: change.edit.entity)
      case let error as AddressError:
        refusal = ChangeRefusal(409, "\(error.message). Nothing was changed now.")
      default: throw error
      }
      refusal.origin = change.edit
      throw refusal
    }
  }

  // MARK: Forms

  private func formPage(_ edit: EditRoute, as form: Form) throws -> Page {
    try asPlain(form) { reading in try ChangePages(reading).form(edit, nil, nil) }
  }

  /// The form with the reasons why its answer is refused, or a page with the reason alone.
  private func refused(
    _ refusal: ChangeRefusal, _ edit: EditRoute, _ input: ChangeInput?, as form: Form
  ) throws -> Page {
    try asPlain(form) { reading in
      var page: Page
      let pages = ChangePages(reading)
      // The record of the form may be gone.
      let isForm = form == .html && edit != .confirm && refusal.status != 403
      if isForm, let form = try? pages.form(edit, input, refusal) {
        page = form
      } else {
        page = pages.refusal(refusal, edit)
      }
      page.isRefused = true
      return page
    }
  }

  /// Makes a page that the script does not load again after commits.
  ///
  /// A person may be writing in the page, and the address of an answer has no page for GET.
  private func asPlain(_ form: Form, _ make: (PageReading) throws -> Page) throws -> Page {
    var page = try maker.page(as: form, make)
    if form == .html { page.commit = nil }
    return page
  }
}
