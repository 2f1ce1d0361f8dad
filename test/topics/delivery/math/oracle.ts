/**
 * The clocks of a zone by `Intl`, walked step by step: slow, and nothing of it is shared with the
 * program.
 */
export function walkedClock(zone: string) {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  })
  /** `YYYY-MM-DD HH:MM`. */
  const shown = (at: number): string => {
    const parts = Object.fromEntries(
      format.formatToParts(at).map(({ type, value }) => [type, value]),
    )
    return `${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}`
  }
  /** The first moment within two days from `from` at which the clocks show `local` or later. */
  const firstAt = (local: string, from: number, stepMs: number): number => {
    for (let at = from; ; at += stepMs) if (shown(at) >= local) return at
  }
  return { shown, firstAt }
}

/** The changes of a zone's clocks in `[from, to)`, found by halving. */
export function walkedChanges(zone: string, from: number, to: number): number[] {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'longOffset' })
  const offset = (at: number) =>
    format.formatToParts(at).find(({ type }) => type === 'timeZoneName')!.value
  const changes: number[] = []
  const step = 10 * 24 * 3_600_000
  for (let start = from; start < to; start += step) {
    let [low, high] = [start, start + step]
    if (offset(low) === offset(high)) continue
    while (high - low > 60_000) {
      const middle = Math.floor((low + high) / 2 / 60_000) * 60_000
      if (offset(middle) === offset(low)) low = middle
      else high = middle
    }
    changes.push(high)
  }
  return changes
}
