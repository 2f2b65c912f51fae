/// Forms that change the store, as markup.
enum EditMarkup {
  /// Links to forms, and buttons for changes that need no values.
  static func links(_ links: [EditLink]) -> HTML {
    HTML(.div, .class("edits")) {
      for link in links {
        let address = Route.edit(link.edit).address
        if link.isComplete {
          HTML(.form, target(link.edit), HTML(.button, submit, HTML(text: link.text)))
        } else {
          HTML(.a, .class("button"), .href(address)) { link.text }
        }
      }
    }
  }

  static func form(_ form: EditForm) -> HTML {
    HTML(.form, [.class("edit")] + target(form.target), content(form))
  }

  private static let submit = [
    HTMLAttribute.constant("type", "submit"), .class("button"),
  ]

  private static func target(_ edit: EditRoute) -> [HTMLAttribute] {
    [.action(Route.edit(edit).address), .constant("method", "post")]
  }

  private static func content(_ form: EditForm) -> HTML {
    var all = HTML()
    for item in form.hidden {
      all.append(
        HTML(
          .input, .constant("type", "hidden"), .text(.name, item.name), .text(.value, item.value)))
    }
    if let choices = form.choices { all.append(self.choices(choices)) }
    for (position, field) in form.fields.enumerated() {
      all.append(self.field(field, number: position))
    }
    all.append(
      HTML(.p, .class("answers")) {
        HTML(
          .button, .constant("type", "submit"), form.isFinal ? grave : .class("button main")
        ) { form.submit }
        HTML(.a, .class("button"), .href(form.cancel.address)) { "Cancel" }
      })
    return all
  }

  private static func choices(_ choices: EditForm.Choices) -> HTML {
    HTML(.fieldset, .class("choices")) {
      HTML(.legend) { choices.label }
      for item in choices.items {
        HTML(.label) {
          checkbox(item.name, isChecked: item.isChosen)
          HTML(.bdi) { item.text }
        }
      }
    }
  }

  private static func checkbox(_ name: String, isChecked: Bool) -> HTML {
    HTML(
      .input,
      [.constant("type", "checkbox"), .text(.name, name), .constant("value", "yes")]
        + (isChecked ? [.flag(.checked)] : []), HTML())
  }

  private static let grave = HTMLAttribute.class("button grave")

  private static func field(_ field: EditForm.Field, number: Int) -> HTML {
    let id = "field-\(number)"
    return HTML(.div, .class("field")) {
      HTML(.label, .text(.for, id)) {
        HTML(.bdi) { field.label }
        HTML(.small) { field.type }
      }
      if !field.name.isEmpty { input(field, id: id) }
      if let fault = field.fault {
        HTML(.p, .class("fault"), .text(.id, "\(id)-fault")) { fault }
      }
      if let hint = field.hint { HTML(.p, .class("hint")) { hint } }
      if let null = field.null, !field.name.isEmpty {
        HTML(.label, .class("null")) {
          checkbox(null.name, isChecked: null.isChosen)
          " null"
        }
      }
    }
  }

  private static func input(_ field: EditForm.Field, id: String) -> HTML {
    var attributes: [HTMLAttribute] = [
      .text(.id, id), .text(.name, field.name), .constant("spellcheck", "false"),
      .constant("autocomplete", "off"), .constant("autocapitalize", "off"),
    ]
    if field.fault != nil {
      attributes += [.text(.ariaInvalid, "true"), .text(.ariaDescribedBy, "\(id)-fault")]
    }
    guard field.isLong else {
      return HTML(
        .input, attributes + [.constant("type", "text"), .text(.value, field.text)], HTML())
    }
    let isTall = field.text.contains(where: \.isNewline) || field.text.utf8.count > 80
    return HTML.area(
      attributes + [.constant("rows", isTall ? "6" : "1")], text: field.text)
  }
}
