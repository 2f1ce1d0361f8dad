import { join } from 'node:path'
import type { WellPermit } from '../../src/topics/drilling/dataset/permits.ts'
import { formationKey, operatorKey } from '../../src/topics/drilling/math/permits.ts'
import { type FilledPermits, filledPermits } from '../database.ts'
import { median } from '../duel.ts'
import { permitWorld } from '../permit-world.ts'
import type { BenchOptions, Line } from '../row.ts'
import { type Server, serveWellhead, serveYardstick, withServers } from '../server.ts'

/** A query with everything that the yardstick needs to run it. */
export interface PermitQuestion {
  /** Compared names by kind of term. */
  terms: Readonly<Record<string, string>>
  from?: string
  to?: string
  circle?: { latitude: number; longitude: number; radiusMiles: number }
}

interface Question extends PermitQuestion {
  path: string
}

const medianMsMax = 20
/**
 * Different questions of a kind, each sent once to both servers: users do not repeat a question, so
 * only the first response counts.
 */
const questionsEach = 150
const warmUps = 20
const yearMs = 365 * 86_400_000

/** Kinds of questions, made from a permit that is there. */
type Ask = (permit: WellPermit, next: () => number) => Question

const around =
  (radiusMiles: number): Ask =>
  ({ latitude, longitude }) => ({
    terms: {},
    circle: { latitude: latitude!, longitude: longitude!, radiusMiles },
    path: `latitude=${latitude}&longitude=${longitude}&radius_miles=${radiusMiles}`,
  })

const day = (at: number) => new Date(at).toISOString().slice(0, 10)

/** One to six years around the permit. */
function rangeAround({ permitOn }: WellPermit, next: () => number) {
  const at = Date.parse(permitOn)
  const [from, to] = [
    day(at - (0.5 + 2.5 * next()) * yearMs),
    day(at + (0.5 + 2.5 * next()) * yearMs),
  ]
  return { from, to, path: `start_date=${from}&end_date=${day(Date.parse(to) - 86_400_000)}` }
}

const fields = (given: Record<string, string>) => new URLSearchParams(given).toString()

const byOperator: Ask = (permit, next) => {
  const range = rangeAround(permit, next)
  return {
    terms: { state: permit.state, operator: operatorKey(permit.operator) },
    from: range.from,
    to: range.to,
    path: `${fields({ states: permit.state, operator: operatorKey(permit.operator) })}&${range.path}`,
  }
}
const byCounty: Ask = permit => ({
  terms: {
    county: `${permit.state}/${permit.county!.toUpperCase()}`,
    formation: formationKey(permit.formation!),
    permit_type: permit.permitType,
  },
  path: fields({
    county: permit.county!,
    formation: permit.formation!,
    permit_type: permit.permitType,
  }),
})
const byTypes: Ask = (permit, next) => {
  const range = rangeAround(permit, next)
  return {
    terms: { state: permit.state, permit_type: permit.permitType, well_type: permit.wellType },
    from: range.from,
    to: range.to,
    path: `${fields({ states: permit.state, permit_type: permit.permitType, well_type: permit.wellType })}&${range.path}`,
  }
}
const aroundOperator: Ask = (permit, next) => {
  const [circle, range] = [around(10)(permit, next), rangeAround(permit, next)]
  return {
    ...circle,
    terms: { operator: operatorKey(permit.operator) },
    from: range.from,
    to: range.to,
    path: `${circle.path}&${fields({ operator: operatorKey(permit.operator) })}&${range.path}`,
  }
}

/** Searches around places where wells are, each somewhere else. */
export const permitsRadius = (options: BenchOptions): Promise<Line[]> =>
  measured(options, [
    ['permits within 10 miles', around(10)],
    ['permits within 50 miles', around(50)],
    ['within 10 miles, operator, dates', aroundOperator],
  ])

/** Searches with three filters, each other ones. */
export const permitsFilters = (options: BenchOptions): Promise<Line[]> =>
  measured(options, [
    ['permits by state, operator, dates', byOperator],
    ['permits by county, formation, type', byCounty],
    ['permits by state, two types, dates', byTypes],
  ])

async function measured(
  options: BenchOptions,
  kinds: readonly (readonly [name: string, ask: Ask])[],
): Promise<Line[]> {
  const copy = await filledPermits(options)
  return withServers(
    [
      serveWellhead(copy.dir),
      serveYardstick('permits', { database: join(copy.dir, 'wellhead.db') }),
    ],
    async (ours, theirs) => {
      const lines: Line[] = []
      for (const [name, ask] of kinds) {
        options.say(name)
        lines.push(await lineOf(name, ask, copy, ours, theirs, options.permits))
      }
      return lines
    },
  )
}

async function lineOf(
  name: string,
  ask: Ask,
  copy: FilledPermits,
  ours: Server,
  theirs: Server,
  permits: number,
): Promise<Line> {
  const world = permitWorld(Date.now())
  // Each kind has separate random draws.
  for (let n = 0; n < 1000 * name.length; n += 1) world.next()
  const times: { ours: number; theirs: number }[] = []
  for (let i = 0; i < questionsEach + warmUps; i += 1) {
    const at = Math.floor(world.next() * permits)
    const [permit] = world.permits(at, at + 1, permits)
    const question = ask(permit!, world.next)
    const [mine, bare] = [
      await askOurs(ours, copy.token, question.path),
      await askTheirs(theirs, question),
    ]
    if (mine.total !== bare.total)
      throw new Error(`${name}: ${question.path} has ${mine.total} here and ${bare.total} there`)
    if (i >= warmUps) times.push({ ours: mine.ms, theirs: bare.ms })
  }
  const [own, other] = [
    median(times.map(time => time.ours)),
    median(times.map(time => time.theirs)),
  ]
  return {
    row: name,
    ours: `${own.toFixed(1)} ms`,
    yardstick: `${other.toFixed(1)} ms`,
    ratio: median(times.map(time => time.theirs / time.ours)),
    atLeast: `≤ ${medianMsMax} ms`,
    met: own <= medianMsMax,
  }
}

async function askOurs(
  { port }: Server,
  token: string,
  query: string,
): Promise<{ total: number; ms: number }> {
  const began = performance.now()
  const answer = await fetch(`http://127.0.0.1:${port}/v1/ei/well-permits/search?${query}`, {
    headers: { authorization: `Token ${token}` },
  })
  const text = await answer.text()
  const ms = performance.now() - began
  if (answer.status !== 200)
    throw new Error(`${query} was answered ${answer.status}: ${text.slice(0, 300)}`)
  return { total: (JSON.parse(text) as { meta: { total_count: number } }).meta.total_count, ms }
}

async function askTheirs(
  { port }: Server,
  { path: _path, ...question }: Question,
): Promise<{ total: number; ms: number }> {
  const began = performance.now()
  const answer = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    body: JSON.stringify(question),
  })
  const text = await answer.text()
  const ms = performance.now() - began
  return { total: (JSON.parse(text) as { total: number }).total, ms }
}
