internal import LodestoreRows

/// The form `jsonl` of a page: the rows of its main table, one object a line.
struct LinesTwin {
  let table: Table

  init(_ page: Page) { table = page.rows ?? Table([], []) }

  var first: TwinPart {
    let names = table.headings.map { CellJSON.text($0.column.name) }
    return TwinPart([], rowsOf: table, tail: []) { row, _, bytes in
      JSONTwin.append(row, names, to: &bytes)
      bytes.append(UInt8(ascii: "\n"))
    }
  }
}

/// The form `csv` of a page: the rows of its main table.
struct CSVTwin {
  let table: Table

  init(_ page: Page) { table = page.rows ?? Table([], []) }

  var first: TwinPart {
    let text = CSVText()
    let heading = text.heading(table.headings.map(\.column.name))
    return TwinPart(Array(heading.utf8), rowsOf: table, tail: []) { row, _, bytes in
      bytes.append(contentsOf: text.row(row.items.lazy.map(\.cell)).utf8)
    }
  }
}

/// The form `geojson` of a page: the rows of its main table, as features with points.
struct GeoJSONTwin {
  let table: Table

  init(_ page: Page) { table = page.rows ?? Table([], []) }

  var first: TwinPart {
    let names = table.headings.map(\.column.name)
    return TwinPart(
      Array(GeoJSONText.beginning.utf8), rowsOf: table, tail: Array("\n\(GeoJSONText.end)".utf8)
    ) { row, isFirst, bytes in
      bytes.append(contentsOf: (isFirst ? "\n" : ",\n").utf8)
      bytes.append(contentsOf: GeoJSONText.feature(names, row.items.map(\.cell)).utf8)
    }
  }
}
