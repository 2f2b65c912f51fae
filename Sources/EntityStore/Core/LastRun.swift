/// A run of a query, of which a measurement reads the plan and the counts.
protocol MeasuredRun: AnyObject {
  var planDescription: PlanDescription { get }
  var counts: PlanCounts { get }
}

/// The last run of a query, for measurements; runs that other runs use, such as for a subquery, are
/// not noted.
final class LastRun {
  var run: (any MeasuredRun)?
}
