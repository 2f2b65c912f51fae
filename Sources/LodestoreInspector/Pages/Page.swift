internal import LodestoreJSON
internal import LodestoreRows

/// A page as one value, from which every form of it is made.
///
/// A page is made in one short read transaction, and its forms are made from it afterwards. Whoever
/// adds a fact or a column adds it to all forms.
struct Page: Sendable {
  /// A page above this one, from the store down.
  struct Crumb: Sendable {
    var text: String
    var route: Route
  }

  var route: Route
  var title: String
  /// The pages above this one.
  var trail: [Crumb] = []
  /// The views of the same entity, of which one is this page.
  var views: [Crumb] = []
  var sections: [Section] = []
  /// Whether the address asks for something that the store cannot answer.
  var isRefused = false
  /// The number of the commit that the page shows; `nil` if the store was not read.
  var commit: UInt64?
  /// Whether the rows are records with places.
  var hasPlaces = false
  /// Whether the server of the page changes records.
  var isWritable = false
  /// All entities, which each page links to.
  var entities: [EntityLink] = []

  /// An entity and its number of records.
  struct EntityLink: Sendable {
    var name: String
    var count: Int
  }

  /// The forms of the page besides `html`.
  var forms: [Form] { [.json, .jsonl, .csv] + (hasPlaces ? [.geojson] : []) }

  /// The rows of the forms `jsonl` and `csv`: those of the main table, or the page's record.
  var rows: Table? {
    for section in sections {
      switch section.content {
      case .table(let table) where table.isMain: return table
      case .record(let fields):
        return Table(
          fields.map { Table.Heading(Column($0.name)) }, [Table.Row(fields.map(\.item))])
      default: continue
      }
    }
    return nil
  }
}

/// A part of a page.
struct Section: Sendable {
  enum Content: Sendable {
    case facts([Fact])
    case table(Table)
    /// The values of one record.
    case record([Field])
    /// The form that selects records.
    case selection(SelectionForm)
    /// The values of expressions with their counts.
    case facets([Facet])
    case drawing(Figure)
    case notice(Notice)
    /// The form of a change, or the question before it.
    case edit(EditForm)
    /// Changes that the page offers.
    case edits([EditLink])
  }

  /// The member of the form `json`.
  var name: String
  /// The heading for people; `nil` for none.
  var heading: String?
  var content: Content
  /// Whether people see the heading alone at first.
  var isFolded: Bool

  init(_ name: String, heading: String? = nil, isFolded: Bool = false, _ content: Content) {
    self.name = name
    self.heading = heading
    self.isFolded = isFolded
    self.content = content
  }
}

/// A named value.
struct Fact: Sendable {
  var name: String
  var title: String
  var item: Item

  init(_ name: String, _ title: String, _ cell: Cell, link: Route? = nil) {
    self.name = name
    self.title = title
    item = Item(cell, link: link)
  }
}

/// A value, and the page to which it leads.
struct Item: Sendable {
  var cell: Cell
  var link: Route?

  init(_ cell: Cell, link: Route? = nil) {
    self.cell = cell
    self.link = link
  }
}

/// A link to the same page with more time, for the rows and counts that the page lacks.
struct WaitLink: Sendable {
  var route: Route
  /// Whether the script of the page follows the link at once.
  var isFollowed: Bool

  /// Fails if the page had the most time already.
  init?(_ selection: Selection, _ route: (Selection) -> Route) {
    guard let more = Selection.waits.first(where: { $0 > selection.wait ?? 0 }) else { return nil }
    self.route = route(selection.with { $0.wait = more })
    isFollowed = selection.wait == nil
  }
}

/// An attribute or a path of a record, with its type in words.
struct Field: Sendable {
  var name: String
  var type: String
  var item: Item
  /// The numbers of a vector, which people see instead of bytes.
  var numbers: [Float]?
  /// Returns the page of the records with an equal value at a path of members inside the field.
  ///
  /// The path of the field's own value is empty.
  var equal: (@Sendable (_ path: [String], _ value: JSONNode?) -> Route?)?
}

/// A sentence about the page, such as the reason for missing rows.
struct Notice: Sendable {
  enum Kind: String, Sendable {
    case note, warning, error
  }

  var kind: Kind
  var text: String
  /// The place of a fault in the text of a condition.
  var excerpt: Excerpt?
  var link: (text: String, route: Route)?
  var wait: WaitLink?
  /// Other searches, each of which finds records.
  var suggestions: [(text: String, route: Route)] = []

  init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }

  /// The line with a fault, divided at the fault's column.
  struct Excerpt: Sendable, Equatable {
    var line: Int
    var column: Int
    var before: String
    var after: String

    /// The word at the column, or the one character there.
    var fault: String {
      let word = after.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      return String(word.isEmpty ? after.prefix(1) : word)
    }
  }
}
