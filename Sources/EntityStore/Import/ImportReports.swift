extension ReadableTransaction where Self: ~Copyable {
  /// The reports of the imports called `name`, oldest first: the last hundred that ended, and the one
  /// that is open or was killed.
  ///
  /// - Parameter name: ``ImportOptions/name``, the entity's name where none was given.
  public func importReports(of name: String) throws(StoreError) -> [ImportReport] {
    try access.core.importReports(of: name)
  }

  /// The names under which imports were made, in the order of their bytes.
  public func importNames() throws(StoreError) -> [String] {
    try access.core.importNames()
  }
}

extension TransactionCore {
  func importReports(of name: String) throws(StoreError) -> [ImportReport] {
    try ImportLog(name, self).reports()
  }

  func importNames() throws(StoreError) -> [String] { try ImportLog.names(self) }
}
