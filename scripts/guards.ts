import { fittedLimits, type MoveLimits } from '../src/topics/prices/math/guards.ts'
import {
  falseHolds,
  faultKinds,
  fittedUntil,
  heldTogether,
  measureFaults,
} from '../test/support/guard-measure.ts'
import { realSeries } from '../test/support/real-series.ts'
import { isHere } from '../test/support/requirements.ts'

/**
 * `bun run guards` measures how good the guards are on the public series of `../shared/data` after
 * 2015 and prints the tables of docs/reference/validation-rules.md. `--fit` looks for limits on the values before.
 */
if (!isHere('../shared/data')) {
  console.error('../shared/data is missing: the guards cannot be measured without it.')
  process.exit(1)
}
const all = realSeries()
const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)}%`

function print(): void {
  const results = all.map(series => falseHolds(series))
  const held = results.flatMap(result => result.held)
  const count = (isWithin: (at: number) => boolean) => {
    const values = all.flatMap(({ values }) => values.filter(v => isWithin(v.observedAt))).length
    const heldValues = held.filter(({ at }) => isWithin(at)).length
    const one = Math.floor(values / heldValues).toLocaleString('en')
    return `${values.toLocaleString('en')} | ${heldValues} | 1 in ${one}`
  }
  console.log('| honest values, each file alone | values | held | rate |\n|---|---|---|---|')
  console.log(`| before 2015 (fitted on) | ${count(at => at < fittedUntil)} |`)
  console.log(`| since 2015 (judged on) | ${count(at => at >= fittedUntil)} |`)
  console.log('\n| held since 2015 | day | why |\n|---|---|---|')
  for (const { name, at, reason } of held.filter(({ at }) => at >= fittedUntil))
    console.log(`| ${name} | ${new Date(at).toISOString().slice(0, 10)} | ${reason} |`)
  const listed = results.reduce((sum, result) => sum + result.listed, 0)
  console.log(`\nListed and recorded, in all years: ${listed}.`)
  const together = heldTogether(all)
  console.log(`\nIn one instance, day by day since 2015, ${together.length} are held:`)
  for (const line of together) console.log(`- ${line}`)
  console.log('\n| fault | held | held or listed |\n|---|---|---|')
  for (const kind of faultKinds) {
    const span = { from: fittedUntil, to: Number.POSITIVE_INFINITY, count: 1000 }
    const { tried, held, flagged } = measureFaults(kind, all, span)
    console.log(`| ${kind.name} | ${percent(held, tried)} | ${percent(flagged, tried)} |`)
  }
}

/**
 * Among limits with at most one false hold in 20,000 before 2015, finds the twenty that hold the
 * most faults by small factors. They differ by less than the randomness of the faults.
 */
function fit(): void {
  const before = all.flatMap(({ values }) => values.filter(v => v.observedAt < fittedUntil)).length
  const names = ['twice as much', 'half as much', 'of 2 to 3', 'of 1.5 to 2', 'of 1.2 to 1.5']
  const small = faultKinds.filter(({ name }) => names.some(end => name.endsWith(end)))
  const span = { from: Number.NEGATIVE_INFINITY, to: fittedUntil, count: 300 }
  const fitted = [...candidates()].flatMap(limits => {
    const held = all.flatMap(series => falseHolds(series, limits).held)
    const heldBefore = held.filter(({ at }) => at < fittedUntil).length
    if (heldBefore * 20_000 > before) return []
    const shares = small.map(kind => {
      const measured = measureFaults(kind, all, { ...span, limits })
      return measured.held / measured.tried
    })
    return [{ limits, heldBefore, share: shares.reduce((a, b) => a + b) / shares.length }]
  })
  for (const { limits, heldBefore, share } of fitted
    .toSorted((a, b) => b.share - a.share)
    .slice(0, 20))
    console.log(`${heldBefore} held, ${percent(share, 1)} of faults:`, JSON.stringify(limits))
}

function* candidates(): Iterable<MoveLimits> {
  for (const usualMoves of [15, 20, 25, 30])
    for (const spacingPower of [0.2, 0.25, 0.3, 0.35])
      for (const leastUsual of [0.65, 0.75, 0.9])
        for (const recentMoves of [3, 4, 5])
          for (const least of [0.15, 0.2, 0.25])
            yield {
              ...fittedLimits,
              usualMoves,
              spacingPower,
              leastUsual,
              recentMoves,
              least,
            }
}

if (process.argv.includes('--fit')) fit()
else print()
