import { describe, expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dayMs, hourMs, isoInstant, minuteMs } from '../../../../../src/lib/time/instant.ts'
import { guardRules } from '../../../../../src/topics/prices/math/guards.ts'
import { part } from '../../../../support/full.ts'
import { temporaryDir } from '../../../../support/instance/binary.ts'
import { command, emptyDirectory } from '../../../../support/instance/command.ts'
import { openTestInstance, startAt } from '../../../../support/instance/instance.ts'

const code = 'DESK_MARK_USD'
type Rule = (typeof guardRules)[number]
type Point = readonly [at: number, price: number]

/** Sixty days of a mark, the last of them yesterday. */
const history = (now: number): Point[] =>
  Array.from({ length: 60 }, (_, i) => [
    now - (60 - i) * dayMs,
    70 + Math.round(100 * Math.sin(i)) / 100,
  ])

/** The next value, which one rule alone flags. */
const doubtful: Readonly<Record<Rule, (now: number) => Point[]>> = {
  jump: now => [[now - hourMs, 187.3]],
  unit: now => [[now - hourMs, 70 * 42]],
  zero: now => [[now - hourMs, 0]],
  sign: now => [[now - hourMs, -70.5]],
  repeat: now => Array.from({ length: 40 }, (_, i) => [now - (40 - i) * hourMs, 70.25] as const),
  same_day: now => {
    // The command runs at any time of a day: right after midnight an hour ago was yesterday.
    const sinceMidnight = now % dayMs
    const last = (sinceMidnight > 2 * hourMs ? now : now - sinceMidnight) - minuteMs
    return [
      [last - hourMs, 70.25],
      [last, 70.5],
    ]
  },
  future: now => [[now + 3 * hourMs, 70.25]],
  stop: now => [[now - hourMs, 70.25]],
}
/** A series stops by time alone, and the condition of the data reports it where the rule flags. */
const stopsForMs = 30 * dayMs

const only = (rule: Rule, action: string) =>
  Object.fromEntries(guardRules.map(name => [name, name === rule ? action : 'off']))
const cases = guardRules.flatMap(rule =>
  (['flag', 'hold', 'off'] as const).map(action => [rule, action] as const),
)
const terms = {
  name: 'Desk mark',
  category: 'crude_oil',
  unit: 'barrel',
  currency: 'USD',
  cadence: 'daily',
  min: -10_000,
  max: 10_000,
}

/** The effect of an action on a suspicious value: whether it is recorded, and how it is listed. */
const expected = (rule: Rule, action: 'flag' | 'hold' | 'off') =>
  action === 'hold'
    ? { recorded: false, listed: ['waiting'] }
    : { recorded: true, listed: action === 'flag' && rule !== 'stop' ? ['flagged'] : [] }

interface Flag {
  code: string
  rule: string
  status: string
}

describe('each guard does to a push what its series says', () => {
  test.each(cases)(
    'a value that fails the guard %s is treated by its action %s',
    async (rule, action) => {
      const { send, services, clock } = openTestInstance()
      const headers = { authorization: `Bearer ${services.adminTokens.rotate()}` }
      const admin = async (method: string, path: string, body?: object) => {
        const answer = await send(method, `/admin/v1${path}`, body, undefined, headers)
        const text = await answer.text()
        if (answer.status >= 300) throw new Error(`${path} was answered ${answer.status}: ${text}`)
        return (JSON.parse(text) as { data: { held: number; values: Flag[] } }).data
      }
      await admin('POST', '/series', { code, ...terms })
      const push = (points: readonly Point[]) =>
        admin('POST', '/observations', {
          observations: points.map(([at, price]) => ({ code, observed_at: isoInstant(at), price })),
        })
      await admin('PATCH', `/series/${code}`, { guards: only(rule, 'off') })
      await push(history(startAt))
      if (rule === 'stop') clock.advance(stopsForMs)
      await admin('PATCH', `/series/${code}`, { guards: only(rule, action) })
      clock.advance(minuteMs)
      const points = doubtful[rule](clock.now())
      const { held } = await push(points)
      const { listed, recorded } = expected(rule, action)
      const { id } = services.catalogue.named(code)!
      const [at] = points.at(-1)!
      const stored = services.observations.between(id, at, at + 1, 1)
      const flags = (await admin('GET', '/review?status=all')).values
      expect(flags.every(flag => flag.rule === rule)).toBe(true)
      expect({
        recorded: stored.length > 0,
        listed: [...new Set(flags.map(({ status }) => status))],
        held: held > 0,
      }).toEqual({ recorded, listed, held: !recorded })
    },
  )
})

describe('each guard does to a file what its series says', () => {
  // Each case is six commands.
  test.each(part(cases))('%s: %s', async (rule, action) => {
    const dir = emptyDirectory(temporaryDir())
    try {
      const run = async (...args: string[]) => {
        const { code: exit, out, err } = await command(...args, '--data', dir)
        if (exit > 1 && !/held for review/.test(err))
          throw new Error(`${args.join(' ')} ended with ${exit}: ${err}`)
        return out
      }
      const imported = async (points: readonly Point[], isVintage = false) => {
        const file = join(dir, 'marks.csv')
        const lines = points.map(
          ([at, price]) => `${code},${isoInstant(at)},${price},${isVintage ? isoInstant(at) : ''}`,
        )
        writeFileSync(file, `code,observed_at,price,recorded_at\n${lines.join('\n')}\n`)
        return await run('import', file)
      }
      const guards = (wanted: string) =>
        run(
          'series',
          'edit',
          code,
          '--guards',
          Object.entries(only(rule, wanted))
            .map(([name, does]) => `${name}=${does}`)
            .join(','),
        )
      const options = Object.entries(terms).flatMap(([name, value]) => [`--${name}=${value}`])
      await run('series', 'add', code, ...options)
      await guards('off')
      const now = Math.floor(Date.now() / minuteMs) * minuteMs
      if (rule === 'stop') await imported(history(now - stopsForMs), true)
      else await imported(history(now))
      await guards(action)
      const said = await imported(doubtful[rule](now))
      const flags = JSON.parse(await run('review', 'list', '--status', 'all', '--json')) as Flag[]
      const { listed, recorded } = expected(rule, action)
      expect(flags.every(flag => flag.rule === rule)).toBe(true)
      expect({
        listed: [...new Set(flags.map(({ status }) => status))],
        held: /held [1-9]/.test(said),
      }).toEqual({ listed, held: !recorded })
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
})
