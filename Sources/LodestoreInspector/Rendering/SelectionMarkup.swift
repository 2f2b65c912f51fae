internal import EntityStore
internal import LodestoreRows

/// The form that selects records, and the counts of values, as markup.
enum SelectionMarkup {
  static func form(_ form: SelectionForm) -> HTML {
    HTML(.div, .class("selection")) {
      HTML(.form, [.text(.role, "search")] + target(form), fields(form))
      matches(form)
      HTML(.div, .class("folds")) {
        columns(form)
        countable(form)
      }
    }
  }

  /// The address and the method of a form.
  ///
  /// The address is the page without its selection.
  private static func target(_ form: SelectionForm) -> [HTMLAttribute] {
    [
      .action(Address(form.route(Selection()).address.path)), .constant("method", "get"),
    ]
  }

  private static func fields(_ form: SelectionForm) -> HTML {
    var fields = HTML()
    var names: Set<String> = []
    if let field = form.search {
      names = field.hasModes ? ["_search", "_mode"] : ["_search"]
      if !field.indexes.isEmpty { names.insert("_index") }
      fields.append(search(field, form))
    }
    if form.hasPlaces {
      names.insert("_near")
      fields.append(
        textField(
          "_near", "Near", form.selection.near?.text,
          hint: "latitude, longitude, distance: 54.8, 61.1, 500km", form))
    }
    if form.hasSimilar {
      names.insert("_similar")
      fields.append(
        textField(
          "_similar", "Similar to", form.selection.similar.map { "\($0)" },
          hint: "the id of a record", form))
    }
    if form.hasCondition {
      names.insert("_where")
      fields.append(condition(form))
    }
    return fields + hint(form) + kept(form.selection, besides: names)
  }

  private static func search(_ field: SelectionForm.SearchField, _ form: SelectionForm) -> HTML {
    HTML(.div, .class("condition")) {
      HTML(.label, .text(.for, "search")) { field.label }
      HTML(
        .input, .constant("type", "search"), .text(.id, "search"), .text(.name, "_search"),
        .text(.value, form.selection.search ?? ""), .text(.placeholder, field.placeholder),
        .constant("spellcheck", "false"), .constant("autocomplete", "off"),
        .constant("autocapitalize", "off"))
      if field.hasModes {
        HTML(.select, .text(.name, "_mode"), .text(.ariaLabel, "Words to find")) {
          for choice in SearchMode.choices {
            HTML(
              .option,
              [.text(.value, choice.name)]
                + (choice.mode == form.selection.mode ? [.flag(.selected)] : []),
              HTML(text: choice.title))
          }
        }
      }
      indexes(field, form.selection)
      if !form.hasCondition {
        HTML(.button, .constant("type", "submit"), .class("button main")) { "Show" }
      }
    }
  }

  private static func textField(
    _ name: String, _ label: String, _ value: String?, hint: String, _ form: SelectionForm
  ) -> HTML {
    let fault = form.selection.unreadable(name)
    var attributes: [HTMLAttribute] = [
      .constant("type", "search"), .text(.id, name), .text(.name, name),
      .text(.value, fault ?? value ?? ""), .text(.placeholder, hint),
      .constant("spellcheck", "false"), .constant("autocomplete", "off"),
    ]
    if fault != nil { attributes += [.text(.ariaInvalid, "true"), .flag(.autofocus)] }
    return HTML(.div, .class("condition")) {
      HTML(.label, .text(.for, name)) { label }
      HTML(.input, attributes, HTML())
    }
  }

  /// The choice of one of several indexes.
  private static func indexes(
    _ field: SelectionForm.SearchField, _ selection: Selection
  ) -> HTML {
    guard !field.indexes.isEmpty else { return HTML() }
    return HTML(.select, .text(.name, "_index"), .text(.ariaLabel, "Texts to search")) {
      for (position, index) in field.indexes.enumerated() {
        HTML(
          .option,
          [.text(.value, position == 0 ? "" : index.name)]
            + (selection.indexes.contains(index.name) ? [.flag(.selected)] : []),
          HTML(text: "in \(index.text)"))
      }
    }
  }

  private static func condition(_ form: SelectionForm) -> HTML {
    let selection = form.selection
    return HTML(.div, .class("condition")) {
      HTML(.label, .text(.for, "where")) { "Condition" }
      HTML(.input, conditionAttributes(form), HTML())
      if !form.completions.isEmpty {
        HTML(.datalist, .text(.id, "where-values")) {
          for completion in form.completions { HTML(.option, .text(.value, completion)) }
        }
      }
      HTML(.button, .constant("type", "submit"), .class("button main")) { "Select" }
      if !selection.isOfAll || !selection.order.isEmpty {
        HTML(.a, .class("button"), .href(cleared(form).address)) { "Clear" }
      }
    }
  }

  private static func hint(_ form: SelectionForm) -> HTML {
    HTML(.p, .class("hint"), .text(.id, "where-hint")) {
      HTML(.strong) { form.count }
      if let wait = form.wait { SectionMarkup.waitLink(wait) }
      if form.selection.search != nil, !form.selection.order.isEmpty {
        HTML(.a, .href(form.route(form.selection.changed { $0.order = [] }).address)) {
          "Show the best first"
        }
      }
      if let plan = form.plan { HTML(.a, .href(plan.route.address)) { plan.text } }
      if !form.examples.isEmpty {
        HTML(.span) { "For example:" }
        for example in form.examples {
          let route = form.route(form.selection.changed { $0.condition = example })
          HTML(.a, .href(route.address)) { HTML(.code) { example } }
        }
      }
    }
  }

  private static func conditionAttributes(_ form: SelectionForm) -> [HTMLAttribute] {
    var attributes: [HTMLAttribute] = [
      .constant("type", "search"), .text(.id, "where"), .text(.name, "_where"),
      .text(.value, form.selection.condition ?? ""), .text(.placeholder, "all records"),
      .text(.ariaDescribedBy, "where-hint"), .constant("spellcheck", "false"),
      .constant("autocomplete", "off"), .constant("autocapitalize", "off"),
    ]
    if !form.completions.isEmpty { attributes.append(.text(.list, "where-values")) }
    if let fault = form.fault {
      attributes += [
        .text(.faultStart, "\(fault.lowerBound)"), .text(.faultEnd, "\(fault.upperBound)"),
      ]
    }
    if form.isFaulty {
      attributes += [.text(.ariaInvalid, "true"), .flag(.autofocus)]
    }
    return attributes
  }

  private static func cleared(_ form: SelectionForm) -> Route {
    form.route(
      form.selection.changed {
        $0.condition = nil
        $0.search = nil
        $0.mode = .allWords
        $0.matches = []
        ($0.near, $0.box, $0.similar, $0.indexes) = (nil, nil, nil, [])
        $0.unreadable = []
        $0.order = []
      })
  }

  /// The parts of the selection without a field, each with a link that removes it.
  private static func matches(_ form: SelectionForm) -> HTML {
    let selection = form.selection
    var chips = selection.matches.enumerated().map { position, match in
      (
        text: "\(match.path) = \(match.text)",
        rest: selection.changed { $0.matches.remove(at: position) }
      )
    }
    if let box = selection.box {
      let corners = [
        Coordinate(latitude: box.south, longitude: box.west),
        Coordinate(latitude: box.north, longitude: box.east),
      ]
      chips.append(
        (
          text: "area \(corners.map(PlaceText.place).joined(separator: " to "))",
          rest: selection.changed { $0.box = nil }
        ))
    }
    if let near = selection.near, !form.hasPlaces {
      chips.append((text: "near \(near.text)", rest: selection.changed { $0.near = nil }))
    }
    if let id = selection.similar, !form.hasSimilar {
      chips.append((text: "similar to \(id)", rest: selection.changed { $0.similar = nil }))
    }
    let fields = (form.hasPlaces ? ["_near"] : []) + (form.hasSimilar ? ["_similar"] : [])
    for parameter in selection.unreadable where !fields.contains(parameter.name) {
      chips.append(
        (
          text: "\(parameter.name.dropFirst()) \(parameter.text)",
          rest: selection.changed { $0.unreadable.removeAll { $0 == parameter } }
        ))
    }
    guard !chips.isEmpty else { return HTML() }
    return HTML(.ul, .class("chips"), .text(.ariaLabel, "Selected values")) {
      for chip in chips {
        HTML(.li) {
          HTML(.code) { chip.text }
          HTML(
            .a, .href(form.route(chip.rest).address), .text(.ariaLabel, "Remove \(chip.text)")
          ) { "✕" }
        }
      }
    }
  }

  private static func columns(_ form: SelectionForm) -> HTML {
    guard !form.choices.isEmpty else { return HTML() }
    return HTML(.details) {
      HTML(.summary) { "Columns" }
      HTML(.form, target(form), columnChoices(form))
    }
  }

  private static func columnChoices(_ form: SelectionForm) -> HTML {
    HTML(.fieldset) {
      HTML(.legend) { "Columns to show" }
      for choice in form.choices {
        HTML(.label) {
          HTML(
            .input,
            [
              .constant("type", "checkbox"), .text(.name, "_column"), .text(.value, choice.name),
            ] + (choice.isChosen ? [.flag(.checked)] : []), HTML())
          HTML(.bdi) { choice.name }
          HTML(.small) { choice.type }
        }
      }
      HTML(.button, .constant("type", "submit"), .class("button")) { "Show" }
    } + kept(form.selection, besides: ["_column"])
  }

  private static func countable(_ form: SelectionForm) -> HTML {
    let names = form.countable.filter { !form.selection.facets.contains($0) }
    guard !names.isEmpty else { return HTML() }
    return HTML(.details) {
      HTML(.summary) { "Count values" }
      HTML(.ul, .class("links")) {
        for name in names {
          let route = form.route(form.selection.changed { $0.facets.append(name) })
          HTML(.li) { HTML(.a, .href(route.address)) { name } }
        }
      }
    }
  }

  /// The parts of the selection other than the one that a form changes.
  ///
  /// Sending the form keeps them, and begins at the first record in the usual time.
  private static func kept(_ selection: Selection, besides names: Set<String>) -> HTML {
    var all = HTML()
    for item in selection.changed({ _ in }).items where !names.contains(item.name) {
      all.append(
        HTML(
          .input, .constant("type", "hidden"), .text(.name, item.name), .text(.value, item.value)))
    }
    return all
  }

  static func facets(_ facets: [Facet]) -> HTML {
    HTML(.div, .class("facets")) {
      for facet in facets {
        HTML(.article, .class("facet")) {
          HTML(.h2) {
            HTML(.bdi) { facet.expression }
            HTML(
              .a, .href(facet.removal.address),
              .text(.ariaLabel, "Do not count \(facet.expression)")
            ) { "✕" }
          }
          if let failure = facet.failure {
            HTML(.p, .class("faint")) { failure }
          } else {
            values(facet)
          }
        }
      }
    }
  }

  private static func values(_ facet: Facet) -> HTML {
    HTML(.ul) {
      for value in facet.values {
        HTML(.li) {
          ItemMarkup.short(value.item)
          HTML(.span, .class("count")) { NumberText.grouped(value.count) }
        }
      }
      if facet.others > 0 {
        HTML(.li, .class("faint")) { "and \(NumberText.counted(facet.others, "more value"))" }
      }
    }
  }
}
