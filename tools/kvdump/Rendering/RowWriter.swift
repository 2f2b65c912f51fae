/// Writes rows one after the other with constant memory use.
///
/// Every row has one cell for each of the writer's columns, in their order.
package protocol RowWriter: AnyObject {
  func write(_ row: [Cell]) throws
  /// Called once after the last row, even if there was none.
  func finish() throws
}
