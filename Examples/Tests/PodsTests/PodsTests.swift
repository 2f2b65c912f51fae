import Testing
@testable import Pods
