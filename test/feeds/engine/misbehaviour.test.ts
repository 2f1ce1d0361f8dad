import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { feedNames } from '../../../src/config/keys.ts'
import { minuteMs, parseInstant } from '../../../src/lib/time/instant.ts'
import { openTestInstance, type TestInstance } from '../../support/instance/instance.ts'
import { needs } from '../../support/needs.ts'
import { type Misbehaviour, standIn, standInKey } from '../../support/publishers/stand-in.ts'

const now = parseInstant('2026-08-20T12:00:00Z')!
const publishers = await standIn()
afterAll(() => publishers.stop())
afterEach(() => {
  publishers.misbehaviour = undefined
})

/** How far back the copies of some publishers read, so that there is enough to miss some of. */
const sinceOf: Readonly<Record<string, string>> = {
  world_bank: '2025-01-01',
  cftc: '2025-06-01',
  smard: '2026-08-01',
  elexon: '2026-08-01',
  aemo: '2026-08-01',
  eia_930: '2026-08-01',
  energy_charts: '2026-08-01',
  entsoe: '2026-08-01',
}
const sinceDefault = '2026-01-01'
const names: readonly string[] = feedNames
const licensed = [
  'eex_auctions',
  'baker_hughes',
  'lbma',
  'smard',
  'elexon',
  'aemo',
  'entsoe',
  'gie',
  'energy_charts',
]

/** The faults, and the publishers whose format cannot express them. */
const misbehaviours: [Misbehaviour, without: string[]][] = [
  ['maintenance_page', []],
  ['empty_body', []],
  ['quarter_body', []],
  ['no_rows', []],
  ['ends_earlier', []],
  ['all_zero', []],
  ['in_the_future', []],
  ['elsewhere', []],
  // A table of two weeks cannot lack half of its rows.
  // Positions that this form leaves out repeat the one before.
  ['half_of_it', ['eia_wngsr', 'entsoe']],
  // Rows that are objects of one name each, as the gas report's and the archives', have no columns.
  ['another_column', ['eia_wngsr', 'eia_bulk']],
]
/** Publishers that send a unit with their values. */
const withUnits = [
  'eia',
  'eia_bulk',
  'eia_wngsr',
  'ecb',
  'world_bank',
  'alberta',
  'ec_oil_bulletin',
  'uk_road_fuel',
  'eex_auctions',
  'eia_930',
  'entsoe',
  'energy_charts',
]

function copyWith(name: string): TestInstance {
  const flags: Record<string, string> = {
    'egress.allow': '127.0.0.0/8',
    [`feeds.${name}.base_url`]: publishers.url,
    [`feeds.${name}.since`]: sinceOf[name] ?? sinceDefault,
  }
  if (name === 'eia') {
    flags['feeds.eia.key'] = standInKey
    flags['feeds.eia.codes'] = 'WTI_USD,NATURAL_GAS_USD,CUSHING_STORAGE'
  }
  if (['eia_930', 'entsoe', 'gie'].includes(name)) flags[`feeds.${name}.key`] = standInKey
  if (['entsoe', 'energy_charts'].includes(name))
    flags[`feeds.${name}.codes`] = 'POWER_DA_FR_EUR,POWER_DA_NL_EUR'
  if (name === 'aemo') flags['feeds.aemo.codes'] = 'POWER_AU_NSW1_AUD'
  if (name === 'gie') flags['feeds.gie.codes'] = 'EU_GAS_STORAGE'
  if (name === 'smard') flags['feeds.smard.codes'] = 'POWER_DA_DE_LU_EUR,LOAD_DE_LU_MW'
  if (name === 'eia_bulk') flags['feeds.eia_bulk.codes'] = 'WTI_USD,BRENT_CRUDE_USD'
  if (licensed.includes(name)) flags[`feeds.${name}.license`] = 'accept'
  return openTestInstance(flags, now)
}

const tables = [
  'observations',
  'observation_revisions',
  'inventory_records',
  'opec_productions',
  'cot_reports',
  'rig_counts',
]

/** All that is stored of values, to compare one state with another. */
const stored = ({ services }: TestInstance): string =>
  tables.map(table => JSON.stringify(services.db.query(`SELECT * FROM ${table}`).all())).join('\n')

needs('../shared/data').describe('publishers that misbehave', () => {
  const copies = new Map<string, { copy: TestInstance; before: string }>()
  beforeAll(async () => {
    const runs = names.map(async name => {
      const copy = copyWith(name)
      const first = await copy.services.feeds.run(name)
      expect(first?.result, name).toBe('new')
      copies.set(name, { copy, before: stored(copy) })
    })
    await Promise.all(runs)
  }, 60_000)

  /** Each publisher is paced for itself: together they take as long as the slowest. */
  const heldBy = async (kind: Misbehaviour, names: readonly string[]) => {
    publishers.misbehaviour = kind
    const outcomes = names.map(async name => {
      const { copy, before } = copies.get(name)!
      copy.clock.advance(minuteMs)
      const lineCount = copy.log.length
      const run = await copy.services.feeds.run(name, { since: sinceOf[name] ?? sinceDefault })
      const lines = copy.log.slice(lineCount).join('\n')
      return {
        name,
        isHeld: /^(held|failed)$/.test(run?.result ?? ''),
        hasProblem: (run?.problem ?? '') !== '',
        counts: [run?.inserted, run?.revised],
        isLogged: /feed_(held|failed)/.test(lines),
        state: copy.services.feeds.view(name)?.state,
        isAsBefore: stored(copy) === before,
      }
    })
    expect(await Promise.all(outcomes)).toEqual(
      names.map(name => ({
        name,
        isHeld: true,
        hasProblem: true,
        counts: [0, 0],
        isLogged: true,
        state: 'failing',
        isAsBefore: true,
      })),
    )
  }

  for (const [kind, without] of misbehaviours) {
    test(`${kind}: no answer is accepted, each fault is reported, and stored values do not change`, async () => {
      const others = names.filter(name => !without.includes(name))
      await heldBy(kind, others)
    }, 60_000)
  }

  test('a feed read in another unit is flagged as a whole and changes no stored value', async () => {
    await heldBy('another_unit', withUnits)
  }, 60_000)
})
