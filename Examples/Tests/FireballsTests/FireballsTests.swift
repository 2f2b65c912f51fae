import Testing
@testable import Fireballs
