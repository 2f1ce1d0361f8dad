import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { feedNames } from '../../../src/config/keys.ts'
import { viewFeeds } from '../../../src/feeds/publishers/publishers.ts'
import { remove, run, start, temporaryDir } from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'
import { expectedValues } from '../../support/publishers/expected.ts'
import { standIn, standInKey } from '../../support/publishers/stand-in.ts'

const keyed = ['eia', 'eia_930', 'entsoe', 'gie']
/** One of many zones is enough. */
const codesOf: Readonly<Record<string, string>> = {
  aemo: 'POWER_AU_NSW1_AUD',
  entsoe: 'POWER_DA_FR_EUR',
  energy_charts: 'POWER_DA_NL_EUR',
}

const isWhole = process.env.WELLHEAD_TORTURE === '1'
/** All there is, and every day of the month; without torture the values of four months and three of its days. */
const since = isWhole ? '1960-01-01' : '2025-10-01'
const month = Array.from({ length: 32 }, (_, i) =>
  Temporal.PlainDate.from('2026-01-06').add({ days: i }).toString(),
)
const days = isWhole ? month : [month[0]!, month[12]!, month[31]!]

const dir = temporaryDir()
const publishers = await standIn()
afterAll(async () => {
  await publishers.stop()
  remove(dir)
})

/** The values that an instance has recorded and those that its guards hold, by code and day. */
function heldValues(data: string): Map<string, Map<string, number>> {
  const db = new Database(join(data, 'wellhead.db'), { readonly: true })
  try {
    const rows = db
      .query<{ code: string; day: string; value: number }, []>(
        `SELECT s.code, strftime('%Y-%m-%d', o.observed_at / 1000, 'unixepoch') AS day, o.value
         FROM (SELECT series_id, observed_at, value FROM observations UNION ALL
           SELECT series_id, observed_at, value FROM doubted_values WHERE status = 'waiting') o
         JOIN series s ON s.id = o.series_id`,
      )
      .all()
    return new Map(
      [...Map.groupBy(rows, row => row.code)].map(([code, all]) => [
        code,
        new Map(all.map(row => [row.day, row.value])),
      ]),
    )
  } finally {
    db.close()
  }
}

needs('../shared/data').describe('a month of releases', () => {
  test(
    'of every publisher leaves each value as its publisher has it',
    async () => {
      const data = join(dir, 'data')
      const config = join(dir, 'feeds.toml')
      mkdirSync(data, { recursive: true })
      writeFileSync(config, '[egress]\nallow = ["127.0.0.1/32"]\n')
      const keyFile = join(dir, 'key')
      writeFileSync(keyFile, `${standInKey}\n`)
      publishers.today = '2026-01-05'
      const server = await start('serve', dir, '--config', config)
      const headers = {
        authorization: `Bearer ${server.adminToken}`,
        'content-type': 'application/json',
      }
      /** Again where the copy reads the feed by itself just now. */
      const read = async (name: string) => {
        for (;;) {
          const answer = await fetch(`${server.url}/admin/v1/feeds/${name}/run`, {
            method: 'POST',
            headers,
            body: '{"wait":true}',
          })
          if (answer.status === 200) {
            const { run } = (await answer.json()) as { run: { result: string; problem: unknown } }
            return { feed: name, result: run.result, problem: run.problem }
          }
          const refusal = await answer.text()
          if (!refusal.includes('under way')) throw new Error(`${name}: ${refusal}`)
          await Bun.sleep(50)
        }
      }
      const feeds = (...args: string[]) => run('feeds', ...args, '--data', data, '--config', config)
      const readAll = async () => {
        const runs = await Promise.all(feedNames.map(read))
        const failed = runs.filter(run => run.result !== 'new' && run.result !== 'unchanged')
        expect(failed).toEqual([])
        return runs
      }
      for (const name of feedNames) {
        const more = keyed.includes(name) ? ['--key-file', keyFile] : []
        if (viewFeeds.includes(name)) more.push('--license', 'accept')
        if (codesOf[name]) more.push('--codes', codesOf[name])
        const at = ['--base-url', publishers.url, '--since', since]
        const added = await feeds('add', name, ...at, ...more)
        expect({ name, ...added }).toMatchObject({ code: 0 })
      }
      await readAll()
      for (const day of days) {
        publishers.today = day
        await readAll()
      }
      // A value that was published a week before the end is corrected at the end.
      const corrected = publishers.world.agency
        .get('RWTC')!
        .rows.find(row => row.period >= '2026-01-26')!
      const before = corrected.value
      corrected.value = '61.23'
      publishers.bulkUpdated = '2026-02-09T05:00:00-04:00'
      const last = await readAll()
      expect(last.find(run => run.feed === 'eia')!.result).toBe('new')
      await server.stop()
      const storedValues = heldValues(data)
      const thisMonth = new Date().toISOString().slice(0, 7)
      const expected = expectedValues(publishers, { since, thisMonth })
      let compared = 0
      const differences: unknown[] = []
      for (const [code, values] of expected) {
        const own = storedValues.get(code) ?? new Map<string, number>()
        for (const day of new Set([...values.keys(), ...own.keys()])) {
          compared += 1
          const [said, kept] = [values.get(day), own.get(day)]
          if (said === kept) continue
          // The last of ten decimals of a quotient may be rounded the other way by binary fractions.
          if (
            said !== undefined &&
            kept !== undefined &&
            Math.abs(said - kept) < 1.5e-10 * Math.max(1, Math.abs(said))
          )
            continue
          differences.push({ code, day, said, kept })
        }
      }
      expect(differences.slice(0, 20)).toEqual([])
      expect(compared).toBeGreaterThan(isWhole ? 200_000 : 2_000)
      expect(Number(before)).not.toBe(61.23)
      expect(storedValues.get('WTI_USD')!.get(corrected.period)).toBe(61.23)
      console.log(`${compared} values of ${expected.size} codes compared`)
      expect((await run('verify', '--data', data, '--config', config)).code).toBe(0)
    },
    isWhole ? 3_600_000 : 300_000,
  )
})
