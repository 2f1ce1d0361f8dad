/**
 * `at` plus an ISO 8601 duration such as `PT61S`, `P1D` or `P1M` (months by the UTC calendar);
 * undefined when the text is not a duration.
 */
export function addDuration(at: number, duration: string): number | undefined {
  try {
    return Temporal.Instant.fromEpochMilliseconds(at)
      .toZonedDateTimeISO('UTC')
      .add(Temporal.Duration.from(duration)).epochMilliseconds
  } catch {
    return undefined
  }
}
