import { afterAll, expect, test } from 'bun:test'
import { shippedFeeds } from '../../../src/feeds/publishers/publishers.ts'
import { minuteMs, parseInstant } from '../../../src/lib/time/instant.ts'
import { openTestInstance, type TestInstance } from '../../support/instance/instance.ts'
import { needs } from '../../support/needs.ts'
import { type Misbehaviour, standIn, standInKey } from '../../support/publishers/stand-in.ts'

const publishers = await standIn()
afterAll(() => publishers.stop())

/** Each publisher that takes a key, with little to read. */
const keyed = {
  eia: { codes: 'WTI_USD,CUSHING_STORAGE', since: '2026-06-01' },
  fred: { codes: 'WTI_USD', since: '2026-06-01' },
  eia_930: { codes: 'LOAD_PJM_MW', since: '2026-08-10' },
  entsoe: { codes: 'POWER_DA_FR_EUR', since: '2026-08-10' },
  gie: { codes: 'EU_GAS_STORAGE', since: '2026-06-01' },
}
const misbehaviours: (Misbehaviour | undefined)[] = [
  undefined,
  'no_rows',
  'another_unit',
  'another_header',
  'all_zero',
  'in_the_future',
  'not_a_number',
  'cut_short',
  'maintenance_page',
  'truncated',
  'elsewhere',
]

function everyRow({ services: { db } }: TestInstance): string {
  const tables = db
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all()
  return tables
    .flatMap(({ name }) => db.query(`SELECT * FROM "${name}"`).values())
    .flat()
    .map(value => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value))
    .join('\n')
}

needs('../shared/data').describe('the key of a publisher', () => {
  test('every publisher that takes one is tried here', () => {
    const taking = shippedFeeds.filter(({ publisher }) => publisher.key !== 'none')
    expect(Object.keys(keyed)).toEqual(taking.map(({ publisher }) => publisher.name))
  })

  for (const [name, settings] of Object.entries(keyed)) {
    for (const [what, key] of [
      ['accepted', standInKey],
      ['refused', 'CANARY-not-the-key'],
    ] as const) {
      test(`${name}: a key that is ${what} is in no log line, row or answer`, async () => {
        const copy = openTestInstance(
          {
            'egress.allow': '127.0.0.0/8',
            [`feeds.${name}.base_url`]: publishers.url,
            [`feeds.${name}.codes`]: settings.codes,
            [`feeds.${name}.since`]: settings.since,
            [`feeds.${name}.license`]: 'accept',
          },
          parseInstant('2026-08-20T12:00:00Z')!,
        )
        const { feeds } = copy.services
        const path = `/admin/v1/feeds/${name}`
        const operator = { authorization: `Bearer ${copy.services.adminTokens.rotate()}` }
        const seen: string[] = []
        const send = async (method: string, to: string, body?: unknown) => {
          const answer = await copy.send(method, to, body, undefined, operator)
          seen.push(await answer.text(), JSON.stringify([...answer.headers]))
        }
        await send('PUT', path, { key })
        const results: unknown[] = []
        for (const misbehaviour of misbehaviours) {
          publishers.misbehaviour = misbehaviour
          copy.clock.advance(minuteMs)
          results.push((await feeds.run(name, { since: settings.since }))!.result)
          if (misbehaviour === undefined) await send('POST', `${path}/test`)
        }
        publishers.misbehaviour = undefined
        for (const to of ['/admin/v1/feeds', path, `${path}/runs`, '/v1/sources', '/metrics'])
          await send('GET', to)
        // The key was sent, and both endings were seen.
        const keys = publishers.asked.flatMap(({ query, headers }) => [
          query.get('api_key'),
          query.get('securityToken'),
          headers.get('x-key'),
        ])
        expect(keys).toContain(key)
        expect(new Set(results)).toEqual(
          new Set(
            what === 'accepted'
              ? ['new', 'held', 'failed', ...(results.includes('unchanged') ? ['unchanged'] : [])]
              : ['failed'],
          ),
        )
        expect(seen.join('\n')).toContain(name)
        for (const text of [...seen, ...copy.log, everyRow(copy)])
          expect(text).not.toContain('CANARY')
      }, 120_000)
    }
  }
})
