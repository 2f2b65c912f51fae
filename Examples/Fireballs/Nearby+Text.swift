extension Nearby {
  /// The map as lines of block characters: the place as `+`, and half a block for each fireball.
  package func lines(height: Int = 15) -> [String] {
    // A character is as high as two are wide, so half a block is a square.
    let side = height * 2
    var isMarked = Set<[Int]>()
    for mark in marks {
      let column = Self.field(mark.x, of: side)
      isMarked.insert([column, Self.field(-mark.y, of: side)])
    }
    return (0..<height).map { row in
      let characters = (0..<side).map { column -> Character in
        switch (isMarked.contains([column, row * 2]), isMarked.contains([column, row * 2 + 1])) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false):
          column == side / 2 && row == height / 2 ? "+" : isInside(column, row, side) ? "·" : " "
        }
      }
      return String(characters.reversed().drop { $0 == " " }.reversed())
    }
  }

  private func isInside(_ column: Int, _ row: Int, _ side: Int) -> Bool {
    let x = (Double(column) + 0.5) / Double(side) * 2 - 1
    let y = (Double(row) * 2 + 1) / Double(side) * 2 - 1
    return x * x + y * y <= 1
  }

  /// The column or row of a position from -1 to 1.
  private static func field(_ position: Double, of side: Int) -> Int {
    min(max(Int((position + 1) / 2 * Double(side)), 0), side - 1)
  }
}
