import Testing
@testable import ToDo
